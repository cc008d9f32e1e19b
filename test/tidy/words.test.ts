// Holds the clean folders (clean-words.ts) to plain English.
import { expect, test } from "vitest";
import { CLEAN, isClean, LONG_SENTENCES } from "./clean-words.ts";
import { isForeign, isTest, trackedSources } from "./sources.ts";
import { bannedWords, checklistIds, commentsOf, longSentences } from "./words.ts";

const isRead = (path: string): boolean => /\.(md|ts|tsx|mts|mjs|sql|proto|css)$/.test(path);
const clean = trackedSources((path) => isRead(path) && !isForeign(path) && isClean(path));
const documents = clean.filter(({ path }) => path.endsWith(".md"));
const sources = clean.filter(({ path }) => !path.endsWith(".md") && !isTest(path));

test("clean folders use no banned words", () => {
  expect(clean.flatMap(bannedWords)).toEqual([]);
});

test("sentences of clean documents have at most thirty words", () => {
  const strict = documents.filter(({ path }) => !LONG_SENTENCES.includes(path));
  expect(strict.flatMap(longSentences)).toEqual([]);
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
  const page = (text: string) => ({ path: "x.md", text });
  expect(bannedWords(page("It `goes on` here.\n\n```\nnobody\n```\n"))).toEqual([]);
  expect(bannedWords(page("The run\ngoes on.\n"))).toHaveLength(1);
  expect(longSentences(page(`${"word ".repeat(31)}end.`))).toHaveLength(1);
  expect(longSentences(page(`${"word ".repeat(20)}end. ${"Word ".repeat(20)}end.`))).toEqual([]);
});
