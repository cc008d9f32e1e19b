// What a transaction decided about runs, gathered until it is sent: one statement for the runs that exist, one for new ones.

import { invariant } from "@pawl/core/fault/invariant";
import type { RunId } from "@pawl/core/name/ids";
import { flag, list, number, orNull, text, uuid } from "../../db/columns.ts";
import { columns, queriesBeside, type RowOf, type Send } from "../../db/query.ts";
import type { LeaseKey, NewLease } from "../leases/leases.ts";
import type { Append } from "../log/log.ts";
import type { NewRun, RunChange } from "../runs/runs.ts";

const declare = queriesBeside(import.meta.url);

const PROJECTION = {
  runId: list(uuid()),
  eventCount: list(number()),
  status: list(text()),
  hasFailures: list(flag()),
  errorMessage: list(orNull(text())),
  ended: list(flag()),
};
const EVENTS = {
  eventType: list(text()),
  eventNodeId: list(text()),
  eventIteration: list(number()),
  eventAttempt: list(number()),
  eventEpoch: list(number()),
  eventPayload: list(text()),
  eventValue: list(orNull(text())),
};
const OPENED = {
  openedNodeId: list(text()),
  openedIteration: list(number()),
  openedAttempt: list(number()),
  openedExecutorId: list(uuid()),
  openedLimitMs: list(orNull(number())),
};
const WHOLE = { wake: text(), pauseEpoch: number() };
const ANSWER = { held: flag(), same_pauses: flag(), ends: number(), notified: orNull(text()) };

const moveRuns = declare(
  "move_runs",
  {
    ...PROJECTION,
    expectedVersion: list(number()),
    ...EVENTS,
    eventPlace: list(number()),
    eventBack: list(number()),
    closedRunId: list(uuid()),
    closedNodeId: list(text()),
    closedIteration: list(number()),
    ...OPENED,
    openedPlace: list(number()),
    openedBack: list(number()),
    ...WHOLE,
  },
  { ...ANSWER, seqs: list(number()) },
);
const createRuns = declare(
  "create_runs",
  {
    ...PROJECTION,
    tenantId: list(text()),
    definitionId: list(uuid()),
    workflowId: list(orNull(text())),
    workflowVersion: list(number()),
    kind: list(text()),
    priority: list(number()),
    requestId: list(orNull(text())),
    requestHash: list(orNull(text())),
    traceparent: list(orNull(text())),
    deadlineAt: list(number()),
    assumesNewest: list(flag()),
    parentRunId: list(orNull(uuid())),
    parentNodeId: list(orNull(text())),
    parentIteration: list(orNull(number())),
    scheduleId: list(orNull(text())),
    scheduleAt: list(orNull(number())),
    ...EVENTS,
    eventRunId: list(uuid()),
    eventSeq: list(number()),
    ...OPENED,
    openedRunId: list(uuid()),
    openedEpoch: list(number()),
    ...WHOLE,
  },
  ANSWER,
);
const notifyReaders = declare("notify_readers", { wake: text() }, { notified: text() });

const PROJECTED = [
  "runId",
  "eventCount",
  "status",
  "hasFailures",
  "errorMessage",
  "ended",
] as const;

/** An event or lease whose seq is its run's new last seq minus `back`. */
type Behind = { readonly runId: RunId; readonly back: number };

export class TickBatch {
  readonly runs: NewRun[] = [];
  readonly changes: RunChange[] = [];
  readonly appends: Append[] = [];
  readonly opened: NewLease[] = [];
  readonly closed: LeaseKey[] = [];
  /** The epoch of pauses that all of it holds under; below zero where that does not matter. */
  pauseEpoch = -1;
  /** The notification to readers, if any. */
  wake = "";

  get isEmpty(): boolean {
    return this.#isOnlyWake && this.wake === "";
  }

  /** Whether one statement does all of it. */
  get isSingle(): boolean {
    return this.runs.length === 0 || !this.#isAboutOldRuns;
  }

  /** Sends all of it and gives the new last seq of each run that existed. The notification goes with the last statement. */
  async send(send: Send): Promise<ReadonlyMap<RunId, number>> {
    if (this.#isOnlyWake) {
      await send(notifyReaders, { wake: this.wake });
      return new Map();
    }
    const created = new Map(this.runs.map((run) => [run.runId, run.eventCount]));
    const changes = this.changes.toSorted((a, b) => (a.runId < b.runId ? -1 : 1));
    const isMoving = this.#isAboutOldRuns;
    const creating =
      created.size === 0 ? undefined : send(createRuns, this.#created(created, isMoving));
    const moving = isMoving ? send(moveRuns, this.#moved(changes, created)) : undefined;
    await creating;
    return seqsOf(changes, (await moving)?.[0]);
  }

  /** Only partial output, which other statements write, and its notification. */
  get #isOnlyWake(): boolean {
    return this.runs.length === 0 && !this.#isAboutOldRuns;
  }

  get #isAboutOldRuns(): boolean {
    return this.changes.length > 0 || this.closed.length > 0;
  }

