// The condition that may end a loop. The process that ran the iteration judges it: an executor, or the scheduler for glue bodies.

import { type Condition, conditionOrFault } from "../data/expression.ts";
import type { Scope } from "../data/scope.ts";
import type { Cause } from "../fault/cause.ts";

/** A compiled condition, or its fault. */
export type Until = Condition | string;

/** Compiles the condition of a loop. */
export const compileUntil = (text: string): Until => conditionOrFault(text, "iteration");

type UntilVerdict =
  | { readonly ok: true; readonly stop: boolean }
  | { readonly ok: false; readonly cause: Cause; readonly message: string };

/** Whether an iteration that gave `output` ends its loop. */
export function judgeUntil(until: Until, scope: Scope, output: unknown): UntilVerdict {
  // The parser compiled the condition when the definition was saved. Only a definition of an older release can have a fault.
  if (typeof until === "string") return { ok: false, cause: "config_invalid", message: until };
  const verdict = until.evaluate({ ...scope, output });
  if (!verdict.ok)
    return { ok: false, cause: verdict.reason, message: `until: ${verdict.message}` };
  return { ok: true, stop: verdict.value };
}
