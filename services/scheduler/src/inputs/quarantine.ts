// A run whose log cannot be trusted, or whose inputs the engine fails on, is set aside: nothing of it is planned, claimed, swept or
// taken any more until somebody rechecks it. Reads go on.
//
// It is marked in a transaction of its own, which no tick waits for: whoever found the fault treats the run as set aside already,
// and whoever has not heard yet loses its compare-and-swap. A mark that is not written is asked for again by the next load.

import { EngineError } from "@pawl/core/fault/engine-error";
import { unreachable } from "@pawl/core/fault/invariant";
import type { RunId } from "@pawl/core/name/ids";
import type { QuarantineCause, Recovery } from "@pawl/platform/store/recovery/recovery";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import type { Logger } from "@pawl/platform/telemetry/log";
import { type Input, type Reply, runOf } from "./input.ts";

/** How much of a cause is kept. */
const DETAIL_LENGTH = 500;

/** Marks runs; settles when that is written or given up, and never rejects. Hardly anybody waits for it. */
export type MarkRun = (runId: RunId, cause: QuarantineCause) => Promise<void>;

/** Marks runs in the store, each once at a time. */
export function createMark(recovery: Recovery, log: Logger): MarkRun {
  const underWay = new Map<RunId, Promise<void>>();
  const mark = async (runId: RunId, cause: QuarantineCause): Promise<void> => {
    const { reason } = cause;
    const detail = cause.detail.replaceAll("\0", " ").slice(0, DETAIL_LENGTH);
    try {
      if (!(await recovery.quarantine(runId, { reason, detail }))) return;
      METRICS.runsQuarantined.add(1, { reason });
      log.error({ run_id: runId, reason, detail }, "a run was put into quarantine");
    } catch (error) {
      log.warn(
        { err: error, run_id: runId },
        "a quarantine was not written; it is asked for again",
      );
    } finally {
      underWay.delete(runId);
    }
  };
  return (runId, cause) => {
    const known = underWay.get(runId);
    if (known !== undefined) return known;
    const marked = mark(runId, cause);
    underWay.set(runId, marked);
    return marked;
  };
}

/** Why a run with an event behind its last seq is set aside, and what to do about it. */
export const strayDetail = (straySeq: number): string =>
  `run_events has an event ${straySeq} behind the run's last_seq, which the engine did not write; delete that row`;

/** What a command about such a run hears. */
export const runQuarantined = (runId: RunId, { reason, detail }: QuarantineCause): EngineError =>
  new EngineError(
    "RUN_QUARANTINED",
    `Run ${runId} is in quarantine and nothing of it moves: ${detail}. Put right what is wrong, then recheck it (pawl run recheck ${runId}).`,
    { metadata: { run_id: runId, quarantine_reason: reason } },
  );

/** Whether this is what `runQuarantined` says. */
export const isQuarantined = (error: unknown): boolean =>
  error instanceof EngineError && error.reason === "RUN_QUARANTINED";

/** The answer to an input about such a run: who waits for one is refused, a sweep is done with it. */
export function quarantineReply(
  input: Exclude<Input, { readonly kind: "start" }>,
  cause: QuarantineCause,
): Reply {
  switch (input.kind) {
    case "lost":
    case "streamed":
    case "begin_effect":
    case "commit_effect":
    case "extend":
      return () => input.answer.resolve("stale");
    case "due":
    case "deadline":
    case "resend":
    case "relink":
      return () => input.answer.resolve();
    case "outcome":
    case "cancel":
    case "decide":
    case "pause":
    case "resume":
      return () => input.answer.reject(runQuarantined(runOf(input), cause));
    default:
      return unreachable(input, "input");
  }
}
