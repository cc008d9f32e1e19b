// Whether one build of a handler may replace another one under the same type name. It may if it accepts every input and config of before
// and keeps every promise about its output. If schemas cannot be compared, the answer is yes: handlers check their own values.

import { pathText } from "../data/path.ts";
import { assignable } from "./assignable.ts";
import type { Schema } from "./schema.ts";

interface Schemas {
  readonly input: Schema | null;
  readonly output: Schema | null;
  readonly config: Schema | null;
}

type Succession =
  | { readonly follows: true }
  /** The values that the later build refuses or does not promise any more, for people. */
  | { readonly follows: false; readonly difference: string };

const DIFFERENCES_SHOWN = 3;

/** Whether `later` may replace `earlier`. A schema that was not published before promises nothing, so any schema may follow it. */
export function succession(earlier: Schemas, later: Schemas): Succession {
  const differences = [
    ...differencesOf("input", earlier.input, later.input),
    ...differencesOf("config", earlier.config, later.config),
    // Outputs are compared in the other direction: readers of the earlier build get the values of the later one.
    ...(earlier.output === null
      ? []
      : differencesOf("output", later.output ?? true, earlier.output)),
  ];
  if (differences.length === 0) return { follows: true };
  return { follows: false, difference: differences.slice(0, DIFFERENCES_SHOWN).join("; ") };
}

function differencesOf(what: string, source: Schema | null, target: Schema | null): string[] {
  if (source === null || target === null) return [];
  const answer = assignable(source, target, { anyIsUnknown: false });
  if (answer.verdict !== "no") return [];
  return answer.misfits.map(({ path, reason }) => `${pathText([what, ...path])} ${reason}`);
}
