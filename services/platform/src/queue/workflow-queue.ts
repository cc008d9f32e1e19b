// The queue of commands about whole runs: the promises of every implementation.
//
// States of a job, and the calls that change them:
//   waiting ─dequeue▶ active ─ack▶ completed
//   active ─nack▶ waiting, or dead_letter after its last attempt
//   active ─reclaimExpired▶ waiting, or dead_letter after its last attempt
//   active ─release▶ paused ─ack▶ completed (the command with the person's answer clears the paused job away)
//   waiting ─cancel▶ cancelled
//   dead_letter ─redrive▶ waiting, ─discard▶ discarded
//
// Every dequeue gives the run a new epoch. Calls about a claim name that epoch, never a job alone. The queue refuses them with STALE_CLAIM
// once another worker holds the job, or it waits again. So a worker that was paused past its claim changes nothing.

import { invalidField } from "@pawl/core/fault/engine-error";
import { isUuid } from "@pawl/core/name/ids";
import type { WorkflowCommand } from "./workflow-command.ts";

export const JOB_STATUSES = [
  "waiting",
  "active",
  "paused",
  "completed",
  "dead_letter",
  "cancelled",
  "discarded",
] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

/** How long a claim lives without a heartbeat by default. */
export const DEFAULT_VISIBILITY_MS = 300_000;

const ERROR_LENGTH_MAX = 2_000;
const MS_MAX = 366 * 24 * 3_600_000;

/** The error of a job whose worker sent no heartbeat. */
export const CLAIM_EXPIRED = "the claim ran out: its worker fell silent";

/** Names a claim. */
export interface JobClaim {
  readonly jobId: string;
  /** The epoch of the run that this claim took. */
  readonly claimEpoch: number;
}

/** A job as `dequeue` returns it. */
export interface ClaimedJob extends JobClaim, WorkflowCommand {
  readonly workerId: string;
  /** Deliveries that failed or were lost before this one. */
  readonly attempts: number;
  /** Milliseconds since 1970. */
  readonly visibleUntil: number;
}

/** A job in the form of diagnostics. */
export interface JobRecord {
  readonly jobId: string;
  /** Null for a job whose data is not a command. Such a job is a dead letter after the first dequeue. */
  readonly command: WorkflowCommand | null;
  readonly status: JobStatus;
  readonly attempts: number;
  /** The epoch of the last claim. 0 if there was none. */
  readonly claimEpoch: number;
  readonly workerId: string | null;
  /** Set only while the job is active. */
  readonly visibleUntil: number | null;
  readonly error: string | null;
}

/** A job of a list. */
export interface ListedJob extends JobRecord {
  /** Milliseconds since 1970. */
  readonly enqueuedAt: number;
  /** When a waiting job may be claimed. Null for other jobs. */
  readonly dueAt: number | null;
  /** The place of the job in the list. */
  readonly place: string;
}

/** A page of a list of jobs. */
export interface JobQuestion {
  readonly tenantId: string;
  readonly statuses: readonly JobStatus[];
  /** The place behind which the page begins. Empty for the first page. */
  readonly after: string;
  readonly limit: number;
}

/** What a caller may say about the job of a new command. */
export interface EnqueueOptions {
  /** The id of the job. A second command under the id of a job that exists changes nothing. */
  readonly jobId?: string;
  /** How long the job waits at least. */
  readonly delayMs?: number;
}

/**
 * Why a call about a claim changed nothing. STALE_CLAIM: the claim is over. NOT_ALLOWED: the claim is the last one, but the job's state
 * does not allow this call.
 */
export type Refusal =
  | { readonly outcome: "refused"; readonly reason: "JOB_NOT_FOUND" }
  | {
      readonly outcome: "refused";
      readonly reason: "STALE_CLAIM" | "NOT_ALLOWED";
      readonly status: JobStatus;
    };
/** The end of a call that names a job and no claim. */
export type Change = { readonly outcome: "done"; readonly status: JobStatus } | Unchanged;
type Unchanged =
  | { readonly outcome: "refused"; readonly reason: "JOB_NOT_FOUND" }
  | { readonly outcome: "refused"; readonly reason: "NOT_ALLOWED"; readonly status: JobStatus };
export type Settlement = { readonly outcome: "done"; readonly status: JobStatus } | Refusal;
export type Heartbeat = { readonly outcome: "done"; readonly visibleUntil: number } | Refusal;

