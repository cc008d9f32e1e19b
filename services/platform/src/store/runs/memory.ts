// Runs in memory, with the unique keys of their tables.

import { isStreamedType } from "@pawl/core/log/event";
import type { RunId } from "@pawl/core/name/ids";
import { pairKey, type StagedRows, UniqueViolation } from "../memory/staging.ts";
import { dropReferences } from "../values/memory.ts";
import type { Tables } from "../memory/store.ts";
import { RunMoved, WorkflowMoved } from "../tick/journal.ts";
import type {
  DueFilter,
  DueRun,
  InputKey,
  LoadCursor,
  LoadedRun,
  MovedDeadline,
  NewRun,
  RunChange,
  RunRecord,
  StoppedRun,
  TestGraph,
} from "./runs.ts";

export interface RunRow
  extends
    Omit<NewRun, "eventCount" | "ended" | "assumesNewest">,
    Pick<
      RunRecord,
      "lastSeq" | "createdAt" | "endedAt" | "quarantine" | "threadId" | "assistantId" | "stop"
    > {
  readonly version: number;
}

export interface KeptInput {
  readonly runId: RunId;
  readonly expiresAt: number;
}

/** Takes the next seq of a run, without a new version. */
export function takeSeq({ runs }: StagedRows, run: RunRow): number {
  const lastSeq = run.lastSeq + 1;
  runs.set(run.runId, { ...run, lastSeq });
  return lastSeq;
}

/** @throws WorkflowMoved, UniqueViolation */
export function insertRun(
  { runs, requests, workflows, now }: StagedRows,
  { eventCount, ended, assumesNewest, ...columns }: NewRun,
): void {
  const { runId, tenantId, requestId, workflowId, definitionId } = columns;
  if (assumesNewest && workflows.get(pairKey(tenantId, workflowId ?? "")) !== definitionId)
    throw new WorkflowMoved("a workflow moved on");
  const times = { createdAt: now, endedAt: ended ? now : null };
  const rest = { quarantine: null, threadId: null, assistantId: null, stop: null };
  const begun = { version: 1, lastSeq: eventCount, ...rest, ...times };
  runs.insert(runId, { ...columns, ...begun }, "runs_pkey");
  if (requestId !== null) requests.insert(pairKey(tenantId, requestId), runId, "run_requests_pkey");
}

export function saveGraph({ definitions, now: createdAt }: StagedRows, graph: TestGraph): void {
  const unnamed = { workflowId: null, version: 0, requestId: null, requestHash: null };
  definitions.insert(graph.definitionId, { ...graph, ...unnamed, createdAt }, "definitions_pkey");
}

export function keepInputKey(
  { inputKeys, runs, now }: StagedRows,
  { tenantId, inputKey, runId, ttlMs }: InputKey,
): void {
  const key = pairKey(tenantId, inputKey);
  const kept = inputKeys.get(key);
  if (kept !== undefined && kept.expiresAt > now && runs.get(kept.runId) !== undefined)
    throw new UniqueViolation("input_keys_pkey", key);
  inputKeys.set(key, { runId, expiresAt: now + ttlMs });
}

/** Returns the new last seq. @throws RunMoved */
export function moveRun({ runs, now }: StagedRows, change: RunChange): number {
  const run = runs.get(change.runId);
  if (run?.version !== change.expectedVersion) throw new RunMoved("a run moved on");
  const lastSeq = run.lastSeq + change.eventCount;
  const { status, hasFailures, errorMessage, failureClass } = change;
  const facts = { status, hasFailures, errorMessage, failureClass };
  const moved = { ...facts, endedAt: change.ended ? now : null };
  runs.set(run.runId, { ...run, ...moved, version: run.version + 1, lastSeq });
  return lastSeq;
}

export function markStop({ runs }: StagedRows, { runId, stop }: StoppedRun): void {
  const run = runs.get(runId);
  if (run !== undefined) runs.set(runId, { ...run, stop });
}

export function moveDeadline({ runs }: StagedRows, { runId, deadlineAt }: MovedDeadline): void {
  const run = runs.get(runId);
  if (run !== undefined) runs.set(runId, { ...run, deadlineAt });
}

/** Whether the deadline of a run counts. It does not while the run waits, is paused or in quarantine. */
export const isUnderWay = ({ endedAt, quarantine, status }: RunRow): boolean =>
  endedAt === null && quarantine === null && status !== "waiting" && status !== "paused";

/** Live runs that nodes of these runs started, by id. */
export function liveChildren({ runs }: Tables, parentIds: readonly RunId[]): RunId[] {
  const parents = new Set<string>(parentIds);
  const live = [...runs.values()].filter(
    (run) => run.endedAt === null && run.parent !== null && parents.has(run.parent.runId),
  );
  return live.map((run) => run.runId).toSorted();
}

