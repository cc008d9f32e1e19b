// Patterns that users write, matched in time proportional to the text: RE2 syntax, so no lookaround and no back-references. The
// engine is pure JavaScript; JavaScript's own regular expressions backtrack and could keep a process busy for ever.

import { RE2JS } from "re2js";
import { LIMITS } from "./limits.ts";

export interface Pattern {
  /** Whether the pattern occurs anywhere in the text. */
  readonly test: (text: string) => boolean;
  /** Where the first match at or behind `from` lies. */
  readonly find: (text: string, from?: number) => PatternMatch | undefined;
  /** Instructions of its program: matching costs at most this times the text's length. */
  readonly size: number;
}

export interface PatternMatch {
  readonly start: number;
  readonly end: number;
}

export type CompiledPattern =
  | { readonly ok: true; readonly pattern: Pattern }
  | { readonly ok: false; readonly message: string };

/** An escaped letter or digit. */
const ESCAPE = /\\([A-Za-z0-9])|\\[^]/g;
/** Those that mean something to JavaScript or RE2, and those that compiling refuses by itself. */
const ESCAPES: ReadonlySet<string> = new Set("dDwWsSbBnrtfv0xucpPAzaQE1234567");

/**
 * What a pattern asks for that RE2 does not have and that compiling passes over: `\k<n>` would be the letters k<n>. Asked where
 * patterns are written; those that were saved before are compiled as they always were.
 */
export function patternFault(text: string): string | undefined {
  for (const [escape, letter] of text.matchAll(ESCAPE)) {
    if (letter === undefined || ESCAPES.has(letter)) continue;
    return letter === "k" || /\d/.test(letter)
      ? `${escape} is a back-reference, which RE2 patterns do not have; write the text out instead`
      : `${escape} is no escape of a pattern; write ${letter} for the letter itself`;
  }
  return undefined;
}

/** Compiles a pattern as JavaScript writes it, as far as it is RE2's. */
export function compilePattern(
  text: string,
  options: {
    readonly ignoreCase?: boolean;
    /** Written by who runs the system: no bounds on its size. */
    readonly isTrusted?: boolean;
  } = {},
): CompiledPattern {
  const { ignoreCase = false, isTrusted = false } = options;
  if (!isTrusted && text.length > LIMITS.patternLength)
    return { ok: false, message: `a pattern has at most ${LIMITS.patternLength} characters` };
  let compiled: RE2JS;
  try {
    const flags = ignoreCase ? RE2JS.CASE_INSENSITIVE : 0;
    compiled = RE2JS.compile(RE2JS.translateRegExp(text), flags);
  } catch (error) {
    const why = error instanceof Error ? error.message.slice(0, 120).toWellFormed() : "no pattern";
    return { ok: false, message: `${why}; patterns are RE2's, without lookaround` };
  }
  const size = compiled.programSize();
  if (!isTrusted && size > LIMITS.patternSize)
    return { ok: false, message: `its repetitions unfold to ${size} steps` };
  const find = (subject: string, from = 0): PatternMatch | undefined => {
    const matcher = compiled.matcher(subject);
    return matcher.find(from) ? { start: matcher.start(), end: matcher.end() } : undefined;
  };
  return { ok: true, pattern: { test: (subject) => compiled.test(subject), find, size } };
}
