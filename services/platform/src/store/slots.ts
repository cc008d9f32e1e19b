// Slots of concurrency keys and rates, as a tick moves them. A slot is taken for as long as its execution is queued for an
// executor or claimed by one; a slot of a rate until one window after the start.
//
// Lock order: run rows, then the keys of concurrency in order, then the keys of rates in order. The rows of an execution are
// changed under its run's lock; a key's lock is held while its slots are counted and given, so two schedulers never give the
// same one, and whoever frees a slot gives it on in the same transaction: no freed slot waits for anybody's attention.

import type { NodeId, RunId } from "@pawl/core/name/ids";
import type { JobKey, NewJob } from "../queue/queue.ts";

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
  /** When the next slot of a rate frees that somebody waits for, as far as this call saw. */
  readonly wakeInMs?: number;
}

/** What a granted execution is queued as. */
export interface GrantRow extends JobKey {
  readonly nodeType: string;
  readonly priority: number;
  readonly share: string;
}

/** Keys and their limits, each once, in the order in which they are locked; 0 leaves a limit as it is. */
export function lockOrder(limits: readonly KeyLimit[]): KeyLimit[] {
  const byKey = new Map<string, number>();
  for (const { key, limit } of limits) byKey.set(key, limit > 0 ? limit : (byKey.get(key) ?? 0));
  return [...byKey]
    .map(([key, limit]) => ({ key, limit }))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1));
}