/** A run with the events of its log after a cursor. */
export function loadedRun(tables: Tables, cursor: LoadCursor): LoadedRun[] {
  const run = tables.runs.get(cursor.runId);
  if (run === undefined) return [];
  const { runId, version, lastSeq, definitionId, workflowId, kind, priority, traceparent } = run;
  const snapshot = (cursor.fromSnapshot === true ? tables.snapshots.get(runId) : null) ?? null;
  const afterSeq = snapshot?.seq ?? cursor.afterSeq;
  const all = tables.log.of(runId).filter((event) => event.seq <= lastSeq);
  return [
    {
      ...{ runId, version, lastSeq, definitionId, workflowId, kind, priority, traceparent },
      isChild: run.parent !== null,
      hasEnded: run.endedAt !== null,
      quarantine: run.quarantine,
      snapshot,
      afterSeq,
      events: all.filter((event) => event.seq > afterSeq && !isStreamedType(event.type)),
      eventCount: all.filter((event) => event.seq >= Math.max(afterSeq, 1)).length,
    },
  ];
}

/** Deletes finished test runs and temporary runs, and the temporary runs below them. Returns those that it was asked for. */
export const deleteUnkept = (tables: Tables, runIds: readonly RunId[], now: number): RunId[] =>
  runIds.filter((runId) => {
    const run = tables.runs.get(runId);
    if (run === undefined || run.kind === "saved" || run.parent !== null) return false;
    const all = [run, ...runsBelow(tables, runId).filter(({ kind }) => kind === "temporary")];
    if (all.some(({ endedAt }) => endedAt === null)) return false;
    for (const each of all) deleteUnkeptRow(tables, each, now);
    return true;
  });

function deleteUnkeptRow(tables: Tables, run: RunRow, now: number): void {
  deleteRunRows(tables, run.runId, now);
  if (run.kind === "temporary")
    for (const [id, { runId, state }] of tables.deliveries) {
      if (runId !== run.runId || state === "pending") continue;
      tables.deliveries.delete(id);
      tables.webhookAttempts.delete(id);
    }
  const graph = tables.definitions.get(run.definitionId);
  if (graph?.workflowId === null) tables.definitions.delete(run.definitionId);
}

/** The runs that nodes of a run started, at any depth. */
function runsBelow(tables: Tables, runId: RunId): RunRow[] {
  const own = [...tables.runs.values()].filter(({ parent }) => parent?.runId === runId);
  return [...own, ...own.flatMap((child) => runsBelow(tables, child.runId))];
}

/** Temporary runs that may go, the first one first, and how long each still stays. */
export function dueTemporary(
  tables: Tables,
  { graceMs, withinMs, limit }: DueFilter,
  now: number,
): DueRun[] {
  const mayGo = (run: RunRow): boolean =>
    [run, ...runsBelow(tables, run.runId)].every((each) => isLeft(tables, each, now - graceMs));
  return [...tables.runs.values()]
    .filter(({ kind, parent }) => kind === "temporary" && parent === null)
    .filter(mayGo)
    .map(({ runId, endedAt }) => ({ runId, dueInMs: (endedAt ?? 0) - now + graceMs }))
    .filter(({ dueInMs }) => dueInMs < withinMs)
    .toSorted((a, b) => a.dueInMs - b.dueInMs || (a.runId < b.runId ? -1 : 1))
    .slice(0, limit);
}

/** Whether a run has ended, its webhooks were called before a time, and no dead letter of it is open. */
function isLeft(
  { deliveries, deadLetters }: Tables,
  { runId, endedAt }: RunRow,
  since: number,
): boolean {
  const isRecent = [...deliveries.values()].some(
    (each) => each.runId === runId && (each.state === "pending" || (each.endedAt ?? 0) > since),
  );
  const isOpen = [...deadLetters.values()].some(
    (each) => each.runId === runId && each.state === "open",
  );
  return endedAt !== null && !isRecent && !isOpen;
}

/** Deletes a finished run with the runs below it. A run stays while a run below it lives. Returns whether it is gone. */
export function deleteRunTree(tables: Tables, runId: RunId, now: number): boolean {
  if (tables.runs.get(runId)?.endedAt == null) return false;
  const own = [...tables.runs.values()].filter(({ parent }) => parent?.runId === runId);
  const isFree = own.map((child) => deleteRunTree(tables, child.runId, now)).every(Boolean);
  if (isFree) deleteRunRows(tables, runId, now);
  return isFree;
}

/** Deletes a run with everything that belongs to it alone. */
export function deleteRunRows(tables: Tables, runId: RunId, now: number): void {
  const run = tables.runs.get(runId);
  if (run === undefined) return;
  tables.runs.delete(runId);
  if (run.requestId !== null) tables.requests.delete(pairKey(run.tenantId, run.requestId));
  tables.log.delete(runId);
  tables.snapshots.delete(runId);
  tables.repairs.delete(runId);
  tables.runWebhooks.delete(runId);
  tables.threadRuns.delete(runId);
  dropReferences(tables.stored, runId, now);
  tables.metadata.delete(runId);
  dropOf(runId, tables.effects);
  dropOf(runId, tables.approvals);
  dropOf(runId, tables.deadLetters);
}

/** Deletes the rows of a run. */
export function dropOf<Key>(runId: RunId, rows: Map<Key, { readonly runId: RunId }>): void {
  for (const [key, row] of rows) if (row.runId === runId) rows.delete(key);
}
