// A worker: the session of one executor process, with its parts. About handlers it knows only how to run an attempt.

import type { EngineError } from "@pawl/core/fault/engine-error";
import type { Timers } from "@pawl/platform/lifecycle/timers";
import { Assignments } from "./assignments.ts";
import type { RunAttempt } from "../run/run-attempt.ts";
import { SETTLE_MS, drain } from "./drain.ts";
import { Outbox } from "./outbox.ts";
import type { WorkerItemInit } from "./fenced-writer.ts";
import { Renew } from "./renew.ts";
import { Session, type WorkStream } from "./session.ts";
import { Capacity } from "./capacity.ts";
import { WorkerEvents } from "@pawl/platform/queue/worker-events";

export interface WorkerOptions {
  /** UUID of the executor, the same for the whole life of the process. */
  readonly executorId: string;
  /** UUID of this process: only the same process may take its id over from an older connection at once. */
  readonly instanceId?: string;
  /** Allows built-in node types, if the scheduler asks for a token. */
  readonly token?: string;
  readonly nodeTypes: readonly string[];
  /** How many attempts run at once. */
  readonly capacity: number;
  /** How long running attempts may continue after a stop was asked for. */
  readonly graceMs: number;
  /** How long outcomes may take to be acknowledged during a stop; 2 s by default. */
  readonly settleMs?: number;
  /** Free text for people: name, version, language. */
  readonly description: string;
  readonly connect: () => WorkStream;
  readonly run: RunAttempt;
  /** For repeats; the system's timers by default. */
  readonly timers?: Timers;
  readonly onRegistered?: (schedulerId: string) => void;
  readonly onDisconnected?: (error: EngineError | undefined) => void;
}

export class Worker {
  readonly events = new WorkerEvents();
  readonly #options: WorkerOptions;
  readonly #capacity: Capacity;
  readonly #outbox: Outbox;
  readonly #assignments: Assignments;
  readonly #session: Session;
  readonly #renew: Renew;
  #stopped: Promise<void> | undefined;
  /** The scheduler refused an executor without slots. */
  #isZeroRefused = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#capacity = new Capacity(options.capacity);
    this.#outbox = new Outbox(() => this.#session.wake(), options.timers);
    const { events } = this;
    const shared = { outbox: this.#outbox, capacity: this.#capacity, events };
    this.#assignments = new Assignments({ ...shared, run: options.run });
    this.#session = new Session({
      connect: options.connect,
      outbox: this.#outbox,
      register: () => this.#register(),
      onItem: this.#assignments.onItem,
      onRegistered: (registered) => {
        this.#renew.adopt(registered);
        options.onRegistered?.(registered.schedulerId);
      },
      onDisconnected: (error) => {
        if (this.#capacity.isClosed && error?.reason === "INPUT_INVALID")
          this.#isZeroRefused = true;
        options.onDisconnected?.(error);
      },
    });
    this.#renew = new Renew({
      outbox: this.#outbox,
      isRegistered: () => this.#session.isRegistered,
      lastHeardAt: () => this.#session.lastHeardAt,
      onSilent: () => this.#session.giveUp(),
    });
  }

  /** Attempts running now. */
  get busyCount(): number {
    return this.#capacity.used;
  }

  get isRegistered(): boolean {
    return this.#session.isRegistered;
  }

  /** Why the scheduler refused this executor last time. */
  get refusal(): EngineError | undefined {
    return this.#session.refusal;
  }

  /** True if claims may have been lost without a message. */
  get isUncertain(): boolean {
    return this.#outbox.size > 0 && this.#renew.isUncertain;
  }

  /** Connects and takes work until `stop`. */
  start(): void {
    this.#session.start();
    this.events.emit("worker:started", { workerId: this.#options.executorId });
  }

  /** Drains and leaves; every call returns the same promise. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    const parts = {
      capacity: this.#capacity,
      assignments: this.#assignments,
      outbox: this.#outbox,
      session: this.#session,
      register: () => this.#register(),
    };
    const { graceMs, settleMs = SETTLE_MS } = this.#options;
    await drain(parts, { graceMs, settleMs });
    this.#renew.stop();
    this.#outbox.stop();
    this.events.emit("worker:stopped", { workerId: this.#options.executorId });
  }

  #register(): WorkerItemInit {
    const { executorId, instanceId = "", token = "", nodeTypes, description } = this.#options;
    const held = [...this.#outbox.held()];
    const value = {
      executorId,
      nodeTypes: [...nodeTypes],
      slots: this.#slotsToOffer(held),
      held,
      description,
      instanceId,
      token,
    };
    return { item: { case: "register", value } };
  }

  /** While the executor leaves: none, or the number of held claims if the scheduler refused none. Either leaves no credit. */
  #slotsToOffer(held: readonly unknown[]): number {
    if (!this.#capacity.isClosed) return this.#capacity.total;
    return this.#isZeroRefused ? Math.max(1, held.length) : 0;
  }
}
