// The part of docs/contributing/style.md that a program can check: banned words in comments, texts and documents, long sentences, and
// checklist ids in comments.
import { proseOf } from "./docs/markdown.ts";
import { isTest, type Source } from "./sources.ts";

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

/** A comment, or a text in quotes, with the marks around it. */
interface Piece extends Stretch {
  readonly isComment: boolean;
}

// Texts in quotes are found too, so that an address in one is not taken for a comment.
const QUOTED = String.raw`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'`;
const lines = (mark: string): string => String.raw`(?:${mark}[^\n]*(?:\n[ \t]*(?=${mark}))?)+`;
const CODE = new RegExp(
  `(?<text>${QUOTED}|${String.raw`\x60(?:[^\x60\\]|\\.)*\x60`})|${String.raw`\/\*[\s\S]*?\*\/`}|${lines("\\/\\/")}`,
  "g",
);
const PYTHON = new RegExp(`${String.raw`"""[\s\S]*?"""`}|(?<text>${QUOTED})|${lines("#")}`, "g");
const YAML = new RegExp(`(?<text>${QUOTED})|${lines("(?<![^ \\n])#")}`, "g");
const SQL = new RegExp(lines("--"), "g");
const MARKS = /^[ \t]*(?:\/\/+|--+|\/\*+|\*+\/|\*(?!\/)|#+|""")|\*\/$|"""$/gm;

function patternOf(path: string): RegExp {
  if (path.endsWith(".sql")) return SQL;
  if (path.endsWith(".py")) return PYTHON;
  return path.endsWith(".yaml") ? YAML : CODE;
}

function piecesOf({ path, text }: Source): readonly Piece[] {
  return [...text.matchAll(patternOf(path))].map(({ 0: found, index, groups }) => ({
    text: found,
    line: text.slice(0, index).split("\n").length,
    isComment: groups?.["text"] === undefined,
  }));
}

const rawComments = (source: Source): readonly Stretch[] =>
  piecesOf(source).flatMap(({ text, line, isComment }) =>
    isComment ? [{ text: text.replace(MARKS, ""), line }] : [],
  );

/** The comments of a source file; neighbouring lines of `//` are one comment. */
export const commentsOf = (source: Source): readonly Stretch[] =>
  rawComments(source).map(({ text, line }) => ({ text: oneLine(text), line }));

/** Texts of a source file that may reach a user: those with several words, and the texts of components. */
export function textsOf(source: Source): readonly Stretch[] {
  if (isTest(source.path)) return [];
  const quoted = piecesOf(source).filter(({ isComment }) => !isComment);
  return [...quoted, ...shownTexts(source)].filter(({ text }) => / \S+ /.test(text));
}

const shownTexts = ({ path, text }: Source): readonly Stretch[] =>
  path.endsWith(".tsx")
    ? [...text.matchAll(/>([^<>{}]+)</g)].map(({ 0: found, index }) => ({
        text: oneLine(found),
        line: text.slice(0, index).split("\n").length,
      }))
    : [];

/** The stretches of a file that people read: the prose of a document, the comments and texts of a source, all of a YAML file. */
function stretchesOf(source: Source): readonly Stretch[] {
  if (source.path.endsWith(".md")) return proseOf(source.text);
  if (source.path.endsWith(".yaml"))
    return source.text.split("\n").map((text, index) => ({ text, line: index + 1 }));
  return [...commentsOf(source), ...textsOf(source)];
}

/** Banned words of a file. */
export function bannedWords(source: Source): readonly string[] {
  return stretchesOf(source).flatMap(({ text, line }) => {
    const [word] = BANNED_WORD.exec(text) ?? [];
    return word === undefined ? [] : [`${source.path}:${line}: "${word}": name who acts`];
  });
}

/** Sentences of a document or of comments that a reader has to read twice. */
export function longSentences(source: Source): readonly string[] {
  const found = source.path.endsWith(".md") ? proseOf(source.text) : paragraphsOf(source);
  return found.flatMap(({ text, line }) =>
    sentencesOf(text).flatMap((sentence) => {
      const words = sentence.split(/\s+/).filter((word) => /\w/.test(word)).length;
      if (words <= SENTENCE_WORDS_MAX) return [];
      const start = sentence.split(/\s+/).slice(0, 6).join(" ");
      return [`${source.path}:${line}: ${words} words, at most ${SENTENCE_WORDS_MAX}: ${start} …`];
    }),
  );
}

/** The paragraphs of comments. State diagrams, tables, code and lists of errors are left out. */
const paragraphsOf = (source: Source): readonly Stretch[] =>
  rawComments(source).flatMap(({ text, line }) =>
    text
      .replace(
        /^.*(?:[─▶⇄→]|\S {3,}\S).*$|^ ?(?: {2,}|\t).*$|^ ?(?:oxlint|name:|part:).*$/gm,
        "\n\n",
      )
      .replace(/@throws[^\n]*/g, "\n\n")
      .replace(/^ ?(?:- |\d+\. )/gm, "\n\n")
      .split(/\n\s*\n/)
      .map((paragraph) => ({ text: oneLine(paragraph), line })),
  );

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
