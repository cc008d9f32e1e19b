// The workflow queue in memory, for tests: no service uses it. It keeps the same promises as the queue on PostgreSQL; test/conformance
// compares the two. No call waits, so no call sees another one half done.

import { checkCommand, type WorkflowCommand } from "./workflow-command.ts";
import {
  type Change,
  checkMs,
  CLAIM_EXPIRED,
  type ClaimedJob,
  DEFAULT_VISIBILITY_MS,
  type EnqueueOptions,
  errorText,
  type Heartbeat,
  isClaim,
  type JobClaim,
  type JobCounts,
  type JobQuestion,
  type JobRecord,
  type JobStatus,
  type ListedJob,
  type NewCommand,
  type Reclaimed,
  refusalOf,
  type Settlement,
  unchanged,
  type WorkflowQueue,
  type WorkflowQueueOptions,
} from "./workflow-queue.ts";

interface Row {
  readonly jobId: string;
  readonly command: WorkflowCommand;
  status: JobStatus;
  attempts: number;
  claimEpoch: number;
  workerId: string | null;
  visibleUntil: number;
  isGivenBack: boolean;
  error: string | null;
  /** The position among waiting jobs. A job that waits again gets a new one. */
  arrival: number;
  readyAt: number;
  readonly enqueuedAt: number;
  /** The place in the list of all jobs. */
  readonly place: number;
  redriveRequest: string | null;
}

export class MemoryWorkflowQueue implements WorkflowQueue {
  readonly #now: () => number;
  readonly #newId: () => string;
  readonly #visibilityMs: number;
  readonly #rows = new Map<string, Row>();
  readonly #epochs = new Map<string, number>();
  readonly #watchers = new Set<() => void>();
  #arrivals = 0;

  constructor(options: WorkflowQueueOptions = {}) {
    this.#now = options.now ?? Date.now;
    this.#newId = options.newId ?? (() => crypto.randomUUID());
    this.#visibilityMs = options.visibilityTimeoutMs ?? DEFAULT_VISIBILITY_MS;
  }

