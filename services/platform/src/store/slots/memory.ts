// Slots of the memory store: the same rows and the same order of granting as on PostgreSQL. Transactions take turns here, so a copy that
// replaces the rows at the commit is enough.

import type { SlotQuestion, SlotWait } from "@pawl/core/explain/room";
import type { RunId } from "@pawl/core/name/ids";
import type { NewJob } from "../../queue/queue.ts";
import {
  HOLDERS_MAX,
  type SlotChange,
  type SlotHolder,
  type SlotRequest,
  SLOTS_COUNTED_MAX,
  type SlotsMoved,
} from "./slots.ts";

interface SlotRow extends SlotHolder {
  readonly slotId: number;
  readonly key: string;
  readonly request: SlotRequest;
  readonly state: "waiting" | "held" | "cooling";
  readonly freeAt?: number;
}

/** Committed slots. */
export class MemorySlots {
  rows: SlotRow[] = [];
  limits = new Map<string, number>();
  lastId = 0;
  /** Recovery freed slots, and no transaction has granted them yet. */
  isWoken = false;

  /** Whether an execution waits for a slot. */
  awaits(holder: SlotHolder): boolean {
    return this.rows.some((row) => isWaiting(row) && isOf(row, holder));
  }

  /** Deletes all slots and requests of this run. */
  abandon(runId: RunId): void {
    this.rows = this.rows.filter((row) => row.runId !== runId || row.state === "cooling");
    this.isWoken = true;
  }

  /** The time when the first cooling slot becomes free whose key has a waiting execution. */
  nextFreeAt(): number | undefined {
    if (this.isWoken) return 0;
    const wanted = new Set(this.rows.filter(isWaiting).map((row) => row.key));
    const times = this.rows.flatMap(({ key, freeAt }) =>
      freeAt !== undefined && wanted.has(key) ? [freeAt] : [],
    );
    return times.length === 0 ? undefined : Math.min(...times);
  }
}

/** The slots that one transaction sees. */
export class StagedSlots {
  readonly #slots: MemorySlots;
  readonly #now: number;
  /** The copy that this transaction changes. */
  readonly #next = new MemorySlots();
  #wasDue = false;

