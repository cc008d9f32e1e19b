// The rows of runs: the projection that the tick writes in the same transaction as the events.

import type {
  ParentLink,
  RunEvent,
  RunKind,
  RunStatus,
  ScheduleLink,
  StopMode,
} from "@pawl/core/log/event";
import type { FailureClass } from "@pawl/core/fault/class";
import type { JsonObject } from "@pawl/core/data/merge-patch";
import type { TypedFilter } from "@pawl/core/filter/typed";
import type { AcceptedStart } from "@pawl/core/log/start";
import type { DefinitionId, RunId } from "@pawl/core/name/ids";
import { flag, json, number, orNull, text, time, uuid } from "../../db/columns.ts";
import type { Typed } from "../../db/query.ts";
import type { Page } from "../page.ts";
import type { Quarantine, Snapshot } from "../recovery/recovery.ts";

/** The columns of a run. */
export const RUN = {
  runId: uuid<RunId>(),
  definitionId: uuid<DefinitionId>(),
  /** Null for a test run. */
  workflowId: orNull(text()),
  workflowVersion: number(),
  kind: text<RunKind>(),
  status: text<RunStatus>(),
  lastSeq: number(),
  hasFailures: flag(),
  priority: number(),
  errorMessage: orNull(text()),
  /** Null unless the run ended without completing. */
  failureClass: orNull(text<FailureClass>()),
  traceparent: orNull(text()),
  createdAt: time(),
  endedAt: orNull(time()),
  /** When the run came back from the archive. */
  restoredAt: orNull(time()),
  deadlineAt: time(),
  /** The run does not begin before. Null if it could begin at once. */
  startAt: orNull(time()),
  parent: orNull(json<ParentLink>()),
  /** Set while the run is in quarantine. */
  quarantine: orNull(json<Quarantine>()),
  schedule: orNull(json<ScheduleLink>()),
  threadId: orNull(text()),
  assistantId: orNull(text()),
  /** Null unless the run was interrupted or rolled back. */
  stop: orNull(text<StopMode>()),
  /** What users say about the run, to find it again. */
  metadata: orNull(json<JsonObject>()),
};
export type RunRecord = Typed<typeof RUN>;
export type RunPage = Page<RunRecord>;

export interface RunFilter {
  /** Empty means all. */
  readonly statuses: readonly RunStatus[];
  /** Empty means all. */
  readonly workflowId: string;
  readonly kind: RunKind | undefined;
  /** Empty means all. */
  readonly scheduleId?: string;
  /** Empty means all. */
  readonly threadId?: string;
  /** Empty means all. */
  readonly assistantId?: string;
  /** Empty means all. */
  readonly stops?: readonly StopMode[];
  /** The beginning of a workflow id, of words of its id or title or of a run id, or a short run id. Empty means all. */
  readonly search?: string;
  /** A filter that a user wrote, in one form. It is not used together with a search. */
  readonly condition?: { readonly text: string; readonly typed: TypedFilter } | undefined;
}

/** A run after a decision. */
const PROJECTION = {
  runId: uuid<RunId>(),
  status: text<RunStatus>(),
  hasFailures: flag(),
  errorMessage: orNull(text()),
  failureClass: orNull(text<FailureClass>()),
  ended: flag(),
  /** How many events this transaction appends to the run. */
  eventCount: number(),
};
/** The columns of a new run, without those of its links. */
export const NEW_RUN = {
  ...PROJECTION,
  tenantId: text(),
  definitionId: uuid<DefinitionId>(),
  workflowId: orNull(text()),
  workflowVersion: number(),
  kind: text<RunKind>(),
  priority: number(),
  requestId: orNull(text()),
  requestHash: orNull(text()),
  traceparent: orNull(text()),
  deadlineAt: number(),
  assumesNewest: flag(),
};
export const RUN_CHANGE = { ...PROJECTION, expectedVersion: number() };