/** The statuses in which a job is not over, or asks for a person. */
type CountedStatus = "waiting" | "active" | "paused" | "dead_letter";
export type JobCounts = Readonly<Record<CountedStatus, number>>;

/** How many jobs `reclaimExpired` took back, by their new status. */
export type Reclaimed = Pick<JobCounts, "waiting" | "dead_letter">;

/** A command to enqueue: fields with a default may be absent. */
export type NewCommand = Pick<WorkflowCommand, "type" | "graphId"> &
  Partial<Omit<WorkflowCommand, "type" | "graphId">>;

export interface WorkflowQueueOptions {
  /** How long a claim lives; default DEFAULT_VISIBILITY_MS. */
  readonly visibilityTimeoutMs?: number;
  /** Milliseconds since 1970. By default it is the clock of the process or of the database that holds the jobs. */
  readonly now?: () => number;
  readonly newId?: () => string;
}

export interface WorkflowQueue {
  /** Adds a job and returns its id. @throws INPUT_INVALID naming every faulty field */
  enqueue(command: NewCommand, options?: EnqueueOptions): Promise<string>;
  /** Claims the next job: the lowest priority number first, then the oldest. Null if no job waits. */
  dequeue(workerId: string): Promise<ClaimedJob | null>;
  ack(claim: JobClaim): Promise<Settlement>;
  /** Counts an attempt. The job waits again (at least `retryAfterMs`), or is a dead letter. */
  nack(claim: JobClaim, error: string, retryAfterMs?: number): Promise<Settlement>;
  /**
   * Extends the claim to this time from now, by default to the life of a new claim. With 0 it gives the job back: the next `reclaimExpired`
   * ends the claim, and the delivery does not count.
   */
  heartbeat(claim: JobClaim, extendMs?: number): Promise<Heartbeat>;
  /** Pauses the job without counting an attempt. No worker gets it again. Another command continues the run. */
  release(claim: JobClaim): Promise<Settlement>;
  /** Takes back jobs of any worker whose claims ended: the longest expired first, a bounded number in one call. */
  reclaimExpired(): Promise<Reclaimed>;
  /** Ends a job that waits. Also done if the job is cancelled already. */
  cancel(jobId: string): Promise<Change>;
  /** Lets a dead letter wait again, with all its attempts. A repeat under the same request id changes nothing. */
  redrive(jobId: string, requestId: string): Promise<Change>;
  /** Closes a dead letter. Also done if it is discarded already. */
  discard(jobId: string): Promise<Change>;
  getJob(jobId: string): Promise<JobRecord | undefined>;
  /** Jobs of these statuses, the newest first. */
  listJobs(asked: JobQuestion): Promise<readonly ListedJob[]>;
  getQueueDepth(): Promise<JobCounts>;
  /** Calls back when jobs may have begun to wait. It is a hint, so callers also poll. The returned function stops it. */
  watch?(onJobs: () => void): () => void;
}

/** Why a call that names a job changed nothing, by the state of the job. */
export const unchanged = (status: JobStatus | undefined): Unchanged =>
  status === undefined
    ? { outcome: "refused", reason: "JOB_NOT_FOUND" }
    : { outcome: "refused", reason: "NOT_ALLOWED", status };

/** An error in the form that the queue stores: of bounded length, and only with characters that a database accepts. */
export const errorText = (error: string): string =>
  error.replaceAll("\0", "").toWellFormed().slice(0, ERROR_LENGTH_MAX);

/** Whether these values can name a claim. */
export const isClaim = ({ jobId, claimEpoch }: JobClaim): boolean =>
  isUuid(jobId) && Number.isSafeInteger(claimEpoch);

/** A time from now, in whole milliseconds. @throws INPUT_INVALID */
export function checkMs(field: string, ms: number): number {
  if (!Number.isFinite(ms) || ms < 0 || ms > MS_MAX)
    throw invalidField(field, "OUT_OF_RANGE", `must be from 0 to ${MS_MAX} ms`);
  return Math.ceil(ms);
}

/** The refusal of a call about a claim, by the state of its job. */
export function refusalOf(
  found: { readonly status: JobStatus; readonly claimEpoch: number } | undefined,
  claim: JobClaim,
): Refusal {
  if (found === undefined) return { outcome: "refused", reason: "JOB_NOT_FOUND" };
  const { status, claimEpoch } = found;
  const isOver = claimEpoch !== claim.claimEpoch || status === "waiting";
  return { outcome: "refused", reason: isOver ? "STALE_CLAIM" : "NOT_ALLOWED", status };
}
