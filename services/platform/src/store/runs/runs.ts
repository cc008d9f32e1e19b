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
