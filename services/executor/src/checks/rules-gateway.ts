// Moderation by rules in this process: literals and linear-time patterns. One pattern joins all rules and runs first, so a clean text costs
// one pass for any number of rules.

import type { Pattern, PatternMatch } from "@pawl/core/data/pattern";
import {
  FINDINGS_MAX,
  STREAM_PATH,
  textsOf,
  type Finding,
  type ModerationGateway,
  type Stretch,
  type StretchVerdict,
} from "./moderation.ts";
import { operatorPattern, type RuleSet } from "./rule-set.ts";

/** Makes the gateway for a set of rules. */
export function rulesGateway({ rules, windowChars }: RuleSet): ModerationGateway {
  const any = operatorPattern(rules.map(({ source }) => source).join("|"));
  const longest = Math.max(...rules.map(({ literalLength = 1 }) => literalLength));
  const hasPatterns = rules.some(({ literalLength }) => literalLength === undefined);
  // A literal is found before any character of it is shown. A pattern is found within the length of the window.
  const holdBack = Math.max(longest - 1, hasPatterns ? windowChars : 0);
  const found = (text: string, path: string): Finding[] =>
    rules.flatMap(({ id: rule, category, pattern }) =>
      pattern.test(text) ? [{ rule, category, path }] : [],
    );
  return {
    contextChars: Math.max(holdBack, 1),
    stepChars: 1,
    check: (roots) => {
      const findings: Finding[] = [];
      for (const [path, text] of textsOf(roots)) {
        if (findings.length < FINDINGS_MAX && any.test(text)) findings.push(...found(text, path));
      }
      return { ok: true, findings: findings.slice(0, FINDINGS_MAX) };
    },
    checkStretch: (stretch) => look(stretch, { any, rules, holdBack, windowChars }),
  };
}

function look(
  stretch: Stretch,
  {
    any,
    rules,
    holdBack,
    windowChars,
  }: RuleSet & { readonly any: Pattern; readonly holdBack: number },
): StretchVerdict {
  const { text, seen, isCut, isLast } = stretch;
  const bound = isLast ? text.length : Math.max(seen, text.length - holdBack);
  // The text before this stretch was cut off, so `^` must not match at its start.
  for (let from = isCut ? 1 : 0; ;) {
    const match = from > text.length ? undefined : any.find(text, from);
    if (match === undefined) return { ok: true, clear: bound, findings: [] };
    const { start, end } = match;
    if (end <= seen) {
      from = Math.max(end, start + 1);
      continue;
    }
    const by = rules.filter(({ pattern }) => isBroken(pattern, stretch, match));
    const findings = by.map(({ id: rule, category }) => ({ rule, category, path: STREAM_PATH }));
    if (findings.length > 0)
      return { ok: true, clear: seen, findings: findings.slice(0, FINDINGS_MAX) };
    // The next text decides whether this is a match. Until then the window holds it back.
    const isLong = end - start >= windowChars;
    const clear = isLong ? bound : Math.max(seen, Math.min(bound, start));
    return { ok: true, clear, findings: [] };
  }
}

/** One character of each kind that may follow a piece: a pattern can end at the end of the text, of a line or of a word. */
const PRINTABLE = Array.from({ length: 95 }, (_, code) => String.fromCharCode(32 + code));
const FOLLOWERS = ["a", " ", "\n", "\t", "é", ...PRINTABLE];

/** Whether `pattern` matches inside `match` for any next text. `$` and `\b` at the end of a piece prove nothing. */
function isBroken(pattern: Pattern, { text, isLast }: Stretch, match: PatternMatch): boolean {
  const own = pattern.find(text, match.start);
  if (own === undefined || (own.start > match.start && own.start >= match.end)) return false;
  if (isLast || own.end < text.length) return true;
  return FOLLOWERS.every((next) => {
    const again = pattern.find(text + next, own.start);
    return again !== undefined && again.start < text.length;
  });
}
