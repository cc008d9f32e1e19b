// Reads the text that a user typed into the search of runs, and finds the workflows and run ids that it may mean. It is pure.

import { isUuid } from "@pawl/core/name/ids";
import { list, orNull, text as column, uuid } from "../../db/columns.ts";
import type { Typed } from "../../db/query.ts";

/** The parts of a search. A part that the text cannot mean is null and finds nothing. */
export const SEARCH = {
  /** The beginning of a word of a workflow. Its id is one of them. */
  word: column(),
  /** If the text has several words: the longest, and all others. Each begins a word of the workflow. */
  longestWord: orNull(column()),
  otherWords: list(column()),
  /** The first and the last run id of a range. */
  runFrom: orNull(uuid()),
  runTo: orNull(uuid()),
  /** The last digits of a run id, as lists print them. */
  shortId: orNull(column()),
};
type RunSearch = Typed<typeof SEARCH>;

/** How many digits of a run id lists print: its last ones. */
const SHORT_ID_LENGTH = 8;
const RUN_ID_DIGITS = 32;

const wordsOf = (text: string): string[] =>
  text.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "");

/** The words by which people find a workflow, in lower case: its id, and every word of its id and title. */
export function workflowWords(workflowId: string, title: string): string[] {
  const id = workflowId.toLowerCase();
  return [...new Set([id, ...wordsOf(id), ...wordsOf(title.toLowerCase())])];
}

/** Reads a text that is not empty. */
export function readRunSearch(text: string): RunSearch {
  const wanted = text.trim().toLowerCase();
  const [longest = null, ...others] = wordsOf(wanted).toSorted((a, b) => b.length - a.length);
  return {
    word: wanted,
    longestWord: longest === wanted ? null : longest,
    otherWords: others,
    ...runsFrom(wanted),
    shortId: /^[0-9a-f]+$/.test(wanted) && wanted.length === SHORT_ID_LENGTH ? wanted : null,
  };
}

/** The range of run ids that begin with the text, with its hyphens or without. */
function runsFrom(wanted: string): Pick<RunSearch, "runFrom" | "runTo"> {
  const digits = wanted.replaceAll("-", "");
  const runFrom = asUuid(digits.padEnd(RUN_ID_DIGITS, "0"));
  const isPrefix = digits === wanted || runFrom.startsWith(wanted);
  if (digits === "" || !isPrefix || !isUuid(runFrom)) return { runFrom: null, runTo: null };
  return { runFrom, runTo: asUuid(digits.padEnd(RUN_ID_DIGITS, "f")) };
}

const asUuid = (digits: string): string =>
  digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.*)$/, "$1-$2-$3-$4-$5");
