// Patterns of users, matched in time proportional to the text. They have RE2 syntax, so no lookaround and no back-references. The engine is
// pure JavaScript. JavaScript's own regular expressions backtrack and could block a process.

import { RE2JS } from "re2js";
import { LIMITS } from "./limits.ts";

export interface Pattern {
  /** Whether the pattern occurs anywhere in the text. */
  readonly test: (text: string) => boolean;
  /** The position of the first match at or after `from`. */
  readonly find: (text: string, from?: number) => PatternMatch | undefined;
  /** The instructions of its program. A match costs at most this times the length of the text. */
  readonly size: number;
}

export interface PatternMatch {
  readonly start: number;
  readonly end: number;
}

type CompiledPattern =
  | { readonly ok: true; readonly pattern: Pattern }
  | { readonly ok: false; readonly message: string };

/** An escaped letter or digit. */
const ESCAPE = /\\([A-Za-z0-9])|\\[^]/g;
/** Escapes with a meaning in JavaScript or RE2, and escapes that the compiler refuses itself. */
const ESCAPES: ReadonlySet<string> = new Set("dDwWsSbBnrtfv0xucpPAzaQE1234567");

/**
 * An escape that RE2 does not have and that the compiler silently ignores: it would read `\k<n>` as the letters k<n>. Only authored
 * patterns are checked. Saved patterns still compile.
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

/** Compiles a pattern in JavaScript's notation. RE2 must support the notation. */
export function compilePattern(
  text: string,
  options: {
    readonly ignoreCase?: boolean;
    /** The operator wrote the pattern, so its size is not limited. */
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
