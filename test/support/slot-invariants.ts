// Invariants of slots at every moment: no key has more holders than its limit, only live executions hold a slot, and a run that has not
// begun has a job or a place in line that will begin it.
import { executionAt } from "@pawl/core/log/execution";
import { isFinal } from "@pawl/core/log/event";
import type { RunState } from "@pawl/core/log/state";

/** Executions, and with an empty node id runs, that wait for a slot or hold one. */
export const SLOTS = `
select run_id as "runId", node_id as "nodeId", iteration, 0::float8 as epoch, attempt, state
from pawl.slots
where state <> 'cooling' and ($1::uuid[] is null or run_id = any ($1))`;

/** Keys with more slots taken than their limit, and keys with a free slot although an execution waits. */
export const KEYS = `
select k.slot_key as key, k.slot_limit as limit, k.wake_at is not null as "isRate",
  count(*) filter (where s.state <> 'waiting' and (s.free_at is null or s.free_at > now()))::integer as taken,
  count(*) filter (where s.state = 'waiting')::integer as waiting
from pawl.slot_keys k
join pawl.slots s using (slot_key)
where $1::uuid[] is null or s.slot_key = s.slot_key
group by k.slot_key`;

export type SlotSeen = {
  readonly runId: string;
  readonly nodeId: string;
  readonly iteration: number;
  readonly epoch: number;
  readonly attempt: number;
  readonly state: "waiting" | "held";
};

export type KeySeen = {
  readonly key: string;
  readonly limit: number;
  readonly isRate: boolean;
  readonly taken: number;
  readonly waiting: number;
};

/** The faults of a key. A slot of a rate may have become free a moment ago. */
export function faultsOfKey({ key, limit, isRate, taken, waiting }: KeySeen): string[] {
  if (taken > limit) return [`${key}: ${taken} of ${limit} slots are taken`];
  if (isRate || waiting === 0 || taken === limit) return [];
  return [`${key}: ${waiting} wait although ${taken} of ${limit} slots are taken`];
}

/** Whether something will begin a run that waits for a slot; reports slots of those who are not under way. */
export function checkSlots(
  state: RunState,
  slots: readonly SlotSeen[],
  jobs: readonly { readonly nodeId: string }[],
  report: (seq: number, rule: string) => void,
): boolean {
  for (const { nodeId, iteration } of slots) {
    const index = state.graph.indexOf.get(nodeId as never);
    const status = index === undefined ? undefined : executionAt(state, index, iteration)?.status;
    const isUnderWay =
      nodeId === "" ? !isFinal(state.status) : status === "queued" || status === "running";
    if (!isUnderWay) report(state.lastSeq, `a slot of ${nodeId}, which is ${status}`);
  }
  if (state.isAdmitted || isFinal(state.status)) return false;
  const places = [...slots.filter((slot) => slot.state === "waiting"), ...jobs];
  return places.some(({ nodeId }) => nodeId === "");
}
