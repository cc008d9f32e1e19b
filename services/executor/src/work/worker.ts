// A worker: the session of one executor process, with its parts. About handlers it knows only how to run an attempt.
//
// How it stops: it takes no more tasks and lets running attempts finish within the grace period. Then it aborts the others and gives their
// claims back. It waits until its outcomes are acknowledged, and disconnects. A stop acknowledges nothing: each claim is reported,
// released, or ends with its lease. Every step is bounded, so a missing scheduler cannot hold the process.

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { EngineError } from "@pawl/core/fault/engine-error";
import { probe } from "@pawl/platform/lifecycle/probe";
import type {
  Claim,
  HandlerProcessSchema,
  NodeTypeDescriptorSchema,
  Registered,
} from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { Assignments } from "./assignments.ts";
import type { RunAttempt } from "../run/run-attempt.ts";
import { Outbox } from "./outbox.ts";
import { ANSWERS, type Silence, type WorkerItemInit } from "./fenced-writer.ts";
import { Renew } from "./renew.ts";
import { Session, type WorkStream } from "./session.ts";
import { Capacity } from "./capacity.ts";
import type { WebhookCaller } from "./webhook-caller.ts";
import { within } from "./within.ts";
import { WorkerEvents } from "@pawl/platform/queue/worker-events";

export interface WorkerOptions {
  /** UUID of the executor, the same for the whole life of the process. */
  readonly executorId: string;
  /** UUID of this process. Only the same process may take over its id from an older connection at once. */
  readonly instanceId?: string;
  /** Allows built-in node types, if the scheduler asks for a token. */
  readonly token?: string;
  readonly nodeTypes: readonly string[];
  /** How many attempts run at once. */
  readonly capacity: number;
  /** How long running attempts may continue after a stop. */
  readonly graceMs: number;
  /** How long outcomes may take to be acknowledged during a stop; default SETTLE_MS. */
  readonly settleMs?: number;
  /** Free text for people: name, version, language. */
  readonly description: string;
  /** The descriptions of the node types. */
  readonly descriptors?: MessageInitShape<typeof NodeTypeDescriptorSchema>[];
  /** The user's process that runs the handlers. None if this process runs them. */
  readonly process?: MessageInitShape<typeof HandlerProcessSchema>;
  /** How long that process has been silent, and may be. It answers by default. */
  readonly silence?: () => Silence;
  readonly connect: () => WorkStream;
  /** Makes webhook calls, so many at once. Only executors with the token may. */
  readonly webhooks?: {
    readonly slots: number;
    readonly open: (send: (item: WorkerItemInit) => void) => WebhookCaller;
  };
  readonly run: RunAttempt;
  readonly onRegistered?: (registered: Registered) => void;
  readonly onDisconnected?: (error: EngineError | undefined) => void;
}

/** How long the executor waits for acknowledgements after the last attempt has ended. */
const SETTLE_MS = 2_000;
/** How long aborted handlers may take to end. */
const ABORT_MS = 1_000;

