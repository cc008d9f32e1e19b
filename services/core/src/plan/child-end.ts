// The end of a child run, in the node that waits for it.

import { type Clock, deadlineAfterChild } from "../log/clock.ts";
import type { Fact } from "../log/event.ts";
import { executionAt } from "../log/execution.ts";
import { usageOfRun } from "../log/ledger.ts";
import type { RunState } from "../log/state.ts";
import { isUndo } from "../log/undo-iteration.ts";
import { labelsOf } from "../policy/taint.ts";
import { isBudgeted } from "./funds.ts";
import { cancelFact, durationOf, placeAt, RUN_PLACE } from "./place.ts";
import { type Arrival, type Outcome, outcomeFacts } from "./result.ts";
import { type Stop, timedOut } from "./stop.ts";
import { judgedOutcome } from "./until.ts";

export interface ChildEnd {
  readonly nodeIndex: number;
  readonly iteration: number;
  /** The child at its end. */
  readonly child: Pick<
    RunState,
    "runId" | "status" | "output" | "message" | "ledger" | "outputTaint" | "taintLabels"
  > &
    Clock;
  readonly now: number;
}

/** The facts for a node whose child run has ended. `stale` if the node does not wait for that run. */
export function onChildEnd(state: RunState, end: ChildEnd): Arrival | Stop {
  const { nodeIndex, iteration, child, now } = end;
  const execution = executionAt(state, nodeIndex, iteration);
  if (execution?.status !== "waiting" || execution.childRunId !== child.runId)
    return { kind: "stale" };
  const durationMs = durationOf(execution, now);
  const why = child.message === undefined ? "" : `: ${child.message}`;
  const used = usageOfRun(child);
  const isUsed = isBudgeted(state, nodeIndex) || used.inputTokens + used.outputTokens > 0;
  const spent = isUsed || (used.costMicros ?? 0) > 0 ? { usage: used } : {};
  const outcome: Outcome =
    child.status === "completed"
      ? {
          kind: "completed",
          outputJson: child.output ?? "null",
          durationMs,
          ...spent,
          // The parent does not know the nodes of its child, so the labels begin here.
          labels: labelsOf(child.outputTaint),
          isFresh: true,
        }
      : {
          ...spent,
          kind: "failed",
          cause: "child_failed",
          message: `child run ${child.runId} ended with ${child.status}${why}`,
          // The scheduler does not restart a run that a person cancelled.
          permanent: child.status === "cancelled",
          durationMs,
          // The message may quote any value of the child.
          labels: [...child.taintLabels],
        };
  const isUndoing = state.ending !== undefined;
  // The run ends anyway, and the child has undone its nodes. If the child had completed, the node has completed too.
  if (isUndoing && !isUndo(iteration) && child.status !== "completed")
    return {
      kind: "accepted",
      facts: [
        cancelFact(
          placeAt(state, nodeIndex, iteration),
          outcome.kind === "failed" ? outcome.message : "",
        ),
      ],
    };
  const moved = deadlineAfterChild(state, child, now);
  const isTimed = state.status !== "paused" && !isUndoing;
  // Both had the same time left, and the scheduler does not time out a waiting parent.
  if (child.status === "timeout" && moved <= now && isTimed) return timedOut(state, moved, now);
  const payload = { from: "waiting", to: "running", deadlineAt: moved } as const;
  const facts: Fact[] =
    moved === state.deadlineAt ? [] : [{ ...RUN_PLACE, type: "run.status.changed", payload }];
  // No executor reports here, so the epoch is 0. With full jitter the scheduler waits the whole backoff.
  const judged = judgedOutcome(state, { nodeIndex, iteration }, outcome);
  const arrival = { nodeIndex, iteration, epoch: 0, outcome: judged, jitter: 1, now };
  return { kind: "accepted", facts: [...facts, ...outcomeFacts(state, arrival)] };
}
