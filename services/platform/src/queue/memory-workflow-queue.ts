// The workflow queue in memory: for a single process, and for tests of whatever uses a queue. It keeps the same promises as
// the one on Postgres (test/conformance holds the two together). Nothing here waits, so every call is whole by itself.

import {
  checkMs,
  CLAIM_EXPIRED,
  DEFAULT_VISIBILITY_MS,
  errorText,
  isClaim,
  type ClaimedJob,
  type Heartbeat,
  type JobClaim,
  type JobCounts,
  type JobRecord,
  type JobStatus,
  type NewCommand,
  type Reclaimed,
  refusalOf,
  type Settlement,
  type WorkflowQueue,
} from "./workflow-queue.ts";
import { checkCommand, type WorkflowCommand } from "./workflow-command.ts";

interface Row {
  readonly jobId: string;
  readonly command: WorkflowCommand;
  status: JobStatus;
  attempts: number;
  claimEpoch: number;
  workerId: string | null;
  visibleUntil: number;
  isLetGo: boolean;
  error: string | null;
  /** Position among those that wait; renewed when it waits again. */
  arrival: number;
  readyAt: number;
}

export interface MemoryWorkflowQueueOptions {
  readonly now?: () => number;
  readonly newId?: () => string;
  readonly visibilityTimeoutMs?: number;
}

export class MemoryWorkflowQueue implements WorkflowQueue {
  readonly #now: () => number;
  readonly #newId: () => string;
  readonly #visibilityMs: number;
  readonly #rows = new Map<string, Row>();
  readonly #epochs = new Map<string, number>();
  readonly #watchers = new Set<() => void>();
  #arrivals = 0;

  constructor(options: MemoryWorkflowQueueOptions = {}) {
    this.#now = options.now ?? Date.now;
    this.#newId = options.newId ?? (() => crypto.randomUUID());
    this.#visibilityMs = options.visibilityTimeoutMs ?? DEFAULT_VISIBILITY_MS;
  }

  async enqueue(input: NewCommand): Promise<string> {
    const jobId = this.#newId();
    const command = checkCommand(input, jobId);
    this.#rows.set(jobId, {
      jobId,
      command,
      status: "waiting",
      attempts: 0,
      claimEpoch: 0,
      workerId: null,
      visibleUntil: 0,
      isLetGo: false,
      error: null,
      arrival: this.#arrive(),
      readyAt: this.#now(),
    });
    return jobId;
  }

  async dequeue(workerId: string): Promise<ClaimedJob | null> {
    const now = this.#now();
    const ready = [...this.#rows.values()].filter(
      (row) => row.status === "waiting" && row.readyAt <= now,
    );
    const [row] = ready.toSorted(
      (a, b) => a.command.priority - b.command.priority || a.arrival - b.arrival,
    );
    if (row === undefined) return null;
    const { runId } = row.command;
    const claimEpoch = (this.#epochs.get(runId) ?? 0) + 1;
    this.#epochs.set(runId, claimEpoch);
    const visibleUntil = now + this.#visibilityMs;
    Object.assign(row, { status: "active", workerId, claimEpoch, visibleUntil, isLetGo: false });
    const { jobId, attempts, command } = row;
    return { ...copyOf(command), jobId, claimEpoch, workerId, attempts, visibleUntil };
  }

  async ack(claim: JobClaim): Promise<Settlement> {
    return this.#settle(claim, ["active", "paused"], (row) => {
      row.status = "completed";
    });
  }

  async nack(claim: JobClaim, error: string, retryAfterMs = 0): Promise<Settlement> {
    const afterMs = checkMs("retry_after_ms", retryAfterMs);
    return this.#settle(claim, ["active"], (row) => {
      row.attempts += 1;
      row.error = errorText(error);
      this.#comeBack(row, afterMs);
    });
  }

  async heartbeat(claim: JobClaim, extendMs = this.#visibilityMs): Promise<Heartbeat> {
    const visibleUntil = this.#now() + checkMs("extend_ms", extendMs);
    const settled = this.#settle(claim, ["active"], (row) => {
      Object.assign(row, { visibleUntil, isLetGo: extendMs === 0 });
    });
    return settled.outcome === "done" ? { outcome: "done", visibleUntil } : settled;
  }

  async release(claim: JobClaim): Promise<Settlement> {
    return this.#settle(claim, ["active"], (row) => {
      row.status = "paused";
    });
  }

  async reclaimExpired(): Promise<Reclaimed> {
    const now = this.#now();
    const expired = [...this.#rows.values()]
      .filter((row) => row.status === "active" && row.visibleUntil <= now)
      .toSorted((a, b) => a.visibleUntil - b.visibleUntil || (a.jobId < b.jobId ? -1 : 1));
    for (const row of expired) {
      if (!row.isLetGo) {
        row.attempts += 1;
        row.error = CLAIM_EXPIRED;
      }
      this.#comeBack(row, 0);
    }
    const dead = expired.filter((row) => row.status === "dead_letter").length;
    return { waiting: expired.length - dead, dead_letter: dead };
  }

  async getJob(jobId: string): Promise<JobRecord | undefined> {
    const row = this.#rows.get(jobId);
    if (row === undefined) return undefined;
    const { command, status, attempts, claimEpoch, workerId, error } = row;
    const visibleUntil = status === "active" ? row.visibleUntil : null;
    const known = { jobId, status, attempts, claimEpoch, workerId, visibleUntil, error };
    return { ...known, command: copyOf(command) };
  }

  async getQueueDepth(): Promise<JobCounts> {
    const rows = [...this.#rows.values()];
    const count = (status: JobStatus): number => rows.filter((row) => row.status === status).length;
    return {
      waiting: count("waiting"),
      active: count("active"),
      paused: count("paused"),
      dead_letter: count("dead_letter"),
    };
  }

  watch(onJobs: () => void): () => void {
    this.#watchers.add(onJobs);
    return () => void this.#watchers.delete(onJobs);
  }

  #settle(claim: JobClaim, from: readonly JobStatus[], change: (row: Row) => void): Settlement {
    const row = isClaim(claim) ? this.#rows.get(claim.jobId) : undefined;
    if (row?.claimEpoch !== claim.claimEpoch || !from.includes(row.status))
      return refusalOf(row?.claimEpoch === 0 ? undefined : row, claim);
    change(row);
    return { outcome: "done", status: row.status };
  }

  #comeBack(row: Row, afterMs: number): void {
    if (row.attempts >= row.command.maxAttempts) {
      row.status = "dead_letter";
      return;
    }
    row.status = "waiting";
    row.readyAt = this.#now() + afterMs;
    row.arrival = this.#arrive();
  }

  #arrive(): number {
    this.#arrivals += 1;
    for (const onJobs of this.#watchers) queueMicrotask(onJobs);
    return this.#arrivals;
  }
}

/** A copy by way of JSON, as any other queue makes it: nobody changes a command behind its back. */
const copyOf = (command: WorkflowCommand): WorkflowCommand =>
  JSON.parse(JSON.stringify(command)) as WorkflowCommand;
