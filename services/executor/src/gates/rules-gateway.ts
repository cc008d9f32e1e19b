// Moderation by rules: literals and linear-time patterns, in this process. One pattern made of all rules looks first, so a clean
// text costs one pass however many rules there are.

import {
  FINDINGS_MAX,
  STREAM_PATH,
  textsOf,
  type Finding,
  type ModerationGateway,
  type Stretch,
  type StretchVerdict,
} from "./moderation.ts";
import { operatorPattern, type ModerationRule, type RuleSet } from "./rule-set.ts";

/** Makes the gateway of a set of rules. */
export function rulesGateway({ rules, windowChars }: RuleSet): ModerationGateway {
  const any = operatorPattern(rules.map(({ source }) => source).join("|"));
  const longest = Math.max(...rules.map(({ literalLength = 1 }) => literalLength));
  const hasPatterns = rules.some(({ literalLength }) => literalLength === undefined);
  // A literal is found whole before any of it is shown; of a pattern as much as the window is long.
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

interface Look {
  readonly any: ModerationRule["pattern"];
  readonly rules: readonly ModerationRule[];
  readonly holdBack: number;
  readonly windowChars: number;
}

function look({ text, seen, isCut, isLast }: Stretch, with_: Look): StretchVerdict {
  const { any, rules, holdBack, windowChars } = with_;
  const bound = isLast ? text.length : Math.max(seen, text.length - holdBack);
  // What was cut off before the text is not its beginning: `^` must not match there.
  for (let from = isCut ? 1 : 0; ;) {
    const match = from > text.length ? undefined : any.find(text, from);
    if (match === undefined) return { ok: true, clear: bound, findings: [] };
    const { start, end } = match;
    if (end <= seen) {
      from = Math.max(end, start + 1);
      continue;
    }
    // A match that touches the end may be another one once more is known (`\bfoo\b`, then "d"); until then nothing of it is shown.
    const isOpen = end === text.length && !isLast && end - start < windowChars;
    const by = rules.filter(({ pattern }) => pattern.test(text.slice(start, end)));
    const isLiteral = by.some(({ literalLength }) => literalLength !== undefined);
    if (isOpen && !isLiteral)
      return { ok: true, clear: Math.max(seen, Math.min(bound, start)), findings: [] };
    const findings = (by.length > 0 ? by : rules.filter(({ pattern }) => pattern.test(text))).map(
      ({ id: rule, category }) => ({ rule, category, path: STREAM_PATH }),
    );
    return { ok: true, clear: seen, findings: findings.slice(0, FINDINGS_MAX) };
  }
}
