// Bulks: one action on all runs that a filter found. Only schedulers write them.

import type { RunStatus, StopMode } from "@pawl/core/log/event";
import type { RunId } from "@pawl/core/name/ids";
import type {
  BulkAction,
  BulkFacts,
  BulkOptions,
  BulkOutcome,
  BulkState,
  CanaryRuns,
} from "@pawl/core/bulk/bulk";
import type { TypedFilter } from "@pawl/core/filter/typed";
import { flag, json, number, orNull, text, time, uuid } from "../../db/columns.ts";
import type { Typed } from "../../db/query.ts";

/** The columns of a bulk. */
export const BULK = {
  bulkId: uuid(),
  tenantId: text(),
  action: text<BulkAction>(),
  filter: text(),
  options: json<BulkOptions>(),
  state: text<BulkState>(),
  stateReason: text(),
  matched: number(),
  canary: number(),
  done: number(),
  failed: number(),
  skipped: number(),
  createdAt: time(),
  updatedAt: time(),
  endedAt: orNull(time()),
};
export type BulkRecord = Typed<typeof BULK>;

/** A bulk with its time, in milliseconds from now. */
export const DUE_BULK = { ...BULK, dueInMs: number() };
export type DueBulk = Typed<typeof DUE_BULK>;

export const BULK_KEY = { tenantId: text(), bulkId: uuid() };
export type BulkKey = Typed<typeof BULK_KEY>;

/** One run of a bulk. */
export const BULK_RUN = {
  runId: uuid<RunId>(),
  position: number(),
  outcome: orNull(text<BulkOutcome>()),
  reason: text(),
  message: text(),
  newRunId: orNull(uuid<RunId>()),
  endedAt: orNull(time()),
};
export type BulkRunRecord = Typed<typeof BULK_RUN>;

export const COUNT = { outcome: text<BulkOutcome>(), reason: text(), count: number() };
export type BulkCount = Typed<typeof COUNT>;

/** A run that a step acts on. */
export const BEGUN = { position: number(), runId: uuid<RunId>(), attempts: number() };
export type BegunRun = Typed<typeof BEGUN>;

/** What happened to a run. */
export const HANDLED = {
  position: number(),
  outcome: text<BulkOutcome>(),
  reason: text(),
  message: text(),
  newRunId: orNull(uuid<RunId>()),
};
export type HandledRun = Typed<typeof HANDLED>;

export const FACTS = {
  status: text<RunStatus>(),
  stop: orNull(text<StopMode>()),
  hasLetters: flag(),
  isRepaired: flag(),
  hasParent: flag(),
  hasLiveChild: flag(),
};

/** Runs with the same facts. */
export interface SameRuns {
  readonly facts: BulkFacts;
  readonly count: number;
  /** The oldest of them, a few. */
  readonly runIds: readonly RunId[];
}

export interface NewBulk {
  readonly bulkId: string;
  readonly tenantId: string;
  readonly requestId: string | null;
  readonly requestHash: string;
  readonly action: BulkAction;
  /** The text and the meaning of the filter. */
  readonly filter: { readonly text: string; readonly typed: TypedFilter };
  readonly options: BulkOptions;
  readonly definition: string | null;
}

export type StartBulkResult =
  | { readonly kind: "started"; readonly bulk: BulkRecord }
  | { readonly kind: "repeated"; readonly bulk: BulkRecord }
  | { readonly kind: "request_reused" };

/** Another state of a bulk. Nothing changes unless the bulk is in the state `from`. */
interface BulkMove {
  readonly bulkId: string;
  readonly from: BulkState;
  readonly to: BulkState;
  readonly reason: string;
}

export interface Bulks {
  /** Stores a bulk with its runs, oldest first, in one transaction. @throws LIMIT_EXCEEDED if the filter finds too many */
  start(bulk: NewBulk): Promise<StartBulkResult>;
  /** The runs that a filter finds, by their facts. @throws LIMIT_EXCEEDED if the filter finds too many */
  preview(tenantId: string, filter: TypedFilter): Promise<SameRuns[]>;
  /** Bulks that need steps, in the order in which these are due. */
  active(limit: number): Promise<DueBulk[]>;
  find(bulkId: string): Promise<BulkRecord | undefined>;
  definitionOf(bulkId: string): Promise<string | undefined>;
  /** Takes the next runs for a step, and counts an attempt of each. None if the bulk is no longer in this state. */
  begin(
    bulk: { readonly bulkId: string; readonly state: BulkState },
    page: { readonly limit: number; readonly upTo: number },
  ): Promise<BegunRun[]>;
  /** The facts of these runs. A run that does not exist has none. */
  factsOf(runIds: readonly RunId[]): Promise<ReadonlyMap<RunId, BulkFacts>>;
  /** Records what happened to runs, once each, and sets the time of the next step. */
  record(bulkId: string, handled: readonly HandledRun[], afterMs: number): Promise<void>;
  /** Delays the next step. */
  delay(bulkId: string, afterMs: number): Promise<void>;
  canaryOf(bulkId: string): Promise<CanaryRuns>;
  /** False if the bulk is in another state. */
  move(move: BulkMove): Promise<boolean>;
  /** Ends a bulk of which no run is under way. */
  end(bulkId: string): Promise<void>;
  /** Open dead letters of a run. */
  lettersOf(tenantId: string, runId: RunId): Promise<string[]>;
  /** Deletes a bulk that ended long ago, or the next of its runs. `limit` bounds the runs. True if there may be more. */
  forget(olderThanMs: number, limit: number): Promise<boolean>;
}