  constructor(slots: MemorySlots, now: number) {
    this.#slots = slots;
    this.#now = now;
    const { rows, limits, lastId } = slots;
    Object.assign(this.#next, { rows: [...rows], limits: new Map(limits), lastId });
  }

  move({ released, started, requested, isDue }: SlotChange): SlotsMoved {
    const keys = new Set<string>();
    this.#wasDue ||= isDue;
    for (const release of released) {
      this.#next.rows = this.#next.rows.filter(
        (row) => row.state === "cooling" || !isOf(row, release),
      );
      for (const key of [release.slotKey, release.rateKey]) if (key !== undefined) keys.add(key);
    }
    for (const { rate, ...holder } of started) {
      keys.add(rate.key);
      const freeAt = this.#now + rate.perMs;
      this.#next.rows = this.#next.rows.map((row) =>
        row.state === "held" && row.key === rate.key && isOf(row, holder)
          ? { ...row, state: "cooling", freeAt }
          : row,
      );
    }
    this.#next.rows = this.#next.rows.filter(
      ({ freeAt }) => freeAt === undefined || freeAt > this.#now,
    );
    for (const request of requested) keys.add(this.#ask(request));
    if (isDue) for (const row of this.#next.rows) if (row.state === "waiting") keys.add(row.key);
    return this.#give(keys);
  }

  /** Commits. */
  apply(): void {
    const isWoken = this.#slots.isWoken && !this.#wasDue;
    Object.assign(this.#slots, this.#next, { isWoken });
  }

  #ask(request: SlotRequest): string {
    const limit = request.slot ?? request.rate;
    if (limit === undefined) throw new TypeError("a request for nothing");
    const { runId, nodeId, iteration } = request;
    this.#next.limits.set(limit.key, limit.limit);
    const slotId = (this.#next.lastId += 1);
    const { key } = limit;
    this.#next.rows.push({ slotId, runId, nodeId, iteration, key, request, state: "waiting" });
    return key;
  }

  #give(keys: ReadonlySet<string>): SlotsMoved {
    const granted: NewJob[] = [];
    const next = new Set<string>();
    for (const row of this.#chosen(keys)) {
      this.#next.rows = this.#next.rows.map((each) =>
        each === row ? { ...row, state: "held" } : each,
      );
      const { slot, rate, ...job } = row.request;
      if (slot === undefined || rate === undefined) granted.push({ ...job, isGranted: true });
      else next.add(this.#ask({ ...job, rate }));
    }
    const further = next.size === 0 ? [] : this.#give(next).granted;
    return { granted: [...granted, ...further], ...this.#wake() };
  }

  #chosen(keys: ReadonlySet<string>): SlotRow[] {
    const chosen = [...keys].flatMap((key) => {
      const own = this.#next.rows.filter((row) => row.key === key);
      const free = (this.#next.limits.get(key) ?? 0) - own.filter((row) => !isWaiting(row)).length;
      return own.filter(isWaiting).toSorted(inOrder).slice(0, Math.max(0, free));
    });
    return chosen.toSorted(inOrder);
  }

  #wake(): Pick<SlotsMoved, "wakeInMs"> {
    const at = this.#next.nextFreeAt();
    return at === undefined ? {} : { wakeInMs: at - this.#now };
  }
}

/** The names of an execution, as plain texts. */
type Place = { readonly [Key in keyof SlotHolder]: SlotHolder[Key] | string };

const inOrder = (a: SlotRow, b: SlotRow): number =>
  a.request.priority - b.request.priority || a.slotId - b.slotId;
const isWaiting = ({ state }: Pick<SlotRow, "state">): boolean => state === "waiting";
const isOf = (row: SlotHolder, holder: Place): boolean =>
  row.runId === holder.runId && row.nodeId === holder.nodeId && row.iteration === holder.iteration;

/** The executions among these that wait for a slot, in the given order. */
export function readMemorySlotWaits(
  { rows, limits }: MemorySlots,
  now: number,
  runId: RunId,
  asked: readonly SlotQuestion[],
): SlotWait[] {
  return asked.flatMap(({ nodeId, iteration, kind, key }) => {
    const own = rows.filter((row) => row.key === key);
    const holder = { runId, nodeId, iteration };
    const waiter = own.find((row) => isWaiting(row) && isOf(row, holder));
    if (waiter === undefined) return [];
    const taken = own
      .filter((row) => !isWaiting(row) && (row.freeAt === undefined || row.freeAt > now))
      .toSorted(asTheyFree);
    const ahead = own.filter((row) => isWaiting(row) && inOrder(row, waiter) < 0);
    const aheadCount = Math.min(ahead.length, SLOTS_COUNTED_MAX);
    const limit = limits.get(key) ?? 0;
    const freeAt = taken[aheadCount % Math.max(1, limit)]?.freeAt;
    const takenCount = Math.min(taken.length, SLOTS_COUNTED_MAX);
    const holders = taken.slice(0, HOLDERS_MAX).map(holderOf);
    const wait = { nodeId, iteration, kind, limit, takenCount, holders, aheadCount };
    return [freeAt === undefined ? wait : { ...wait, freeAt }];
  });
}

const holderOf = ({ runId, nodeId, iteration }: SlotRow) => ({ runId, nodeId, iteration });

/** Cooling slots come first, in the order in which they become free. For the others the time is not known. */
const asTheyFree = (a: SlotRow, b: SlotRow): number =>
  (a.freeAt ?? Infinity) === (b.freeAt ?? Infinity)
    ? a.slotId - b.slotId
    : (a.freeAt ?? Infinity) - (b.freeAt ?? Infinity);
