// Puts a run into quarantine if its log is damaged, or if the engine fails on its inputs. No scheduler plans, claims or sweeps such a run
// until a user rechecks it. Reads still work.
//
// The mark has a transaction of its own, and no tick waits for it. The scheduler that found the fault treats the run as quarantined at
// once. Race: another scheduler does not know the mark yet. Its compare-and-swap fails. If the mark is not written, the next load of the
// run requests it again.

import { EngineError } from "@pawl/core/fault/engine-error";
import type { RunId } from "@pawl/core/name/ids";
import type { QuarantineCause, Recovery } from "@pawl/platform/store/recovery/recovery";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import type { Logger } from "@pawl/platform/telemetry/log";
import { isCommand } from "./command.ts";
import { type Input, refusal, type Reply, runOf, type StartInput } from "./input.ts";

/** How many characters of a cause are stored. */
const DETAIL_LENGTH = 500;

/** Marks a run. It settles when the mark is written or has failed, and never rejects. */
export type MarkRun = (runId: RunId, cause: QuarantineCause) => Promise<void>;

/** Marks runs in the store. One write for each run is under way at a time. */
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

/** Why a run with an event behind its last seq is in quarantine, and what the operator does about it. */
export const strayDetail = (straySeq: number): string =>
  `run_events has an event ${straySeq} behind the run's last_seq, which the engine did not write; delete that row`;

/** The error for a command about such a run. */
export const runQuarantined = (runId: RunId, { reason, detail }: QuarantineCause): EngineError =>
  new EngineError(
    "RUN_QUARANTINED",
    `Run ${runId} is in quarantine and does not advance: ${detail}. Repair the cause, then recheck the run (pawl run recheck ${runId}).`,
    { metadata: { run_id: runId, quarantine_reason: reason } },
  );

/** Whether `runQuarantined` made the error. */
export const isQuarantined = (error: unknown): boolean =>
  error instanceof EngineError && error.reason === "RUN_QUARANTINED";

/** The answer to an input about such a run. A caller or an executor with a result gets an error, and a sweep gets its end. */
export const quarantineReply = (input: Exclude<Input, StartInput>, cause: QuarantineCause): Reply =>
  isCommand(input) || input.kind === "outcome"
    ? () => input.answer.reject(runQuarantined(runOf(input), cause))
    : refusal(input);