export type RunProjection = Omit<Typed<typeof PROJECTION>, "runId">;
export type RunChange = Typed<typeof RUN_CHANGE>;

/** A run that begins with this transaction. */
export interface NewRun extends AcceptedStart, RunProjection {}

/** The graph of a test run. It is stored and deleted with the run. */
export const TEST_GRAPH = {
  definitionId: uuid<DefinitionId>(),
  tenantId: text(),
  digest: text(),
  title: text(),
  nodeCount: number(),
  /** Canonical JSON text. */
  body: text(),
};
export type TestGraph = Typed<typeof TEST_GRAPH>;

/** An input that may not start again for a while. */
export const INPUT_KEY = {
  tenantId: text(),
  inputKey: text(),
  runId: uuid<RunId>(),
  ttlMs: number(),
};
export type InputKey = Typed<typeof INPUT_KEY>;

/** A run that repairs a finished one. */
export const REPAIR = { runId: uuid<RunId>(), repairOf: uuid<RunId>(), planDigest: text() };
export type NewRepair = Typed<typeof REPAIR>;

/** How a run was stopped. */
export const STOP = { runId: uuid<RunId>(), stop: text<StopMode>() };
export type StoppedRun = Typed<typeof STOP>;

/** The metadata of a run as the text of a JSON object. */
export const METADATA = { runId: uuid<RunId>(), metadata: text() };
export type KeptMetadata = Typed<typeof METADATA>;

/** The new deadline of a run. */
export const DEADLINE = { runId: uuid<RunId>(), deadlineAt: number() };
export type MovedDeadline = Typed<typeof DEADLINE>;

/** A run and the request id that started it. */
export const REQUEST = { requestId: text(), requestHash: text(), runId: uuid<RunId>() };
export type FoundRequest = Typed<typeof REQUEST>;
/** A run and the input that started it. */
export const STARTED_INPUT = { inputKey: text(), runId: uuid<RunId>() };
export type StartedInput = Typed<typeof STARTED_INPUT>;

/** How long a temporary run stays after its end, and how soon it may go to be found. */
export interface DueFilter {
  readonly graceMs: number;
  readonly withinMs: number;
  readonly limit: number;
}

/** A temporary run that ended, and how long it still stays. */
export interface DueRun {
  readonly runId: RunId;
  readonly dueInMs: number;
}

/** The events to read of a run. */
export interface LoadCursor {
  readonly runId: RunId;
  readonly afterSeq: number;
  /** Whether a snapshot may replace the events up to it. The cursor is 0 then. */
  readonly fromSnapshot?: boolean;
}

/** The columns of a run that a scheduler loads. */
/** After a step that removes runs: nothing is left, more can go at once, or the rest waits for live runs below it or for another scheduler. */
export type Removal = "removed" | "more" | "waits";

export const LOADED = {
  runId: uuid<RunId>(),
  version: number(),
  lastSeq: number(),
  hasEnded: flag(),
  definitionId: uuid<DefinitionId>(),
  workflowId: orNull(text()),
  kind: text<RunKind>(),
  /** Whether a node of another run started it. */
  isChild: flag(),
  priority: number(),
  traceparent: orNull(text()),
  /** Set while the run is in quarantine. */
  quarantine: orNull(json<Quarantine>()),
};

/** A run with the events of its log after a cursor: everything that a scheduler folds. */
export interface LoadedRun extends Typed<typeof LOADED> {
  /** Replaces the events up to its seq. Null if it was not requested, is missing or is damaged. */
  readonly snapshot: Snapshot | null;
  /** The cursor before `events`: the requested one, or the seq of the snapshot. */
  readonly afterSeq: number;
  /** Events after the cursor, without streamed ones. */
  readonly events: readonly RunEvent[];
  /**
   * How many events there are from the event at the cursor (or the first) to the last. Stream deltas count. It shows whether one is
   * missing.
   */
  readonly eventCount: number;
}
