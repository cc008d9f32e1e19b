// Takes commands from a workflow queue and runs them: claims, heartbeats, what becomes of a job, and leaving in good order.
//
// Races it survives: a claim lost while its job runs (the heartbeat or the next call about it says so; the job is aborted and
// nothing is said of it again), a job claimed while the worker is being stopped (it is let go at once), a queue that is away
// (what could not be said is left to the claim's expiry, and runs again elsewhere under a newer epoch).

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

/** A job in hand. */
interface Held {
  readonly job: ClaimedJob;
  readonly finish: AbortController;
  readonly abort: AbortController;
  /** How it came to rest is being said: a heartbeat that comes too late for it means nothing. */
  isSettling: boolean;
  /** Somebody else's by now: nothing is said about it any more. */
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

  /** Jobs in hand. */
  get busyCount(): number {
    return this.#held.size;
  }

  /** Begins to take jobs; the second time nothing happens. */
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

  /** Looks for jobs now: for whoever knows that there are some. */
  wake(): void {
    void this.#fill();
  }

  /** Leaves in good order; the same promise however often it is asked. */
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
    // A job whose runner goes on all the same is not let go: it stays active, unrenewed, until its claim runs out.
    await this.#rested(abortSettleMs);
    for (const cancel of this.#cancels) cancel();
    this.events.emit("worker:stopped", { workerId: this.workerId });
  }

  /** Waits until nothing is in hand, at most so long. */
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

  /** Takes jobs while there is room; whoever asks meanwhile makes it look once more. */
  async #fill(): Promise<void> {
    this.#isAskedAgain = true;
    this.#filling ??= this.#take().finally(() => {
      this.#filling = undefined;
      // Asked between the last look and now.
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
      // The next poll tries again; whoever asked meanwhile must not make it try at once for ever.
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
    // Claimed while we were asked to stop: nothing of it has begun, so it goes back at once.
    const work = this.#state === "running" ? this.#run(held) : this.#letGo(held);
    held.done = work.finally(() => {
      this.#held.delete(held);
      void this.#fill();
    });
  }

  async #run(held: Held): Promise<void> {
    const { run, runnerOptionsFactory, persistence, eventLog } = this.#settings;
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
    await this.#settle(held, status);
  }

  async #settle(held: Held, status: RestStatus): Promise<void> {
    const { queue } = this.#settings;
    const { job } = held;
    if (status === "interrupted") {
      await this.#letGo(held);
    } else if (status === "waiting") {
      const said = await this.#say(held, () => queue.release(job));
      if (said) this.events.emit("job:released", nameOf(job));
    } else {
      const said = await this.#say(held, () => queue.ack(job));
      if (said) this.events.emit("job:completed", nameOf(job));
    }
  }

  async #failed(held: Held, error: unknown): Promise<void> {
    const { queue, retryDelayMs } = this.#settings;
    const { job } = held;
    if (error instanceof EngineError && error.reason === "STALE_CLAIM") return this.#lose(held);
    // Aborted by us: that was no attempt of the job's.
    if (held.abort.signal.aborted) return await this.#letGo(held);
    const message = error instanceof Error ? error.message : String(error);
    const delayMs = retryDelayMs(error, job.attempts + 1);
    const said = await this.#say(held, () => queue.nack(job, message, delayMs));
    if (said === undefined) return;
    const isDead = "status" in said && said.status === "dead_letter";
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

  /** The job stays active; its claim is over, and the next reclaim brings it back without counting the delivery. */
  async #letGo(held: Held): Promise<void> {
    await this.#say(held, () => this.#settings.queue.heartbeat(held.job, 0));
  }

  /** Says how a claim ends. Undefined when it is another's by now, or nobody could be told. */
  async #say<Said extends Settlement | Heartbeat>(
    held: Held,
    call: () => Promise<Said>,
  ): Promise<Extract<Said, { readonly outcome: "done" }> | undefined> {
    if (held.isLost) return undefined;
    held.isSettling = true;
    try {
      const said = await call();
      if (isDone(said)) return said;
      this.#lose(held);
    } catch (error) {
      this.#settings.onError(error);
    }
    return undefined;
  }

  #lose(held: Held): void {
    if (held.isLost) return;
    held.isLost = true;
    held.abort.abort(new EngineError("STALE_CLAIM", "The claim is somebody else's by now."));
    this.events.emit("job:claim_lost", nameOf(held.job));
  }

  async #heartbeat(): Promise<void> {
    await Promise.all([...this.#held].map((held) => this.#renew(held)));
  }

  async #renew(held: Held): Promise<void> {
    const { queue, onError } = this.#settings;
    if (held.isLost || held.isSettling) return;
    try {
      const { outcome } = await queue.heartbeat(held.job);
      if (outcome === "refused" && !held.isSettling) this.#lose(held);
    } catch (error) {
      onError(error);
    }
  }

  async #reclaim(): Promise<void> {
    if (this.#state !== "running") return;
    try {
      const { waiting } = await this.#settings.queue.reclaimExpired();
      if (waiting > 0) this.wake();
    } catch (error) {
      this.#settings.onError(error);
    }
  }
}

const nameOf = ({ jobId, runId }: ClaimedJob) => ({ jobId, runId });

const isDone = <Said extends { readonly outcome: string }>(
  said: Said,
): said is Extract<Said, { readonly outcome: "done" }> => said.outcome === "done";
