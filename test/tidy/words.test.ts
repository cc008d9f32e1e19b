// Holds the clean folders (clean-words.ts) to plain English.
import { expect, test } from "vitest";
import { CHANGELOG, CLEAN, isClean, LONG_SENTENCES } from "./clean-words.ts";
import { isForeign, isTest, trackedSources } from "./sources.ts";
import { bannedWords, checklistIds, commentsOf, longSentences, textsOf } from "./words.ts";

const isRead = (path: string): boolean =>
  /\.(md|ts|tsx|mts|mjs|go|py|sql|yaml|proto|css)$/.test(path);
const isPlain = (path: string): boolean => isClean(path) || path === CHANGELOG;
const clean = trackedSources((path) => isRead(path) && !isForeign(path) && isPlain(path));
const documents = clean.filter(({ path }) => path.endsWith(".md"));
const sources = clean.filter(({ path }) => !path.endsWith(".md") && !isTest(path));

test("clean folders use no banned words", () => {
  expect(clean.flatMap(bannedWords)).toEqual([]);
});

test("sentences of clean documents have at most thirty words", () => {
  const strict = documents.filter(({ path }) => !LONG_SENTENCES.includes(path));
  expect(strict.flatMap(longSentences)).toEqual([]);
});

test("sentences of comments have at most thirty words", () => {
  expect(sources.flatMap(longSentences)).toEqual([]);
});

test("comments of clean sources name no checklist ids", () => {
  expect(sources.flatMap(checklistIds)).toEqual([]);
});

test("every entry of the list of clean folders exists", () => {
  const found = CLEAN.filter((start) =>
    clean.some(({ path }) => path === start || path.startsWith(start)),
  );
  expect(found).toEqual(CLEAN);
});

test("banned words, ids and long sentences are noticed", () => {
  const source = { path: "x.ts", text: '// Nobody\n// reads (S1.5).\nconst url = "http://x";\n' };
  expect(commentsOf(source)).toEqual([{ text: "Nobody reads (S1.5).", line: 1 }]);
  expect(bannedWords(source)).toHaveLength(1);
  expect(checklistIds(source)).toHaveLength(1);
  expect(bannedWords({ path: "x.ts", text: 'fail("nobody answered in time");' })).toHaveLength(1);
  expect(bannedWords({ path: "x.tsx", text: "<p>Nobody is here</p>" })).toHaveLength(1);
  expect(bannedWords({ path: "x.yaml", text: "note: nobody answered" })).toHaveLength(1);
  expect(textsOf({ path: "x.test.ts", text: 'fail("nobody answered in time");' })).toEqual([]);
  const python = { path: "x.py", text: '"""Nobody\nreads."""\nurl = "#x"  # Reads.\n' };
  expect(commentsOf(python).map(({ text }) => text)).toEqual(["Nobody reads.", "Reads."]);
  const go = {
    path: "x.go",
    text: `// ${"word ".repeat(31)}end.\n//\n//   ${"a ─▶ b ".repeat(40)}\n`,
  };
  expect(longSentences(go)).toHaveLength(1);
  const page = (text: string) => ({ path: "x.md", text });
  expect(bannedWords(page("It `goes on` here.\n\n```\nnobody\n```\n"))).toEqual([]);
  expect(bannedWords(page("The run\ngoes on.\n"))).toHaveLength(1);
  expect(longSentences(page(`${"word ".repeat(31)}end.`))).toHaveLength(1);
  expect(longSentences(page(`${"word ".repeat(20)}end. ${"Word ".repeat(20)}end.`))).toEqual([]);
});
