// The waiting jobs of the memory store, by node type. A rank orders them: by priority, and within one priority by the turns of their shares. A
// job is visible once its delay is over by the store's clock.

import { Turns } from "./turns.ts";
import { type DroppedJob, type Job, jobId, type NewJob, type QueueDepth } from "./queue.ts";

interface WaitingJob extends Job {
  readonly priority: number;
  /** For a job without a delay, a time before all others. It may always be taken, also after the clock stepped back. */
  readonly readyAt: number;
  readonly queuedAt: number;
  readonly rank: number;
}

/** Committed jobs. Maps keep insertion order, which is the order of arrival. */
export class MemoryJobs {
  readonly turns = new Turns();
  readonly #queues = new Map<string, Map<string, WaitingJob>>();

  find(nodeType: string, id: string): WaitingJob | undefined {
    return this.#queues.get(nodeType)?.get(id);
  }

  /** Jobs of one type in order of arrival. */
  of(nodeType: string): Iterable<WaitingJob> {
    return this.#queues.get(nodeType)?.values() ?? [];
  }

  all(): WaitingJob[] {
    return [...this.#queues.values()].flatMap((queue) => [...queue.values()]);
  }

  add(job: WaitingJob): void {
    const queue = this.#queues.get(job.nodeType) ?? new Map<string, WaitingJob>();
    this.#queues.set(job.nodeType, queue.set(job.jobId, job));
  }

  remove(job: WaitingJob): void {
    this.#queues.get(job.nodeType)?.delete(job.jobId);
  }

  depths(now: number): QueueDepth[] {
    return [...this.#queues].map(([nodeType, queue]) => {
      const jobs = [...queue.values()];
      const waitingCount = jobs.length;
      if (waitingCount === 0) return { nodeType, waitingCount };
      const least = (of: (job: WaitingJob) => number): number =>
        jobs.reduce((before, job) => Math.min(before, of(job)), Infinity);
      const dueAt = least((job) => job.readyAt);
      const since = least((job) => Math.max(job.readyAt, job.queuedAt));
      const dueInMs = Math.max(0, dueAt - now);
      return { nodeType, waitingCount, dueInMs, ageMs: Math.max(0, now - since) };
    });
  }
}

/** The waiting jobs that one transaction sees. */
export class StagedJobs {
  readonly #jobs: MemoryJobs;
  readonly #now: number;
  readonly #added = new Set<WaitingJob>();
  readonly #taken = new Set<WaitingJob>();

  constructor(jobs: MemoryJobs, now: number) {
    this.#jobs = jobs;
    this.#now = now;
  }

  add(job: NewJob): void {
    const { runId, nodeId, iteration, attempt, nodeType, priority, delayMs } = job;
    const readyAt = delayMs === undefined ? -Infinity : this.#now + delayMs;
    const id = jobId(job);
    const rank = this.#jobs.turns.rankOf(job);
    if (this.#find(nodeType, id) !== undefined) return;
    const key = { runId, nodeId, iteration, attempt };
    const granted = job.isGranted === true ? { isGranted: true } : {};
    const when = { readyAt, queuedAt: this.#now };
    this.#added.add({ jobId: id, ...key, nodeType, priority, ...when, rank, ...granted });
  }

  drop(job: DroppedJob): void {
    const found = this.#find(job.nodeType, jobId(job));
    if (found !== undefined) this.#remove(found);
  }

  take(nodeType: string, count: number): Job[] {
    const ready = [...this.#jobs.of(nodeType), ...this.#added].filter(
      (job) => job.nodeType === nodeType && job.readyAt <= this.#now && !this.#taken.has(job),
    );
    const chosen = ready.toSorted((a, b) => a.rank - b.rank).slice(0, count);
    const taken = chosen.map((job) => {
      this.#remove(job);
      const { priority: _priority, readyAt: _readyAt, queuedAt: _queuedAt, rank, ...own } = job;
      this.#jobs.turns.served(nodeType, rank);
      return own;
    });
    if (taken.length < count) this.#jobs.turns.emptied(nodeType);
    return taken;
  }

  /** Commits. */
  apply(): void {
    for (const job of this.#taken) this.#jobs.remove(job);
    for (const job of this.#added) this.#jobs.add(job);
  }

  #find(nodeType: string, id: string): WaitingJob | undefined {
    for (const job of this.#added) if (job.nodeType === nodeType && job.jobId === id) return job;
    const job = this.#jobs.find(nodeType, id);
    return job === undefined || this.#taken.has(job) ? undefined : job;
  }

  #remove(job: WaitingJob): void {
    if (!this.#added.delete(job)) this.#taken.add(job);
  }
}
