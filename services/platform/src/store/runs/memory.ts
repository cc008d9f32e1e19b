// Runs in memory, with the unique keys of their tables.

import { isStreamedType, type RunStatus } from "@pawl/core/log/event";
import type { DefinitionId, RunId } from "@pawl/core/name/ids";
import { StagedMap, UniqueViolation } from "../memory/staging.ts";
import { pairKey, type Tables } from "../memory/tables.ts";
import type { Quarantine } from "../recovery/recovery.ts";
import { RunMoved, WorkflowMoved } from "../tick/journal.ts";
import type { StoredDefinition } from "../workflows/memory.ts";
import type {
  InputKey,
  LoadCursor,
  LoadedRun,
  MovedDeadline,
  NewRun,
  RunChange,
  TestGraph,
} from "./runs.ts";

export interface RunRow extends Omit<NewRun, "eventCount" | "ended" | "status" | "assumesNewest"> {
  readonly status: RunStatus;
  readonly version: number;
  readonly lastSeq: number;
  readonly createdAt: number;
  readonly endedAt: number | null;
  readonly quarantine: Quarantine | null;
}

export interface KeptInput {
  readonly runId: RunId;
  readonly expiresAt: number;
}

/** Runs, their keys and the graphs of test runs, as one transaction sees them. */
export class StagedRuns {
  readonly #now: number;
  readonly #newest: Tables["workflows"];
  readonly #runs: StagedMap<RunId, RunRow>;
  readonly #requests: StagedMap<string, RunId>;
  readonly #inputKeys: StagedMap<string, KeptInput>;
  readonly #definitions: StagedMap<DefinitionId, StoredDefinition>;

  constructor(tables: Tables, now: number) {
    this.#now = now;
    this.#newest = tables.workflows;
    this.#runs = new StagedMap(tables.runs);
    this.#requests = new StagedMap(tables.requests);
    this.#inputKeys = new StagedMap(tables.inputKeys);
    this.#definitions = new StagedMap(tables.definitions);
  }

  get(runId: RunId): RunRow | undefined {
    return this.#runs.get(runId);
  }

  /** Takes the next seq of a run, without a new version. */
  takeSeq(run: RunRow): number {
    const lastSeq = run.lastSeq + 1;
    this.#runs.set(run.runId, { ...run, lastSeq });
    return lastSeq;
  }

  insert({ eventCount, ended, assumesNewest, ...columns }: NewRun): void {
    const { runId, tenantId, requestId, workflowId, definitionId } = columns;
    if (assumesNewest && this.#newest.get(pairKey(tenantId, workflowId ?? "")) !== definitionId)
      throw new WorkflowMoved("a workflow moved on");
    if (this.#runs.has(runId)) throw new UniqueViolation("runs_pkey", runId);
    if (requestId !== null) {
      const key = pairKey(tenantId, requestId);
      if (this.#requests.has(key)) throw new UniqueViolation("run_requests_pkey", key);
      this.#requests.set(key, runId);
    }
    const createdAt = this.#now;
    const endedAt = ended ? this.#now : null;
    const begun = { version: 1, lastSeq: eventCount, createdAt, endedAt, quarantine: null };
    this.#runs.set(runId, { ...columns, ...begun });
  }

  saveGraph(graph: TestGraph): void {
    const { definitionId } = graph;
    if (this.#definitions.has(definitionId))
      throw new UniqueViolation("definitions_pkey", definitionId);
    const unnamed = { workflowId: null, version: 0, requestId: null, requestHash: null };
    this.#definitions.set(definitionId, { ...graph, ...unnamed, createdAt: this.#now });
  }

  keepInputKey({ tenantId, inputKey, runId, ttlMs }: InputKey): void {
    const key = pairKey(tenantId, inputKey);
    const kept = this.#inputKeys.get(key);
    if (kept !== undefined && kept.expiresAt > this.#now)
      throw new UniqueViolation("input_keys_pkey", key);
    this.#inputKeys.set(key, { runId, expiresAt: this.#now + ttlMs });
  }

  /** Gives the new last seq. @throws RunMoved */
  move(change: RunChange): number {
    const run = this.#runs.get(change.runId);
    if (run?.version !== change.expectedVersion) throw new RunMoved("a run moved on");
    const lastSeq = run.lastSeq + change.eventCount;
    const version = run.version + 1;
    const { status, hasFailures, errorMessage } = change;
    const endedAt = change.ended ? this.#now : null;
    const moved = { version, lastSeq, status, hasFailures, errorMessage, endedAt };
    this.#runs.set(run.runId, { ...run, ...moved });
    return lastSeq;
  }

  moveDeadline({ runId, deadlineAt }: MovedDeadline): void {
    const run = this.#runs.get(runId);
    if (run !== undefined) this.#runs.set(runId, { ...run, deadlineAt });
  }

  /** Commits. */
  apply(): void {
    for (const part of [this.#runs, this.#requests, this.#inputKeys, this.#definitions])
      part.apply();
  }
}

/** Whether the deadline of a run counts: not while it waits, is paused or in quarantine. */
export const isUnderWay = ({ endedAt, quarantine, status }: RunRow): boolean =>
  endedAt === null && quarantine === null && status !== "waiting" && status !== "paused";

/** Runs under way that nodes of these started, by id. */
export function liveChildren({ runs }: Tables, parentIds: readonly RunId[]): RunId[] {
  const parents = new Set<string>(parentIds);
  const live = [...runs.values()].filter(
    (run) => run.endedAt === null && run.parent !== null && parents.has(run.parent.runId),
  );
  return live.map((run) => run.runId).toSorted();
}

/** A run with what its log holds after a cursor. */
export function loadedRun(tables: Tables, cursor: LoadCursor): LoadedRun[] {
  const run = tables.runs.get(cursor.runId);
  if (run === undefined) return [];
  const { runId, version, lastSeq, definitionId, workflowId, priority, traceparent } = run;
  const snapshot = (cursor.fromSnapshot === true ? tables.snapshots.get(runId) : null) ?? null;
  const afterSeq = snapshot?.seq ?? cursor.afterSeq;
  const all = tables.log.of(runId).filter((event) => event.seq <= lastSeq);
  return [
    {
      ...{ runId, version, lastSeq, definitionId, workflowId, priority, traceparent },
      hasEnded: run.endedAt !== null,
      quarantine: run.quarantine,
      snapshot,
      afterSeq,
      events: all.filter((event) => event.seq > afterSeq && !isStreamedType(event.type)),
      eventCount: all.filter((event) => event.seq >= Math.max(afterSeq, 1)).length,
    },
  ];
}

/** Deletes a finished test run with everything that belongs to it; false when it is not one. */
export function deleteTestRun(tables: Tables, runId: RunId): boolean {
  const run = tables.runs.get(runId);
  if (run?.kind !== "test" || run.endedAt === null) return false;
  tables.runs.delete(runId);
  if (run.requestId !== null) tables.requests.delete(pairKey(run.tenantId, run.requestId));
  tables.log.delete(runId);
  tables.snapshots.delete(runId);
  dropOf(tables.effects, runId);
  dropOf(tables.approvals, runId);
  dropOf(tables.deadLetters, runId);
  const graph = tables.definitions.get(run.definitionId);
  if (graph?.workflowId === null) tables.definitions.delete(run.definitionId);
  return true;
}

function dropOf<Key>(
  rows: Pick<Map<Key, { readonly runId: RunId }>, "delete" | typeof Symbol.iterator>,
  runId: RunId,
): void {
  for (const [key, row] of rows) if (row.runId === runId) rows.delete(key);
}
