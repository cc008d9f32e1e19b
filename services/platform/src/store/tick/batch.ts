// Gathers the decisions of a transaction about runs until they are sent: one statement for existing runs, one for new ones.

import { invariant } from "@pawl/core/fault/invariant";
import type { RunId } from "@pawl/core/name/ids";
import { flag, list, lists, number, orNull, text, uuid } from "../../db/columns.ts";
import { columns, fieldsOf, queriesBeside, type Send } from "../../db/query.ts";
import type { LeaseKey, NewLease } from "../leases/leases.ts";
import type { Append } from "../log/log.ts";
import { NEW_RUN, type NewRun, RUN_CHANGE, type RunChange } from "../runs/runs.ts";

const declare = queriesBeside(import.meta.url);

const EVENT = {
  eventType: text(),
  eventNodeId: text(),
  eventIteration: number(),
  eventAttempt: number(),
  eventEpoch: number(),
  eventPayload: text(),
  eventValue: orNull(text()),
};
const OPENED = {
  openedNodeId: text(),
  openedIteration: number(),
  openedAttempt: number(),
  openedExecutorId: uuid(),
  openedLimitMs: orNull(number()),
};
const CLOSED = { closedRunId: uuid(), closedNodeId: text(), closedIteration: number() };
/** An event or lease belongs to the run at this place of the runs. Its seq is that run's new last seq minus `back`. */
const BEHIND = {
  eventPlace: number(),
  eventBack: number(),
  openedPlace: number(),
  openedBack: number(),
};
const LINKS = {
  parentRunId: orNull(uuid()),
  parentNodeId: orNull(text()),
  parentIteration: orNull(number()),
  scheduleId: orNull(text()),
  scheduleAt: orNull(number()),
  startAt: orNull(number()),
};
/** The caller knows the seqs of a new run. */
const KNOWN = {
  eventRunId: uuid(),
  eventSeq: number(),
  openedRunId: uuid(),
  openedEpoch: number(),
};
const WHOLE = { wake: text(), pauseEpoch: number() };
const ANSWER = { held: flag(), pauses: flag(), ends: number(), notified: orNull(text()) };

const moveRuns = declare(
  "move_runs",
  { ...lists({ ...RUN_CHANGE, ...EVENT, ...OPENED, ...CLOSED, ...BEHIND }), ...WHOLE },
  { ...ANSWER, seqs: list(number()) },
);
const createRuns = declare(
  "create_runs",
  { ...lists({ ...NEW_RUN, ...LINKS, ...EVENT, ...OPENED, ...KNOWN }), ...WHOLE },
  ANSWER,
);
const notifyReaders = declare("notify_readers", { wake: text() }, { notified: text() });

const CHANGE_FIELDS = fieldsOf(RUN_CHANGE);
const NEW_RUN_FIELDS = fieldsOf(NEW_RUN);

/** An event or lease whose seq is its run's new last seq minus `back`. */
type Behind = { readonly runId: RunId; readonly back: number };

export class TickBatch {
  readonly runs: NewRun[] = [];
  readonly changes: RunChange[] = [];
  readonly appends: Append[] = [];
  readonly opened: NewLease[] = [];
  readonly closed: LeaseKey[] = [];
  /** The epoch of the pauses that the decisions assume. It is below zero if they assume none. */
  pauseEpoch = -1;
  /** The notification to readers, if any. */
  wake = "";

  get isEmpty(): boolean {
    return this.#isOnlyWake && this.wake === "";
  }

  /** Whether one statement is enough. */
  get isSingle(): boolean {
    return this.runs.length === 0 || !this.#isAboutOldRuns;
  }

  /** Sends everything and returns the new last seq of each existing run. The last statement contains the notification. */
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
    const seqs = (await moving)?.[0]?.seqs;
    return new Map(changes.map(({ runId }, index) => [runId, seqs?.[index] ?? 0]));
  }

  /** Whether there is only a notification of stream deltas, which other statements write. */
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
      ...columns(changes, CHANGE_FIELDS),
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
      ...columns(this.runs, NEW_RUN_FIELDS),
      parentRunId: this.runs.map(({ parent }) => parent?.runId ?? null),
      parentNodeId: this.runs.map(({ parent }) => parent?.nodeId ?? null),
      parentIteration: this.runs.map(({ parent }) => parent?.iteration ?? null),
      scheduleId: this.runs.map(({ schedule }) => schedule?.scheduleId ?? null),
      scheduleAt: this.runs.map(({ schedule }) => schedule?.at ?? null),
      startAt: this.runs.map(({ startAt = null }) => startAt),
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
