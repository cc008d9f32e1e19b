// Takes commands from a workflow queue and runs them: claims, heartbeats, results, and an orderly stop.
//
// Races. Another worker takes the claim while the job runs: the queue refuses the heartbeat or the next call, and the worker aborts the job
// and sends nothing more about it. A job is claimed while the worker stops: the worker gives it back at once. The queue is down: the claim
// ends, and the job runs again in another worker under a newer epoch.

import { EngineError } from "@pawl/core/fault/engine-error";
import type { Cancel } from "../lifecycle/timers.ts";
import {
  checkWorkerOptions,
  type QueueWorkerOptions,
  type RestStatus,
  type WorkerSettings,
} from "./queue-worker-options.ts";
import { WorkerEvents } from "./worker-events.ts";
import type { ClaimedJob, Heartbeat, Settlement } from "./workflow-queue.ts";

/** A job that this worker runs. */
interface Held {
  readonly job: ClaimedJob;
  readonly finish: AbortController;
  readonly abort: AbortController;
  /** The worker is ending the claim, so a refused heartbeat has no meaning. */
  isSettling: boolean;
  /** Another worker has the claim, so this worker sends nothing more about it. */
  isLost: boolean;
  done: Promise<void>;
}

export class QueueWorker<Persistence, EventLog> {
  readonly events = new WorkerEvents();
  readonly #settings: WorkerSettings<Persistence, EventLog>;
  readonly #held = new Set<Held>();
  readonly #cancels = new Set<Cancel>();
  #state: "new" | "running" | "stopping" = "new";
  #filling: Promise<void> | undefined;
  #isAskedAgain = false;
  #stopped: Promise<void> | undefined;

  /** @throws INPUT_INVALID naming every option that is missing or out of range */
  constructor(options: QueueWorkerOptions<Persistence, EventLog>) {
    this.#settings = checkWorkerOptions(options);
  }

  get workerId(): string {
    return this.#settings.workerId;
  }

  /** How many jobs run. */
  get busyCount(): number {
    return this.#held.size;
  }

  /** Begins to take jobs. A second call does nothing. */
  start(): void {
    if (this.#state !== "new") return;
    this.#state = "running";
    const { queue, pollIntervalMs, reclaimIntervalMs, heartbeatIntervalMs } = this.#settings;
    this.events.emit("worker:started", { workerId: this.workerId });
    const unwatch = queue.watch?.(() => this.wake());
    if (unwatch !== undefined) this.#cancels.add(unwatch);
    this.#every(pollIntervalMs, () => this.#fill());
    this.#every(reclaimIntervalMs, () => this.#reclaim());
    this.#every(heartbeatIntervalMs, () => this.#heartbeat());
    void this.#reclaim().then(() => this.#fill());
  }

  /** Looks for jobs now. */
  wake(): void {
    void this.#fill();
  }

  /** Stops in good order. Every call returns the same promise. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    const { shutdownGracePeriodMs, abortSettleMs } = this.#settings;
    this.#state = "stopping";
    await this.#filling;
    for (const { finish } of this.#held) finish.abort(new Error("the worker stops"));
    await this.#rested(shutdownGracePeriodMs);
    for (const { abort } of this.#held) abort.abort(new Error("the grace period is over"));
    // A job that still runs is not given back. It stays active until its claim ends.
    await this.#rested(abortSettleMs);
    for (const cancel of this.#cancels) cancel();
    this.events.emit("worker:stopped", { workerId: this.workerId });
  }

  /** Waits until no job runs, but at most this long. */
  async #rested(ms: number): Promise<void> {
    if (this.#held.size === 0) return;
    const { promise: isOver, resolve } = Promise.withResolvers<void>();
    const cancel = this.#settings.timers.after(ms, resolve);
    await Promise.race([isOver, Promise.all([...this.#held].map(({ done }) => done))]);
    cancel();
  }

  #every(ms: number, duty: () => Promise<void>): void {
    const { timers } = this.#settings;
    let isOver = false;
    let cancel: Cancel = () => undefined;
    const arm = (): void => {
      if (!isOver) cancel = timers.after(ms, () => void duty().finally(arm));
    };
    arm();
    this.#cancels.add(() => {
      isOver = true;
      cancel();
    });
  }

  /** Takes jobs while there is room. A call meanwhile makes it look once more. */
  async #fill(): Promise<void> {
    this.#isAskedAgain = true;
    this.#filling ??= this.#take().finally(() => {
      this.#filling = undefined;
      // A call came between the last look and now.
      if (this.#isAskedAgain && this.#state === "running") void this.#fill();
    });
    await this.#filling;
  }

