// What a run leaves to its thread. The next run of the thread begins with it.

import { joinObject } from "../data/split-array.ts";
import type { Taint } from "../policy/taint.ts";
import { isFinal } from "./event.ts";
import type { RunState } from "./state.ts";

/** `busy` while a run holds the thread; otherwise how the last one ended. */
export type ThreadStatus = "idle" | "busy" | "interrupted" | "error";

/** The memory of a run as a JSON object, with the labels of its values. */
export function memoryOf({ memory }: RunState): {
  readonly json: string;
  readonly taint: Readonly<Record<string, Taint>> | undefined;
} {
  const json = joinObject([...memory].map(([key, entry]) => [key, entry.json] as const));
  const labelled = [...memory].flatMap(([key, { taint }]) =>
    taint === undefined ? [] : [[key, taint] as const],
  );
  return { json, taint: labelled.length === 0 ? undefined : Object.fromEntries(labelled) };
}

/** What the next run begins with if this one leaves its thread as it is now. `output` is null before the run completed. */
export function leftBy(run: RunState) {
  const { json, taint = null } = memoryOf(run);
  return { memory: json, memoryTaint: taint, output: run.output ?? null, stateRunId: run.runId };
}

/** The status of a thread that no run holds any more. */
export function threadStatusAfter({ status, stop }: RunState): Exclude<ThreadStatus, "busy"> {
  if (status === "failed" || status === "timeout") return "error";
  return stop === "interrupt" ? "interrupted" : "idle";
}

/** Whether the run gives its thread up to another run: it may, and only people and signals can advance it. */
export const mayYield = ({
  thread,
  isThreadTaken,
  status,
  childCount,
  ending,
}: RunState): boolean =>
  thread?.yields === true &&
  isThreadTaken &&
  status === "waiting" &&
  childCount === 0 &&
  ending === undefined;

/** Whether the thread keeps what the run did. A rollback discards it, and a run that never took the thread has done nothing. */
export const leavesState = ({ status, stop, isThreadTaken }: RunState): boolean =>
  isFinal(status) && isThreadTaken && stop !== "rollback";
