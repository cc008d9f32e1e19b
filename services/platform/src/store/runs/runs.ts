// Runs as their rows have them: the projection that is written in the same transaction as the events.

import type { ParentLink, RunEvent, RunKind, RunStatus, ScheduleLink } from "@pawl/core/log/event";
import type { DefinitionId, RunId } from "@pawl/core/name/ids";
import type { Quarantine, Snapshot } from "../recovery/recovery.ts";

/** A run as its row has it. Times are milliseconds since the epoch. */
export interface RunRecord {
  readonly runId: RunId;
  readonly definitionId: DefinitionId;
  /** Null for a test run. */
  readonly workflowId: string | null;
  readonly workflowVersion: number;
  readonly kind: RunKind;
  readonly status: RunStatus;
  readonly lastSeq: number;
  readonly hasFailures: boolean;
  readonly priority: number;
  readonly errorMessage: string | null;
  readonly traceparent: string | null;
  readonly createdAt: number;
  readonly endedAt: number | null;
  readonly deadlineAt: number;
  readonly parent: ParentLink | null;
  /** Set while nothing of the run may move. */
  readonly quarantine: Quarantine | null;
  readonly schedule?: ScheduleLink;
}

export interface RunFilter {
  /** Empty means all. */
  readonly statuses: readonly RunStatus[];
  /** Empty means all. */
  readonly workflowId: string;
  readonly kind: RunKind | undefined;
  /** Empty means all. */
  readonly scheduleId?: string;
  /** The beginning of a workflow id, of words of its id or title or of a run id, or a short run id; empty means all. */
  readonly search?: string;
}

export interface RunPage {
  readonly runs: readonly RunRecord[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
}

/** A run after a decision. */
export interface RunProjection {
  readonly status: RunStatus;
  readonly hasFailures: boolean;
  readonly errorMessage: string | null;
  readonly ended: boolean;
  /** How many events this transaction appends to it. */
  readonly eventCount: number;
}

export interface NewRun extends RunProjection {
  readonly runId: RunId;
  readonly tenantId: string;
  readonly definitionId: DefinitionId;
  readonly workflowId: string | null;
  readonly workflowVersion: number;
  readonly kind: RunKind;
  readonly priority: number;
  readonly requestId: string | null;
  readonly requestHash: string | null;
  readonly traceparent: string | null;
  readonly deadlineAt: number;
  /** Planned on a remembered newest version: the insert holds only while that is still the workflow's newest. */
  readonly assumesNewest: boolean;
  /** The node execution that waits for it. */
  readonly parent: ParentLink | null;
  /** The occurrence that started it. */
  readonly schedule?: ScheduleLink;
}

/** The graph of a test run: kept with it, and deleted with it. */
export interface TestGraph {
  readonly definitionId: DefinitionId;
  readonly tenantId: string;
  readonly digest: string;
  readonly title: string;
  readonly nodeCount: number;
  /** Canonical JSON text. */
  readonly body: string;
}

/** That an input may not be started again for a while. */
export interface InputKey {
  readonly tenantId: string;
  readonly inputKey: string;
  readonly runId: RunId;
  readonly ttlMs: number;
}

export interface RunChange extends RunProjection {
  readonly runId: RunId;
  readonly expectedVersion: number;
}

/** That a run's deadline moved. */
export interface MovedDeadline {
  readonly runId: RunId;
  readonly deadlineAt: number;
}

/** What to read of a run. */
export interface LoadCursor {
  readonly runId: RunId;
  readonly afterSeq: number;
  /** Whether a snapshot may replace the events up to it; the cursor is 0 then. */
  readonly fromSnapshot?: boolean;
}

/** A run with what its log holds after a cursor: all that a scheduler folds. */
export interface LoadedRun {
  readonly runId: RunId;
  readonly version: number;
  readonly lastSeq: number;
  readonly hasEnded: boolean;
  readonly definitionId: DefinitionId;
  readonly workflowId: string | null;
  readonly priority: number;
  readonly traceparent: string | null;
  /** Set while nothing of the run may move. */
  readonly quarantine: Quarantine | null;
  /** Replaces the events up to its seq, if it was asked for, is there and is whole. */
  readonly snapshot: Snapshot | null;
  /** The cursor that `events` follow: the one asked for, or the snapshot's. */
  readonly afterSeq: number;
  /** Events after the cursor, without streamed ones. */
  readonly events: readonly RunEvent[];
  /** How many events there are from the cursor's own (or the first) to the last, streamed ones too: shows whether one is missing. */
  readonly eventCount: number;
}
