// Slots of concurrency keys and rates, as a tick moves them. An execution holds a slot while it is queued for an executor or claimed
// by one. It holds a slot of a rate until one window after its start.
//
// Lock order: run rows, then the keys of concurrency in order, then the keys of rates in order. The rows of an execution change under
// the lock of its run. A key's lock is held while its slots are counted and given, so two schedulers never give the same one. The
// transaction that frees a slot also gives it on: no free slot waits for a sweep.

import type { NodeId, RunId } from "@pawl/core/name/ids";
import type { NewJob } from "../../queue/queue.ts";

/** Holders that an explanation names. */
export const HOLDERS_MAX = 5;
/** Explanations do not count beyond this. */
export const SLOTS_COUNTED_MAX = 1_000;

/** An execution, or with an empty node id a run. */
export interface SlotHolder {
  readonly runId: RunId;
  readonly nodeId: NodeId | "";
  readonly iteration: number;
}

export interface KeyLimit {
  readonly key: string;
  readonly limit: number;
}

export interface KeyRate extends KeyLimit {
  readonly perMs: number;
}

/** Wants a slot, then a slot of a rate, then to be queued. */
export interface SlotRequest extends Omit<NewJob, "delayMs" | "isGranted"> {
  readonly share: string;
  readonly slot?: KeyLimit;
  readonly rate?: KeyRate;
}

/** Leaves the slots it has or waits for. */
export interface SlotRelease extends SlotHolder {
  readonly slotKey?: string;
  readonly rateKey?: string;
}

/** Has been started: its slot of a rate is free one window from now. */
export interface SlotStart extends SlotHolder {
  readonly rate: KeyRate;
}

export interface SlotChange {
  readonly released: readonly SlotRelease[];
  readonly started: readonly SlotStart[];
  readonly requested: readonly SlotRequest[];
  /** Also looks at the keys of rates at which a slot has become free. */
  readonly isDue: boolean;
}

export interface SlotsMoved {
  /** What has all it needs now, in order; the caller queues it. */
  readonly granted: readonly NewJob[];
  /** When the next slot of a rate becomes free that an execution waits for, as far as this call saw. */
  readonly wakeInMs?: number;
}

/** Keys and their limits, each once, in the order in which they are locked; 0 leaves a limit as it is. */
export function lockOrder(limits: readonly KeyLimit[]): KeyLimit[] {
  const byKey = new Map<string, number>();
  for (const { key, limit } of limits) byKey.set(key, limit > 0 ? limit : (byKey.get(key) ?? 0));
  return [...byKey]
    .map(([key, limit]) => ({ key, limit }))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1));
}