  async #take(): Promise<void> {
    const { queue, concurrency, onError } = this.#settings;
    try {
      while (this.#isAskedAgain && this.#state === "running") {
        this.#isAskedAgain = false;
        while (this.#state === "running" && this.#held.size < concurrency) {
          const job = await queue.dequeue(this.workerId);
          if (job === null) break;
          this.#hold(job);
        }
      }
    } catch (error) {
      // The next poll tries again. Calls that came meanwhile must not make it try at once for ever.
      this.#isAskedAgain = false;
      onError(error);
    }
  }

  #hold(job: ClaimedJob): void {
    const [finish, abort] = [new AbortController(), new AbortController()];
    const fresh = { isSettling: false, isLost: false, done: Promise.resolve() };
    const held: Held = { job, finish, abort, ...fresh };
    this.#held.add(held);
    this.events.emit("job:claimed", nameOf(job));
    // The worker stops, and the job has not begun, so the worker gives it back at once.
    const work = this.#state === "running" ? this.#run(held) : this.#giveBack(held);
    held.done = work.finally(() => {
      this.#held.delete(held);
      void this.#fill();
    });
  }

  async #run(held: Held): Promise<void> {
    const { queue, run, runnerOptionsFactory, persistence, eventLog } = this.#settings;
    const { job, finish, abort } = held;
    let status: RestStatus;
    try {
      const own = await runnerOptionsFactory?.(job);
      const signals = { finish: finish.signal, abort: abort.signal };
      status = await run(job, { persistence, eventLog, ...own }, signals);
    } catch (error) {
      await this.#failed(held, error);
      return;
    }
    if (status === "interrupted") return await this.#giveBack(held);
    const isPaused = status === "waiting";
    const done = await this.#end(held, () => (isPaused ? queue.release(job) : queue.ack(job)));
    if (done) this.events.emit(isPaused ? "job:released" : "job:completed", nameOf(job));
  }

  async #failed(held: Held, error: unknown): Promise<void> {
    const { queue, retryDelayMs } = this.#settings;
    const { job } = held;
    if (error instanceof EngineError && error.reason === "STALE_CLAIM") return this.#lose(held);
    // The worker aborted the job, so this was not a failed attempt.
    if (held.abort.signal.aborted) return await this.#giveBack(held);
    const message = error instanceof Error ? error.message : String(error);
    const delayMs = retryDelayMs(error, job.attempts + 1);
    const done = await this.#end(held, () => queue.nack(job, message, delayMs));
    if (done === undefined) return;
    const isDead = "status" in done && done.status === "dead_letter";
    const event = { ...nameOf(job), error: message };
    this.events.emit(isDead ? "job:dead_letter" : "job:failed", event);
    if (!isDead && delayMs > 0) this.#wakeAfter(delayMs);
  }

  #wakeAfter(ms: number): void {
    const cancel = this.#settings.timers.after(ms, () => {
      this.#cancels.delete(cancel);
      this.wake();
    });
    this.#cancels.add(cancel);
  }

  /** Ends the claim. The job stays active until the next reclaim takes it back, and the delivery does not count. */
  async #giveBack(held: Held): Promise<void> {
    await this.#end(held, () => this.#settings.queue.heartbeat(held.job, 0));
  }

  /** Ends a claim. Undefined if another worker has it, or if the queue did not answer. */
  async #end(held: Held, call: () => Promise<Settlement | Heartbeat>) {
    if (held.isLost) return undefined;
    held.isSettling = true;
    try {
      const answer = await call();
      if (answer.outcome === "done") return answer;
      this.#lose(held);
    } catch (error) {
      this.#settings.onError(error);
    }
    return undefined;
  }

  #lose(held: Held): void {
    if (held.isLost) return;
    held.isLost = true;
    held.abort.abort(new EngineError("STALE_CLAIM", "Another worker has the claim by now."));
    this.events.emit("job:claim_lost", nameOf(held.job));
  }

  async #heartbeat(): Promise<void> {
    const { queue, onError } = this.#settings;
    const renew = async (held: Held): Promise<void> => {
      const { outcome } = await queue.heartbeat(held.job);
      if (outcome === "refused" && !held.isSettling) this.#lose(held);
    };
    const renewed = [...this.#held].filter(({ isLost, isSettling }) => !isLost && !isSettling);
    await Promise.all(renewed.map((held) => renew(held).catch(onError)));
  }

  async #reclaim(): Promise<void> {
    const { queue, onError } = this.#settings;
    if (this.#state !== "running") return;
    const reclaimed = await queue.reclaimExpired().catch(onError);
    if (reclaimed !== undefined && reclaimed.waiting > 0) this.wake();
  }
}

const nameOf = ({ jobId, runId }: ClaimedJob) => ({ jobId, runId });
