// The condition that may end a loop, judged by whoever ran the iteration, since the scheduler does not read what users said.

import { compileCondition, type Condition } from "@pawl/core/data/expression";
import type { Scope } from "@pawl/core/data/scope";
import { failed, type WireResult } from "./outcome.ts";

/** A compiled condition, or what is wrong with it. */
export type Until = Condition | string;

/** Compiles the condition of a loop. */
export function compileUntil(text: string): Until {
  const compiled = compileCondition(text, "iteration");
  return compiled.ok ? compiled.condition : compiled.message;
}

/** The result of an iteration, which says whether it is the last one. */
export function judged(until: Until | undefined, scope: Scope, result: WireResult): WireResult {
  if (until === undefined || result.case !== "completed") return result;
  // The schema compiled it before; this is for a definition saved by an older release.
  if (typeof until === "string") return failed("config_invalid", until, { permanent: true });
  const output: unknown = JSON.parse(Buffer.from(result.value.outputJson ?? []).toString());
  const verdict = until.evaluate({ ...scope, output });
  if (!verdict.ok) return failed(verdict.reason, `until: ${verdict.message}`, { permanent: true });
  return { case: "completed", value: { ...result.value, stop: verdict.value } };
}