export class Worker {
  readonly events = new WorkerEvents();
  readonly #options: WorkerOptions;
  readonly #capacity: Capacity;
  readonly #outbox: Outbox;
  readonly #assignments: Assignments;
  readonly #session: Session;
  readonly #renew: Renew;
  readonly #webhooks: WebhookCaller | undefined;
  #stopped: Promise<void> | undefined;
  /** The scheduler refused an executor without capacity. */
  #isZeroRefused = false;
  /** The capacity of the last Register. */
  #sentCapacity = 0;
  /** The process of the handlers has ended. */
  #isAbandoned = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#capacity = new Capacity(options.capacity);
    this.#outbox = new Outbox(() => this.#session.wake());
    const shared = { outbox: this.#outbox, capacity: this.#capacity, events: this.events };
    this.#assignments = new Assignments({ ...shared, run: options.run });
    this.#webhooks = options.webhooks?.open((item) => this.#outbox.control(item));
    this.#session = new Session({
      connect: options.connect,
      outbox: this.#outbox,
      register: () => this.#register(),
      onItem: (item) => {
        if (item.item.case === "webhookCall") this.#webhooks?.take(item.item.value);
        else this.#assignments.onItem(item);
      },
      onRegistered: (registered) => {
        // The capacity may have changed while the scheduler answered.
        if (this.#offered !== this.#sentCapacity) this.#outbox.control(this.#register());
        this.#renew.adopt(registered);
        options.onRegistered?.(registered);
      },
      onDisconnected: (error) => {
        if (this.#offered === 0 && error?.reason === "INPUT_INVALID") this.#isZeroRefused = true;
        options.onDisconnected?.(error);
      },
    });
    this.#renew = new Renew(this.#outbox, this.#session, options.silence ?? (() => ANSWERS));
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

  /** Connects and takes work until `stop`. */
  start(): void {
    this.#session.start();
    this.events.emit("worker:started", { workerId: this.#options.executorId });
  }

  /** Offers this capacity from now on. Running attempts are not disturbed. With capacity 0 the scheduler sends no more. */
  resize(capacity: number): void {
    if (this.#capacity.total === capacity || this.#capacity.isClosed) return;
    this.#capacity.total = capacity;
    if (this.#session.isRegistered) this.#outbox.control(this.#register());
  }

  /** Aborts the attempts of these claims and gives the claims back. It costs no delivery. */
  release(which: (claim: Claim) => boolean): void {
    this.#assignments.release(which);
  }

  /**
   * Stops without Goodbye, because the process that ran the handlers has ended. It aborts every attempt, so the scheduler counts a lost
   * delivery for each of their claims. Finished outcomes are still sent.
   */
  async abandon(): Promise<void> {
    this.#isAbandoned = true;
    this.#capacity.isClosed = true;
    this.#assignments.forget();
    this.#stopped ??= this.#leave();
    await this.#stopped;
  }

  /** Drains and disconnects. Every call returns the same promise. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    const { graceMs, settleMs = SETTLE_MS } = this.#options;
    this.#capacity.isClosed = true;
    probe("executor.drain-begun");
    // Register with capacity 0, so that the scheduler sends no more. Assignments already on their way are released on arrival.
    if (this.#session.isRegistered) this.#outbox.control(this.#register());
    await Promise.all([within(this.#capacity.idle(), graceMs), this.#webhooks?.stop(graceMs)]);
    this.#assignments.release();
    await within(this.#capacity.idle(), ABORT_MS);
    await within(this.#outbox.empty(), settleMs);
    await this.#leave();
  }

  async #leave(): Promise<void> {
    if (this.#isAbandoned) await this.#session.abandon();
    else await this.#session.stop({ item: { case: "goodbye", value: {} } });
    this.#renew.stop();
    this.#outbox.stop();
    this.events.emit("worker:stopped", { workerId: this.#options.executorId });
  }

  #register(): WorkerItemInit {
    const { executorId, instanceId = "", token = "", description } = this.#options;
    const { descriptors = [], process } = this.#options;
    const nodeTypes = [...this.#options.nodeTypes];
    const held = [...this.#outbox.held()];
    this.#sentCapacity = this.#offered;
    // A scheduler that refuses capacity 0 gets the number of held claims. All of these slots are in use, so it sends no new work.
    const isNoneRefused = this.#offered === 0 && this.#isZeroRefused;
    const slots = isNoneRefused ? Math.max(1, held.length) : this.#offered;
    const known = { executorId, nodeTypes, slots, held, description, instanceId, token };
    const webhookSlots = this.#offered === 0 ? 0 : (this.#options.webhooks?.slots ?? 0);
    const value = { ...known, descriptors, webhookSlots, ...(process && { process }) };
    return { item: { case: "register", value } };
  }

  /** The capacity that the executor offers. It is 0 while the executor stops. */
  get #offered(): number {
    return this.#capacity.isClosed ? 0 : this.#capacity.total;
  }
}
