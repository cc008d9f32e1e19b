// The condition that may end a loop. The executor that ran the iteration evaluates it, because the scheduler does not read users' data.

import { compileCondition, type Condition } from "@pawl/core/data/expression";
import type { Scope } from "@pawl/core/data/scope";
import { failed, type WireResult } from "./outcome.ts";

/** A compiled condition, or the message about its fault. */
export type Until = Condition | string;

/** Compiles the condition of a loop. */
export function compileUntil(text: string): Until {
  const compiled = compileCondition(text, "iteration");
  return compiled.ok ? compiled.condition : compiled.message;
}

/** The result of an iteration, marked if it is the last one. */
export function judged(until: Until | undefined, scope: Scope, result: WireResult): WireResult {
  if (until === undefined || result.case !== "completed") return result;
  // The schema compiled it before; only a definition saved by an older release gets here.
  if (typeof until === "string") return failed("config_invalid", until, { permanent: true });
  const output: unknown = JSON.parse(Buffer.from(result.value.outputJson ?? []).toString());
  const verdict = until.evaluate({ ...scope, output });
  if (!verdict.ok) return failed(verdict.reason, `until: ${verdict.message}`, { permanent: true });
  return { case: "completed", value: { ...result.value, stop: verdict.value } };
}
