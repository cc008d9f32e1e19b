// The events of the memory store, with the unique keys of run_events: the primary key, the facts that happen once per attempt
// and the streamed facts by their place in the claim's stream.

import { type Fact, isStreamedType, type RunEvent } from "@pawl/core/log/event";
import type { RunId } from "@pawl/core/name/ids";
import type { LeaseKey } from "../leases/leases.ts";
import { UniqueViolation } from "../memory/staging.ts";

/** The types of the partial unique index run_events_once. */
const ONCE: ReadonlySet<string> = new Set([
  "node.completed",
  "node.failed",
  "node.retried",
  "node.skipped",
  "node.cancelled",
  "node.timed_out",
]);

/** Committed events. */
export class MemoryLog {
  readonly #events = new Map<RunId, RunEvent[]>();
  readonly #keys = new Map<RunId, Set<string>>();

  /** All events of a run in order of seq. */
  of(runId: RunId): readonly RunEvent[] {
    return this.#events.get(runId) ?? [];
  }

  hasKey(runId: RunId, key: string): boolean {
    return this.#keys.get(runId)?.has(key) ?? false;
  }

  add(runId: RunId, events: readonly RunEvent[], keys: Iterable<string>): void {
    const list = this.#events.get(runId) ?? [];
    // Facts may be handed over in any order; readers see them by seq. A whole sort is only for a gap filled later.
    const inOrder = events.toSorted((a, b) => a.seq - b.seq);
    const isBehind = (inOrder[0]?.seq ?? 0) < (list.at(-1)?.seq ?? 0);
    list.push(...inOrder);
    if (isBehind) list.sort((a, b) => a.seq - b.seq);
    this.#events.set(runId, list);
    const known = this.#keys.get(runId) ?? new Set();
    for (const key of keys) known.add(key);
    this.#keys.set(runId, known);
  }

  delete(runId: RunId): void {
    this.#events.delete(runId);
    this.#keys.delete(runId);
  }
}

interface Staged {
  readonly events: RunEvent[];
  readonly keys: Set<string>;
}

/** The log as one transaction sees it. */
export class StagedLog {
  readonly #log: MemoryLog;
  readonly #staged = new Map<RunId, Staged>();

  constructor(log: MemoryLog) {
    this.#log = log;
  }

  /** @throws UniqueViolation */
  append(event: RunEvent, ordinal: number): void {
    for (const [constraint, key] of uniqueKeys(event, ordinal)) {
      if (this.#has(event.runId, key)) throw new UniqueViolation(constraint, key);
      this.#of(event.runId).keys.add(key);
    }
    this.#of(event.runId).events.push(event);
  }

  /** Whether a streamed fact is there already. */
  hasStreamed(runId: RunId, epoch: number, type: string, ordinal: number): boolean {
    return this.#has(runId, streamedKey(epoch, type, ordinal));
  }

  /** One more than the largest index of the execution's deltas. */
  nextDelta({ runId, nodeId, iteration }: LeaseKey): number {
    const events = [...this.#log.of(runId), ...(this.#staged.get(runId)?.events ?? [])];
    const indexes = events.flatMap((event) =>
      event.type === "node.stream.delta" && event.nodeId === nodeId && event.iteration === iteration
        ? [event.payload.deltaIndex]
        : [],
    );
    return Math.max(-1, ...indexes) + 1;
  }

  /** Commits. */
  apply(): void {
    for (const [runId, { events, keys }] of this.#staged) this.#log.add(runId, events, keys);
  }

  #has(runId: RunId, key: string): boolean {
    return this.#log.hasKey(runId, key) || (this.#staged.get(runId)?.keys.has(key) ?? false);
  }

  #of(runId: RunId): Staged {
    const found = this.#staged.get(runId) ?? { events: [], keys: new Set() };
    this.#staged.set(runId, found);
    return found;
  }
}

const streamedKey = (epoch: number, type: string, ordinal: number): string =>
  `streamed/${epoch}/${type}/${ordinal}`;

function uniqueKeys(event: RunEvent, ordinal: number): readonly (readonly [string, string])[] {
  const { seq, type, nodeId, iteration, attempt, epoch } = event;
  const keys: (readonly [string, string])[] = [["run_events_pkey", `seq/${seq}`]];
  if (ONCE.has(type)) {
    keys.push(["run_events_once", `once/${nodeId}/${iteration}/${attempt}/${type}`]);
  }
  if (isStreamedType(type)) keys.push(["run_events_streamed", streamedKey(epoch, type, ordinal)]);
  return keys;
}

/** A fact as the log keeps it. */
export function eventOf(
  fact: Fact,
  { runId, seq, at }: Pick<RunEvent, "runId" | "seq" | "at">,
): RunEvent {
  const epoch = fact.type === "node.started" ? seq : fact.epoch;
  // A copy by way of JSON is what a jsonb column makes of it; the cast restores the pairing of type and payload.
  const payload: unknown = JSON.parse(JSON.stringify(fact.payload));
  return { ...fact, payload, runId, seq, epoch, at } as RunEvent;
}
