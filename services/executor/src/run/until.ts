// The result of an iteration with the verdict of the condition that may end its loop.

import type { Scope } from "@pawl/core/data/scope";
import { judgeUntil, type Until } from "@pawl/core/glue/until";
import { failed, type WireResult } from "./outcome.ts";

/** The result of an iteration, marked if it is the last one. */
export function judged(until: Until | undefined, scope: Scope, result: WireResult): WireResult {
  if (until === undefined || result.case !== "completed") return result;
  const output: unknown = JSON.parse(Buffer.from(result.value.outputJson ?? []).toString());
  const verdict = judgeUntil(until, scope, output);
  if (!verdict.ok) return failed(verdict.cause, verdict.message, { permanent: true });
  return { case: "completed", value: { ...result.value, stop: verdict.stop } };
}
