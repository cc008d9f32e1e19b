// Waits for signals in memory.

import type { StagedRows } from "../memory/staging.ts";
import type { Tables } from "../memory/store.ts";
import type { DueWait, NewWait, WaitKey } from "./signals.ts";

export interface WaitRow extends WaitKey {
  readonly name: string;
  readonly deadlineAt: number | null;
}

/** No id contains a line break. */
const waitKey = ({ runId, nodeId, iteration }: WaitKey): string =>
  `${runId}\n${nodeId}\n${iteration}`;

export function openWait({ waits, now }: StagedRows, { timeoutMs, ...wait }: NewWait): void {
  const deadlineAt = timeoutMs === null ? null : now + timeoutMs;
  waits.insert(waitKey(wait), { ...wait, deadlineAt }, "signal_waits_pkey");
}

export const closeWait = ({ waits }: StagedRows, wait: WaitKey): void =>
  waits.delete(waitKey(wait));

/** Waits with a deadline, the soonest first. */
export const dueWaits = ({ waits, runs }: Tables, now: number): DueWait[] =>
  [...waits.values()]
    .filter(({ runId }) => runs.get(runId)?.quarantine === null)
    .flatMap(({ runId, nodeId, iteration, deadlineAt }) =>
      deadlineAt === null ? [] : [{ runId, nodeId, iteration, dueInMs: deadlineAt - now }],
    )
    .toSorted((a, b) => a.dueInMs - b.dueInMs);
