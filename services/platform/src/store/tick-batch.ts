// What a transaction decided about runs, gathered until it is sent: one statement for the runs that exist, one for new ones.

import { invariant } from "@pawl/core/fault/invariant";
import type { RunId } from "@pawl/core/name/ids";
import type { arrayLiteral } from "../db/array-literal.ts";
import type { Statement } from "../db/sql.ts";
import type { Append, NewRun, RunChange } from "./journal.ts";
import type { LeaseKey, NewLease } from "./leases/leases.ts";
import { createRuns } from "./statements/create-runs.ts";
import { moveRuns } from "./statements/move-runs.ts";
import { wakeReaders } from "./statements/wake-readers.ts";

/** A parameter that is a column of rows. */
export type Column = Parameters<typeof arrayLiteral>[0];
export type Parameter = string | number | Column;

/** A statement with its parameters. */
export interface Call {
  readonly statement: Statement;
  readonly parameters: readonly Parameter[];
}

/** What a statement about runs answers. */
export interface Answer {
  readonly seqs?: readonly number[];
}

/** The statement about runs that exist comes last, and it alone has seqs to tell. */
export function lastSeqs(
  order: readonly RunId[],
  answers: readonly (readonly Answer[])[],
): ReadonlyMap<RunId, number> {
  const seqs = answers.at(-1)?.[0]?.seqs ?? [];
  return new Map(order.map((runId, index) => [runId, seqs[index] ?? 0]));
}

export class TickBatch {
  readonly runs: NewRun[] = [];
  readonly changes: RunChange[] = [];
  readonly appends: Append[] = [];
  readonly opened: NewLease[] = [];
  readonly closed: LeaseKey[] = [];
  /** The epoch of pauses that all of it holds under; below zero where that does not matter. */
  pauseEpoch = -1;
  /** The hint to readers, if any. */
  wake = "";

  get isEmpty(): boolean {
    return this.isOnlyHint && this.wake === "";
  }

  /** Nothing but a hint: of partial output, which is written elsewhere. */
  get isOnlyHint(): boolean {
    return this.runs.length === 0 && !this.#isAboutOldRuns;
  }

  /** Runs that exist, in the order in which their rows are locked. */
  get order(): RunId[] {
    return this.#sorted.map((change) => change.runId);
  }

  /** What to send, in order; the hint goes with the last. */
  calls(): Call[] {
    if (this.isOnlyHint) return [{ statement: wakeReaders, parameters: [this.wake] }];
    const created = new Map(this.runs.map((run) => [run.runId, run.eventCount]));
    const isAboutOld = this.#isAboutOldRuns || created.size === 0;
    return [
      ...(created.size === 0 ? [] : [this.#createCall(created, isAboutOld ? "" : this.wake)]),
      ...(isAboutOld ? [this.#moveCall(created)] : []),
    ];
  }

  get #isAboutOldRuns(): boolean {
    return this.changes.length > 0 || this.closed.length > 0;
  }

  get #sorted(): RunChange[] {
    return this.changes.toSorted((a, b) => (a.runId < b.runId ? -1 : 1));
  }

  #moveCall(created: ReadonlyMap<RunId, number>): Call {
    const changes = this.#sorted;
    const places = new Map(changes.map((change, index) => [change.runId, index + 1]));
    const place = ({ runId }: { readonly runId: RunId }): number => {
      const found = places.get(runId);
      invariant(found !== undefined, `run ${runId} is written to without being moved`);
      return found;
    };
    const appends = this.appends.filter(({ runId }) => !created.has(runId));
    const opened = this.opened.filter(({ runId }) => !created.has(runId));
    return {
      statement: moveRuns,
      parameters: [
        changes.map((change) => change.runId),
        changes.map((change) => change.expectedVersion),
        changes.map((change) => change.eventCount),
        changes.map((change) => change.status),
        changes.map((change) => change.hasFailures),
        changes.map((change) => change.errorMessage),
        changes.map((change) => change.ended),
        appends.map(place),
        appends.map((item) => item.back),
        ...factColumns(appends),
        appends.map(({ fact }) => (fact.type === "node.started" ? -1 : fact.epoch)),
        ...jsonColumns(appends),
        ...leaseKeys(this.closed),
        opened.map(place),
        opened.map((lease) => lease.nodeId),
        opened.map((lease) => lease.iteration),
        opened.map((lease) => lease.back),
        opened.map((lease) => lease.attempt),
        opened.map((lease) => lease.executorId),
        this.wake,
        this.pauseEpoch,
        opened.map((lease) => lease.limitMs ?? null),
      ],
    };
  }

  #createCall(created: ReadonlyMap<RunId, number>, wake: string): Call {
    const seqOf = ({ runId, back }: { readonly runId: RunId; readonly back: number }): number =>
      (created.get(runId) ?? 0) - back;
    const appends = this.appends.filter(({ runId }) => created.has(runId));
    const opened = this.opened.filter(({ runId }) => created.has(runId));
    return {
      statement: createRuns,
      parameters: [
        ...runColumns(this.runs),
        appends.map((item) => item.runId),
        appends.map(seqOf),
        ...factColumns(appends),
        appends.map((item) => (item.fact.type === "node.started" ? seqOf(item) : item.fact.epoch)),
        ...jsonColumns(appends),
        ...leaseKeys(opened),
        opened.map(seqOf),
        opened.map((lease) => lease.attempt),
        opened.map((lease) => lease.executorId),
        wake,
        this.runs.map((run) => run.schedule?.scheduleId ?? null),
        this.runs.map((run) => run.schedule?.at ?? null),
        this.pauseEpoch,
        opened.map((lease) => lease.limitMs ?? null),
      ],
    };
  }
}

const runColumns = (runs: readonly NewRun[]): Column[] => [
  runs.map((run) => run.runId),
  runs.map((run) => run.tenantId),
  runs.map((run) => run.definitionId),
  runs.map((run) => run.workflowId),
  runs.map((run) => run.workflowVersion),
  runs.map((run) => run.kind),
  runs.map((run) => run.status),
  runs.map((run) => run.eventCount),
  runs.map((run) => run.hasFailures),
  runs.map((run) => run.priority),
  runs.map((run) => run.errorMessage),
  runs.map((run) => run.requestId),
  runs.map((run) => run.requestHash),
  runs.map((run) => run.traceparent),
  runs.map((run) => run.deadlineAt),
  runs.map((run) => run.ended),
  runs.map((run) => run.assumesNewest),
  runs.map((run) => run.parent?.runId ?? null),
  runs.map((run) => run.parent?.nodeId ?? null),
  runs.map((run) => run.parent?.iteration ?? null),
];

const factColumns = (appends: readonly Append[]): Column[] => [
  appends.map(({ fact }) => fact.type),
  appends.map(({ fact }) => fact.nodeId),
  appends.map(({ fact }) => fact.iteration),
  appends.map(({ fact }) => fact.attempt),
];

const jsonColumns = (appends: readonly Append[]): Column[] => [
  appends.map(({ fact }) => JSON.stringify(fact.payload)),
  appends.map(({ fact }) => fact.value ?? null),
];

export const leaseKeys = (keys: readonly LeaseKey[]): Column[] => [
  keys.map((key) => key.runId),
  keys.map((key) => key.nodeId),
  keys.map((key) => key.iteration),
];
