// The waiting room of the memory store: jobs by node type and priority, in turns of their shares within one priority, each
// visible once its delay is over by the store's clock.

import { jobId } from "./job-id.ts";
import { Turns } from "./turns.ts";
import type { DroppedJob, Job, NewJob, QueueDepth } from "./queue.ts";

export interface WaitingJob extends Job {
  readonly priority: number;
  /** Before all times for a job without a delay: it may always be taken, whatever the clock does. */
  readonly readyAt: number;
  readonly queuedAt: number;
  readonly rank: number;
}

/** Committed jobs. Maps keep insertion order, which is the order of arrival. */
export class MemoryJobs {
  readonly turns = new Turns();
  readonly #rooms = new Map<string, Map<number, Map<string, WaitingJob>>>();

  /** The job of this id in the queue of a type. */
  find(nodeType: string, id: string): WaitingJob | undefined {
    for (const queue of this.#rooms.get(nodeType)?.values() ?? []) {
      const job = queue.get(id);
      if (job !== undefined) return job;
    }
    return undefined;
  }

  /** Priorities with jobs of a type. */
  priorities(nodeType: string): Iterable<number> {
    return this.#rooms.get(nodeType)?.keys() ?? [];
  }

  /** Jobs of one type and priority in order of arrival. */
  of(nodeType: string, priority: number): Iterable<WaitingJob> {
    return this.#rooms.get(nodeType)?.get(priority)?.values() ?? [];
  }

  all(): WaitingJob[] {
    return [...this.#rooms.values()].flatMap((room) =>
      [...room.values()].flatMap((queue) => [...queue.values()]),
    );
  }

  add(job: WaitingJob): void {
    const room = this.#rooms.get(job.nodeType) ?? new Map<number, Map<string, WaitingJob>>();
    const queue = room.get(job.priority) ?? new Map<string, WaitingJob>();
    this.#rooms.set(job.nodeType, room.set(job.priority, queue.set(job.jobId, job)));
  }

  remove(job: WaitingJob): void {
    const room = this.#rooms.get(job.nodeType);
    const queue = room?.get(job.priority);
    queue?.delete(job.jobId);
    if (queue?.size === 0) room?.delete(job.priority);
  }

  depths(now: number): QueueDepth[] {
    return [...this.#rooms].map(([nodeType, room]) => {
      const jobs = [...room.values()].flatMap((queue) => [...queue.values()]);
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

/** The waiting room as one transaction sees it. */
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
    const taken: Job[] = [];
    for (const job of this.#ready(nodeType)) {
      if (taken.length >= count) break;
      this.#remove(job);
      const { priority: _priority, readyAt: _readyAt, queuedAt: _queuedAt, rank, ...own } = job;
      this.#jobs.turns.served(nodeType, rank);
      taken.push(own);
    }
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

  *#ready(nodeType: string): Iterable<WaitingJob> {
    const own = [...this.#added].filter((job) => job.nodeType === nodeType);
    const priorities = [...this.#jobs.priorities(nodeType), ...own.map((job) => job.priority)];
    for (const priority of [...new Set(priorities)].toSorted((a, b) => a - b)) {
      const waiting = [...this.#jobs.of(nodeType, priority), ...own].filter(
        (job) => job.priority === priority && this.#isFree(job),
      );
      yield* waiting.toSorted((a, b) => a.rank - b.rank);
    }
  }

  #isFree(job: WaitingJob): boolean {
    return job.readyAt <= this.#now && !this.#taken.has(job);
  }
}
