// Slots of concurrency keys and rates, as a tick changes them. An execution holds a slot while it is queued or claimed. It holds a slot of
// a rate until one window after its start.
//
// Lock order: run rows, then the keys of concurrency in order, then the keys of rates in order. The rows of an execution change under the
// lock of its run. A scheduler holds the lock of a key while it counts and grants its slots, so two schedulers never grant the same one.
// The transaction that frees a slot also grants it to the next execution, so no free slot waits for a sweep.

import type { NodeId } from "@pawl/core/name/ids";
import { text } from "../../db/columns.ts";
import type { Typed } from "../../db/query.ts";
import type { NewJob } from "../../queue/queue.ts";
import { EXECUTION } from "../leases/leases.ts";

/** The most holders that an explanation names. */
export const HOLDERS_MAX = 5;
/** Explanations do not count beyond this. */
export const SLOTS_COUNTED_MAX = 1_000;

/** An execution, or a run if the node id is empty. */
export const HOLDER = { ...EXECUTION, nodeId: text<NodeId | "">() };
export type SlotHolder = Typed<typeof HOLDER>;

export interface KeyLimit {
  readonly key: string;
  readonly limit: number;
}

export interface KeyRate extends KeyLimit {
  readonly perMs: number;
}

/** An execution that first needs a slot, then a slot of a rate. After that it is queued. */
export interface SlotRequest extends Omit<NewJob, "delayMs" | "isGranted"> {
  readonly share: string;
  readonly slot?: KeyLimit;
  readonly rate?: KeyRate;
}

/** An execution that releases the slots it holds or waits for. */
export interface SlotRelease extends SlotHolder {
  readonly slotKey?: string;
  readonly rateKey?: string;
}

/** An execution that has started. Its slot of a rate becomes free one window from now. */
export interface SlotStart extends SlotHolder {
  readonly rate: KeyRate;
}

export interface SlotChange {
  readonly released: readonly SlotRelease[];
  readonly started: readonly SlotStart[];
  readonly requested: readonly SlotRequest[];
  /** Whether to grant the slots of rates that have become free, too. */
  readonly isDue: boolean;
}

export interface SlotsMoved {
  /** Executions that have all their slots now, in order. The caller queues them. */
  readonly granted: readonly NewJob[];
  /** When the next slot of a rate becomes free that an execution waits for, if this call found one. */
  readonly wakeInMs?: number;
}

/** Keys and their limits, each once, in lock order. 0 keeps a limit. */
export function lockOrder(limits: readonly KeyLimit[]): KeyLimit[] {
  const byKey = new Map<string, number>();
  for (const { key, limit } of limits) byKey.set(key, limit > 0 ? limit : (byKey.get(key) ?? 0));
  return [...byKey]
    .map(([key, limit]) => ({ key, limit }))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1));
}