  async enqueue(input: NewCommand, options: EnqueueOptions = {}): Promise<string> {
    const { jobId = this.#newId(), delayMs = 0 } = options;
    const command = checkCommand(input, jobId);
    const readyAt = this.#now() + checkMs("delay_ms", delayMs);
    if (this.#rows.has(jobId)) return jobId;
    const unclaimed = { claimEpoch: 0, workerId: null, visibleUntil: 0, isGivenBack: false };
    const arrival = this.#arrive();
    const fresh = { attempts: 0, error: null, arrival, place: arrival, enqueuedAt: this.#now() };
    const row = { jobId, command, status: "waiting", readyAt, ...unclaimed, ...fresh } as const;
    this.#rows.set(jobId, { ...row, redriveRequest: null });
    return jobId;
  }

  async dequeue(workerId: string): Promise<ClaimedJob | null> {
    const now = this.#now();
    const ready = this.#all("waiting").filter(({ readyAt }) => readyAt <= now);
    const [row] = ready.toSorted(
      (a, b) => a.command.priority - b.command.priority || a.arrival - b.arrival,
    );
    if (row === undefined) return null;
    const { jobId, attempts, command } = row;
    const claimEpoch = (this.#epochs.get(command.runId) ?? 0) + 1;
    this.#epochs.set(command.runId, claimEpoch);
    const visibleUntil = now + this.#visibilityMs;
    Object.assign(row, { status: "active", workerId, claimEpoch, visibleUntil });
    row.isGivenBack = false;
    return { ...copyOf(command), jobId, claimEpoch, workerId, attempts, visibleUntil };
  }

  async ack(claim: JobClaim): Promise<Settlement> {
    return this.#settle(claim, ["active", "paused"], (row) => void (row.status = "completed"));
  }

  async nack(claim: JobClaim, error: string, retryAfterMs = 0): Promise<Settlement> {
    const afterMs = checkMs("retry_after_ms", retryAfterMs);
    return this.#settle(claim, ["active"], (row) => this.#fail(row, errorText(error), afterMs));
  }

  async heartbeat(claim: JobClaim, extendMs = this.#visibilityMs): Promise<Heartbeat> {
    const visibleUntil = this.#now() + checkMs("extend_ms", extendMs);
    const settled = this.#settle(claim, ["active"], (row) => {
      row.visibleUntil = visibleUntil;
      row.isGivenBack = extendMs === 0;
    });
    return settled.outcome === "done" ? { outcome: "done", visibleUntil } : settled;
  }

  async release(claim: JobClaim): Promise<Settlement> {
    return this.#settle(claim, ["active"], (row) => void (row.status = "paused"));
  }

  async reclaimExpired(): Promise<Reclaimed> {
    const now = this.#now();
    const expired = this.#all("active")
      .filter((row) => row.visibleUntil <= now)
      .toSorted((a, b) => a.visibleUntil - b.visibleUntil || (a.jobId < b.jobId ? -1 : 1));
    for (const row of expired) {
      if (row.isGivenBack) this.#wait(row, 0);
      else this.#fail(row, CLAIM_EXPIRED, 0);
    }
    const dead = expired.filter((row) => row.status === "dead_letter").length;
    return { waiting: expired.length - dead, dead_letter: dead };
  }

  async cancel(jobId: string): Promise<Change> {
    return this.#change(jobId, "waiting", "cancelled");
  }

  async redrive(jobId: string, requestId: string): Promise<Change> {
    const row = this.#rows.get(jobId);
    if (row?.status !== "dead_letter")
      return row?.redriveRequest === requestId
        ? { outcome: "done", status: row.status }
        : unchanged(row?.status);
    Object.assign(row, { attempts: 0, redriveRequest: requestId });
    this.#wait(row, 0);
    return { outcome: "done", status: row.status };
  }

  async discard(jobId: string): Promise<Change> {
    return this.#change(jobId, "dead_letter", "discarded");
  }

  #change(jobId: string, from: JobStatus, to: JobStatus): Change {
    const row = this.#rows.get(jobId);
    if (row?.status === from) row.status = to;
    return row?.status === to ? { outcome: "done", status: to } : unchanged(row?.status);
  }

  async listJobs({ tenantId, statuses, after, limit }: JobQuestion): Promise<readonly ListedJob[]> {
    const found = [...this.#rows.values()].filter(
      ({ status, command, place }) =>
        statuses.includes(status) &&
        command.tenantId === tenantId &&
        (after === "" || place < Number(after)),
    );
    const jobs = found.toSorted((a, b) => b.place - a.place).slice(0, limit);
    return jobs.map((row) => ({
      ...recordOf(row),
      enqueuedAt: row.enqueuedAt,
      dueAt: row.status === "waiting" ? row.readyAt : null,
      place: String(row.place),
    }));
  }

  async getJob(jobId: string): Promise<JobRecord | undefined> {
    const row = this.#rows.get(jobId);
    return row && recordOf(row);
  }

  async getQueueDepth(): Promise<JobCounts> {
    return {
      waiting: this.#all("waiting").length,
      active: this.#all("active").length,
      paused: this.#all("paused").length,
      dead_letter: this.#all("dead_letter").length,
    };
  }

  watch(onJobs: () => void): () => void {
    this.#watchers.add(onJobs);
    return () => void this.#watchers.delete(onJobs);
  }

  #all(status: JobStatus): Row[] {
    return [...this.#rows.values()].filter((row) => row.status === status);
  }

  #settle(claim: JobClaim, from: readonly JobStatus[], change: (row: Row) => void): Settlement {
    const row = isClaim(claim) ? this.#rows.get(claim.jobId) : undefined;
    if (row?.claimEpoch !== claim.claimEpoch || !from.includes(row.status))
      return refusalOf(row?.claimEpoch === 0 ? undefined : row, claim);
    change(row);
    return { outcome: "done", status: row.status };
  }

  #fail(row: Row, error: string, afterMs: number): void {
    row.attempts += 1;
    row.error = error;
    if (row.attempts >= row.command.maxAttempts) row.status = "dead_letter";
    else this.#wait(row, afterMs);
  }

  #wait(row: Row, afterMs: number): void {
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

function recordOf(row: Row): JobRecord {
  const { jobId, status, attempts, claimEpoch, workerId, error } = row;
  const visibleUntil = status === "active" ? row.visibleUntil : null;
  const command = copyOf(row.command);
  return { jobId, status, attempts, claimEpoch, workerId, visibleUntil, error, command };
}

/** A copy through JSON, as in the queue on PostgreSQL. So a caller cannot change a command that is stored here. */
const copyOf = (command: WorkflowCommand): WorkflowCommand =>
  JSON.parse(JSON.stringify(command)) as WorkflowCommand;
