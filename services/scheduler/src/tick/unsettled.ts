// Results that executors reported and that are not stored yet, for people who ask why a node does not get on.

import { EngineError } from "@pawl/core/fault/engine-error";
import type { RunId } from "@pawl/core/name/ids";
import { contended } from "./aside.ts";
import { type Claim, type Input, runOf } from "../inputs/input.ts";

export interface UnsettledResult {
  readonly claim: Claim;
  /** Why it is not stored. */
  readonly reason: string;
}

/** Those of a run among inputs that wait because of an error. */
export function unsettledResults(
  runId: RunId,
  inputs: Iterable<Input>,
  error: unknown,
): UnsettledResult[] {
  const reason = error instanceof EngineError ? error.message : contended(runId, error).message;
  return [...inputs].flatMap((input) =>
    input.kind === "outcome" && runOf(input) === runId ? [{ claim: input.claim, reason }] : [],
  );
}
