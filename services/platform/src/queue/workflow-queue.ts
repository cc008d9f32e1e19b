// The queue of commands about whole runs: what it promises, whoever keeps it.
//
// States of a job and what moves them; nothing else does:
//   waiting ─dequeue▶ active ─ack▶ completed
//   active ─nack▶ waiting, or dead_letter once its attempts are spent
//   active ─reclaimExpired▶ waiting, or dead_letter likewise
//   active ─release▶ paused ─ack▶ completed (whoever answers the person clears away the job that waited for him)
//
// Every dequeue gives the run a new epoch. Calls about a claim name that epoch, never a job alone, and are refused with
// STALE_CLAIM once the job is claimed by another or waits again: a worker that was paused past its claim changes nothing.

import { invalidField } from "@pawl/core/fault/engine-error";
import { isUuid } from "@pawl/core/name/ids";
import type { WorkflowCommand } from "./workflow-command.ts";

export const JOB_STATUSES = ["waiting", "active", "paused", "completed", "dead_letter"] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

/** How long a claim lives without a heartbeat, unless the queue is told otherwise. */
export const DEFAULT_VISIBILITY_MS = 300_000;

const ERROR_LENGTH_MAX = 2_000;
/** Longer than anything is worth waiting for. */
const MS_MAX = 366 * 24 * 3_600_000;

/** What a job says of itself after its claimant fell silent. */
export const CLAIM_EXPIRED = "the claim ran out: its worker fell silent";

/** What names a claim. */
export interface JobClaim {
  readonly jobId: string;
  /** The epoch of the run that this claim took. */
  readonly claimEpoch: number;
}

/** A job as `dequeue` hands it out. */
export interface ClaimedJob extends JobClaim, WorkflowCommand {
  readonly workerId: string;
  /** Deliveries that failed or were lost before this one. */
  readonly attempts: number;
  /** Milliseconds since 1970. */
  readonly visibleUntil: number;
}

/** A job as diagnostics see it. */
export interface JobRecord {
  readonly jobId: string;
  /** Null for a job whose data is no command: a dead letter once somebody came across it. */
  readonly command: WorkflowCommand | null;
  readonly status: JobStatus;
  readonly attempts: number;
  /** Of the last claim; 0 when there was none. */
  readonly claimEpoch: number;
  readonly workerId: string | null;
  /** Only while active. */
  readonly visibleUntil: number | null;
  readonly error: string | null;
}

/** Why a call about a claim changed nothing. */
export type Refusal =
  | { readonly outcome: "refused"; readonly reason: "JOB_NOT_FOUND" }
  /** The claim is over: the job is another's by now, or waits again. */
  | { readonly outcome: "refused"; readonly reason: "STALE_CLAIM"; readonly status: JobStatus }
  /** The claim is the last one, but the job is in no state that this call leads out of. */
  | { readonly outcome: "refused"; readonly reason: "NOT_ALLOWED"; readonly status: JobStatus };

export type Settlement = { readonly outcome: "done"; readonly status: JobStatus } | Refusal;
export type Heartbeat = { readonly outcome: "done"; readonly visibleUntil: number } | Refusal;

export interface JobCounts {
  readonly waiting: number;
  readonly active: number;
  readonly paused: number;
  readonly dead_letter: number;
}

/** What `reclaimExpired` did. */
export interface Reclaimed {
  readonly waiting: number;
  readonly dead_letter: number;
}

/** A command as it is enqueued: what has a default may be left out. */
export type NewCommand = Omit<WorkflowCommand, "priority" | "maxAttempts" | "tenantId"> &
  Partial<Pick<WorkflowCommand, "priority" | "maxAttempts" | "tenantId">>;

export interface WorkflowQueue {
  /** Adds a job and gives its id. @throws INPUT_INVALID naming every field at fault */
  enqueue(command: NewCommand): Promise<string>;
  /** Claims the job that is next: lowest priority number first, then first come. Null when none waits. */
  dequeue(workerId: string): Promise<ClaimedJob | null>;
  ack(claim: JobClaim): Promise<Settlement>;
  /** Counts an attempt; the job waits again (`retryAfterMs` at least), or is a dead letter. */
  nack(claim: JobClaim, error: string, retryAfterMs?: number): Promise<Settlement>;
  /**
   * Lets the claim live for so long from now on; without a time, as long as a new claim. 0 lets it go: it is over at the
   * next `reclaimExpired`, and the delivery does not count.
   */
  heartbeat(claim: JobClaim, extendMs?: number): Promise<Heartbeat>;
  /** Pauses the job without counting an attempt; nobody is given it again. What goes on is another command. */
  release(claim: JobClaim): Promise<Settlement>;
  /** Takes back what nobody holds any more, whoever held it; the longest expired first, a bounded number at once. */
  reclaimExpired(): Promise<Reclaimed>;
  getJob(jobId: string): Promise<JobRecord | undefined>;
  getQueueDepth(): Promise<JobCounts>;
  /** Calls back when jobs may have begun to wait: a hint, for whoever polls as well. The answer stops it. */
  watch?(onJobs: () => void): () => void;
}

/** What went wrong, as it is kept: of bounded length, and without what a database cannot hold. */
export const errorText = (error: string): string =>
  error.replaceAll("\0", "").toWellFormed().slice(0, ERROR_LENGTH_MAX);

/** Whether this can name a claim at all. */
export const isClaim = ({ jobId, claimEpoch }: JobClaim): boolean =>
  isUuid(jobId) && Number.isSafeInteger(claimEpoch);

/** A time from now, in whole milliseconds. @throws INPUT_INVALID */
export function checkMs(field: string, ms: number): number {
  if (!Number.isFinite(ms) || ms < 0 || ms > MS_MAX)
    throw invalidField(field, "OUT_OF_RANGE", `must be from 0 to ${MS_MAX} ms`);
  return Math.ceil(ms);
}

/** What a call about a claim is answered with, by where its job stands. */
export function refusalOf(
  found: { readonly status: JobStatus; readonly claimEpoch: number } | undefined,
  claim: JobClaim,
): Refusal {
  if (found === undefined) return { outcome: "refused", reason: "JOB_NOT_FOUND" };
  const { status, claimEpoch } = found;
  const isOver = claimEpoch !== claim.claimEpoch || status === "waiting";
  return { outcome: "refused", reason: isOver ? "STALE_CLAIM" : "NOT_ALLOWED", status };
}