  #moved(changes: readonly RunChange[], created: ReadonlyMap<RunId, number>) {
    const places = new Map(changes.map((change, index) => [change.runId, index + 1]));
    const placeOf = ({ runId }: Behind): number => {
      const found = places.get(runId);
      invariant(found !== undefined, `run ${runId} is written to without being moved`);
      return found;
    };
    const appends = this.appends.filter(({ runId }) => !created.has(runId));
    const opened = this.opened.filter(({ runId }) => !created.has(runId));
    return {
      ...columns(changes, PROJECTED),
      ...columns(changes, ["expectedVersion"]),
      ...eventColumns(appends, () => -1),
      eventPlace: appends.map(placeOf),
      eventBack: appends.map(({ back }) => back),
      closedRunId: this.closed.map(({ runId }) => runId),
      closedNodeId: this.closed.map(({ nodeId }) => nodeId),
      closedIteration: this.closed.map(({ iteration }) => iteration),
      ...openedColumns(opened),
      openedPlace: opened.map(placeOf),
      openedBack: opened.map(({ back }) => back),
      wake: this.wake,
      pauseEpoch: this.pauseEpoch,
    };
  }

  #created(created: ReadonlyMap<RunId, number>, isMoving: boolean) {
    const seqOf = ({ runId, back }: Behind): number => (created.get(runId) ?? 0) - back;
    const appends = this.appends.filter(({ runId }) => created.has(runId));
    const opened = this.opened.filter(({ runId }) => created.has(runId));
    return {
      ...columns(this.runs, PROJECTED),
      ...columns(this.runs, ["tenantId", "definitionId", "workflowId", "workflowVersion", "kind"]),
      ...columns(this.runs, ["priority", "requestId", "requestHash", "traceparent"]),
      ...columns(this.runs, ["deadlineAt", "assumesNewest"]),
      parentRunId: this.runs.map(({ parent }) => parent?.runId ?? null),
      parentNodeId: this.runs.map(({ parent }) => parent?.nodeId ?? null),
      parentIteration: this.runs.map(({ parent }) => parent?.iteration ?? null),
      scheduleId: this.runs.map(({ schedule }) => schedule?.scheduleId ?? null),
      scheduleAt: this.runs.map(({ schedule }) => schedule?.at ?? null),
      ...eventColumns(appends, seqOf),
      eventRunId: appends.map(({ runId }) => runId),
      eventSeq: appends.map(seqOf),
      ...openedColumns(opened),
      openedRunId: opened.map(({ runId }) => runId),
      openedEpoch: opened.map(seqOf),
      wake: isMoving ? "" : this.wake,
      pauseEpoch: this.pauseEpoch,
    };
  }
}

/** `startEpoch` gives the epoch of a claim, which is the seq of its node.started. */
const eventColumns = (appends: readonly Append[], startEpoch: (append: Append) => number) => ({
  eventType: appends.map(({ fact }) => fact.type),
  eventNodeId: appends.map(({ fact }) => fact.nodeId),
  eventIteration: appends.map(({ fact }) => fact.iteration),
  eventAttempt: appends.map(({ fact }) => fact.attempt),
  eventEpoch: appends.map((item) =>
    item.fact.type === "node.started" ? startEpoch(item) : item.fact.epoch,
  ),
  eventPayload: appends.map(({ fact }) => JSON.stringify(fact.payload)),
  eventValue: appends.map(({ fact }) => fact.value ?? null),
});

const openedColumns = (opened: readonly NewLease[]) => ({
  openedNodeId: opened.map(({ nodeId }) => nodeId),
  openedIteration: opened.map(({ iteration }) => iteration),
  openedAttempt: opened.map(({ attempt }) => attempt),
  openedExecutorId: opened.map(({ executorId }) => executorId),
  openedLimitMs: opened.map(({ limitMs }) => limitMs ?? null),
});

const seqsOf = (
  changes: readonly RunChange[],
  row: RowOf<typeof moveRuns> | undefined,
): ReadonlyMap<RunId, number> =>
  new Map(changes.map(({ runId }, index) => [runId, row?.seqs[index] ?? 0]));
