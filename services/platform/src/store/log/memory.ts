// The events of the memory store, with the unique keys of run_events. These are the primary key, the facts that happen once per attempt,
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

/** The events of one run, and their unique keys. */
interface RunLog {
  readonly events: RunEvent[];
  readonly keys: Set<string>;
}

const logOf = (logs: Map<RunId, RunLog>, runId: RunId): RunLog => {
  const found = logs.get(runId) ?? { events: [], keys: new Set() };
  logs.set(runId, found);
  return found;
};

/** Committed events. */
export class MemoryLog {
  readonly #logs = new Map<RunId, RunLog>();

  /** All events of a run in order of seq. */
  of(runId: RunId): readonly RunEvent[] {
    return this.#logs.get(runId)?.events ?? [];
  }

  hasKey(runId: RunId, key: string): boolean {
    return this.#logs.get(runId)?.keys.has(key) ?? false;
  }

  add(runId: RunId, added: RunLog): void {
    const { events, keys } = logOf(this.#logs, runId);
    // Facts may arrive in any order, and readers see them by seq. Only a gap that is filled later needs a whole sort.
    const inOrder = added.events.toSorted((a, b) => a.seq - b.seq);
    const isBehind = (inOrder[0]?.seq ?? 0) < (events.at(-1)?.seq ?? 0);
    events.push(...inOrder);
    if (isBehind) events.sort((a, b) => a.seq - b.seq);
    for (const key of added.keys) keys.add(key);
  }

  delete(runId: RunId): void {
    this.#logs.delete(runId);
  }
}

/** The log that one transaction sees. */
export class StagedLog {
  readonly #log: MemoryLog;
  readonly #staged = new Map<RunId, RunLog>();

  constructor(log: MemoryLog) {
    this.#log = log;
  }

  /** @throws UniqueViolation */
  append(event: RunEvent, ordinal: number): void {
    const { events, keys } = logOf(this.#staged, event.runId);
    for (const [constraint, key] of uniqueKeys(event, ordinal)) {
      if (this.#has(event.runId, key)) throw new UniqueViolation(constraint, key);
      keys.add(key);
    }
    events.push(event);
  }

  /** The events of a run that this transaction sees. */
  of(runId: RunId): readonly RunEvent[] {
    return [...this.#log.of(runId), ...(this.#staged.get(runId)?.events ?? [])];
  }

  /** Whether the log already has a streamed fact. */
  hasStreamed(runId: RunId, epoch: number, type: string, ordinal: number): boolean {
    return this.#has(runId, streamedKey(epoch, type, ordinal));
  }

  /** One more than the largest index of the execution's deltas. */
  nextDelta({ runId, nodeId, iteration }: LeaseKey): number {
    const indexes = this.of(runId).flatMap((event) =>
      event.type === "node.stream.delta" && event.nodeId === nodeId && event.iteration === iteration
        ? [event.payload.deltaIndex]
        : [],
    );
    return Math.max(-1, ...indexes) + 1;
  }

  /** Commits. */
  apply(): void {
    for (const [runId, staged] of this.#staged) this.#log.add(runId, staged);
  }

  #has(runId: RunId, key: string): boolean {
    return this.#log.hasKey(runId, key) || (this.#staged.get(runId)?.keys.has(key) ?? false);
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

/** The event that the log stores for a fact. */
export function eventOf(
  fact: Fact,
  { runId, seq, at }: Pick<RunEvent, "runId" | "seq" | "at">,
): RunEvent {
  const epoch = fact.type === "node.started" ? seq : fact.epoch;
  // A jsonb column makes the same copy. The cast restores the pairing of type and payload.
  const payload: unknown = JSON.parse(JSON.stringify(fact.payload));
  return { ...fact, payload, runId, seq, epoch, at } as RunEvent;
}
