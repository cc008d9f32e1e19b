// The part of docs/contributing/style.md that a program can check: banned words, long sentences, and checklist ids in comments.
import { proseOf } from "./docs/markdown.ts";
import type { Source } from "./sources.ts";

/** Words that hide the actor or are old-fashioned. */
export const BANNED = [
  "whoever",
  "nobody",
  "somebody",
  "is told",
  "are told",
  "goes on",
  "what was said",
  "comes to nothing",
  "anew",
] as const;

const SENTENCE_WORDS_MAX = 30;
const BANNED_WORD = new RegExp(`\\b(${BANNED.join("|")})\\b`, "i");
/** Ids of the list of promised behaviours: S1.50, X8, F3. They belong into the titles of tests. */
const CHECKLIST_ID = /\b(S[0-4]\.\d+|X\d+|F\d+)\b/;

/** A stretch of words and where it begins. */
interface Stretch {
  readonly text: string;
  readonly line: number;
}

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();

/** The comments of a source file; neighbouring lines of `//` are one comment. */
export function commentsOf({ path, text }: Source): readonly Stretch[] {
  const pattern = path.endsWith(".sql") ? SQL_COMMENT : CODE_COMMENT;
  return [...text.matchAll(pattern)].flatMap(({ 0: found, index, groups }) => {
    if (groups?.["string"] !== undefined) return [];
    const words = found.replace(/^\s*(\/\/+|--+|\/\*+|\*+\/|\*)/gm, " ").replace(/\*\/$/, "");
    return [{ text: oneLine(words), line: text.slice(0, index).split("\n").length }];
  });
}

// Texts in quotes come first, so that an address in one is not taken for a comment.
const CODE_COMMENT =
  /(?<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)|\/\*[\s\S]*?\*\/|(?:\/\/[^\n]*(?:\n[ \t]*(?=\/\/))?)+/g;
const SQL_COMMENT = /(?:--[^\n]*(?:\n[ \t]*(?=--))?)+/g;

/** The stretches of a file that people read: the prose of a document, the comments of a source. */
function stretchesOf(source: Source): readonly Stretch[] {
  return source.path.endsWith(".md") ? proseOf(source.text) : commentsOf(source);
}

/** Banned words of a file. */
export function bannedWords(source: Source): readonly string[] {
  return stretchesOf(source).flatMap(({ text, line }) => {
    const [word] = BANNED_WORD.exec(text) ?? [];
    return word === undefined ? [] : [`${source.path}:${line}: "${word}": name who acts`];
  });
}

/** Sentences of a document that a reader has to read twice. */
export function longSentences(source: Source): readonly string[] {
  return proseOf(source.text).flatMap(({ text, line }) =>
    sentencesOf(text).flatMap((sentence) => {
      const words = sentence.split(/\s+/).filter((word) => /\w/.test(word)).length;
      if (words <= SENTENCE_WORDS_MAX) return [];
      const start = sentence.split(/\s+/).slice(0, 6).join(" ");
      return [`${source.path}:${line}: ${words} words, at most ${SENTENCE_WORDS_MAX}: ${start} …`];
    }),
  );
}

const sentencesOf = (text: string): readonly string[] =>
  // "e.g. this" and "1. that" do not end a sentence; a full stop before a capital, a code or the end does.
  text.split(/(?<=[.!?][)"*_]*)\s+(?=["(*_]*[A-Z`]|code\b)/);

/** Checklist ids in the comments of a source file. */
export function checklistIds(source: Source): readonly string[] {
  return commentsOf(source).flatMap(({ text, line }) => {
    const [id] = CHECKLIST_ID.exec(text) ?? [];
    return id === undefined ? [] : [`${source.path}:${line}: ${id} belongs into a test's title`];
  });
}
