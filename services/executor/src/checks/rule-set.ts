// The moderation rules that an operator writes. The executor checks all of them before it starts, and reports every fault at once
// with its path.

import { compilePattern, type Pattern, patternFault } from "@pawl/core/data/pattern";
import type { DeepReadonly } from "@pawl/platform/config/env";
import { z } from "zod";

const RULES_MAX = 500;
const LITERAL_LENGTH_MAX = 1_000;
/** How many characters of a stream are held back for patterns. A match of a pattern has no fixed length. */
const WINDOW_CHARS = 256;

const ruleSchema = z
  .strictObject({
    id: z.string().regex(/^[A-Za-z0-9._-]{1,64}$/, "1-64 of letters, digits, dot, - and _"),
    category: z.string().min(1).max(64).default("unspecified"),
    literal: z.string().min(1).max(LITERAL_LENGTH_MAX).optional(),
    pattern: z.string().min(1).optional(),
    ignore_case: z.boolean().default(true),
  })
  .superRefine(({ literal, pattern }, context) => {
    if ((literal === undefined) === (pattern === undefined))
      context.addIssue({ code: "custom", message: "a rule has either a literal or a pattern" });
    const compiled = pattern === undefined ? undefined : compilePattern(pattern);
    if (compiled === undefined) return;
    const fault = (message: string): void =>
      context.addIssue({ code: "custom", path: ["pattern"], message });
    const unknown = patternFault(pattern ?? "");
    if (!compiled.ok) fault(compiled.message);
    else if (unknown !== undefined) fault(unknown);
    else if (compiled.pattern.test("")) fault("matches the empty text, and so every text");
  });

const ruleListSchema = z
  .array(ruleSchema)
  .max(RULES_MAX)
  .superRefine((rules, context) => {
    const seen = new Set<string>();
    for (const [index, { id }] of rules.entries()) {
      if (seen.has(id))
        context.addIssue({ code: "custom", path: [index, "id"], message: `${id} occurs twice` });
      seen.add(id);
    }
  });

/** A set of rules. Undefined if there are none. */
export const ruleSetSchema = z
  .strictObject({
    window_chars: z.int().min(16).max(16_384).default(WINDOW_CHARS),
    rules: ruleListSchema.default([]),
  })
  .transform(({ window_chars: windowChars, rules }) =>
    rules.length === 0 ? undefined : { windowChars, rules: rules.map(ruleOf) },
  );

export type RuleSet = DeepReadonly<NonNullable<z.output<typeof ruleSetSchema>>>;

/** `source` is the pattern with its own case sensitivity, ready to be joined with others. `literalLength` is the length of a match. */
function ruleOf(raw: z.output<typeof ruleSchema>) {
  const { id, category, literal, pattern = "", ignore_case: ignoreCase } = raw;
  const bare = literal === undefined ? pattern : escaped(literal);
  const source = `(?${ignoreCase ? "i" : ""}:${bare})`;
  return { id, category, source, pattern: operatorPattern(source), literalLength: literal?.length };
}

/** A pattern of the operator has no length limit. */
export function operatorPattern(source: string): Pattern {
  const compiled = compilePattern(source, { isTrusted: true });
  if (!compiled.ok) throw new RangeError(compiled.message);
  return compiled.pattern;
}

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
