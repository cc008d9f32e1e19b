// The work stream to a scheduler, kept open. States: connecting → registering → registered → (draining) → closed → connecting …
//
// The identity belongs to the executor, not to the connection. Every connection begins with Register, which names the held claims. After
// the answer, all unacknowledged messages are sent again. Items of one turn of the event loop share a message.
//
// Races: a stream breaks at any moment, a scheduler never answers, or a Drain arrives while outcomes are queued. In each case the next
// connection sends all unacknowledged messages again.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { EngineError } from "@pawl/core/fault/engine-error";
import { createBackoff, pause } from "@pawl/platform/lifecycle/backoff";
import { probe } from "@pawl/platform/lifecycle/probe";
import type { BidiStream } from "@pawl/platform/rpc/bidi";
import type {
  Registered,
  SchedulerItem,
  WorkRequestSchema,
  WorkResponse,
} from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import type { Outbox } from "./outbox.ts";
import type { WorkerItemInit } from "./fenced-writer.ts";
import { within } from "./within.ts";

/** An open stream, the executor's end. */
export type WorkStream = BidiStream<WorkResponse, MessageInitShape<typeof WorkRequestSchema>>;

const BACKOFF = { initialMs: 100, maxMs: 1_000 };
/** A scheduler refuses an executor until a person acts, or until the other process with the same id has ended. */
const REFUSED_PAUSE_MS = 2_000;
const REFUSALS: ReadonlySet<string> = new Set(["EXECUTOR_ID_TAKEN", "FORBIDDEN"]);

/** Whether the scheduler refused this executor, as opposed to a broken connection. */
export const isRefusal = (error: EngineError | undefined): boolean =>
  error !== undefined && REFUSALS.has(error.reason);

/** A peer that accepts the stream but does not answer Register is not a scheduler, or is frozen. Another one may answer. */
const REGISTER_TIMEOUT_MS = 2_000;
/** How long a half-closed stream may take to end before it is cut. */
const CLOSE_TIMEOUT_MS = 1_000;

interface SessionOptions {
  readonly connect: () => WorkStream;
  readonly outbox: Outbox;
  /** The first message of a connection. */
  readonly register: () => WorkerItemInit;
  /** Called for every item of the scheduler except Registered and Drain. */
  readonly onItem: (item: SchedulerItem) => void;
  readonly onRegistered: (registered: Registered) => void;
  /**
   * The stream is closed, and no more items come. It has the reason, unless the executor closed it. The next stream opens after this call.
   */
  readonly onDisconnected: (error: EngineError | undefined) => void;
}

export class Session {
  readonly #options: SessionOptions;
  readonly #stopping = new AbortController();
  #stream: WorkStream | undefined;
  isRegistered = false;
  #isFlushScheduled = false;
  #isBlocked = false;
  /** When the last item of the scheduler arrived, on the monotonic clock. */
  lastHeardAt = 0;
  /** Why the scheduler refused this executor. Undefined once a scheduler accepted it. */
  refusal: EngineError | undefined;
  #loop: Promise<void> | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** Connects, and reconnects until `stop`. */
  start(): void {
    this.#loop ??= this.#keepConnected();
  }

  /** Sends the queued items, half-closes and waits for the end. Settles when the stream is closed. */
  async stop(goodbye: WorkerItemInit): Promise<void> {
    this.#stopping.abort();
    const stream = this.#stream;
    if (stream !== undefined && this.isRegistered) {
      await within(this.#flushAll(stream), CLOSE_TIMEOUT_MS);
      stream.write({ items: [goodbye] });
      this.#hangUp(stream);
      await within(stream.closed, CLOSE_TIMEOUT_MS);
    }
    stream?.fail(new EngineError("CALLER_CANCELLED", "the executor is leaving"));
    await this.#loop;
  }

  /**
   * Sends the queued items and ends the stream without Goodbye. Every claim that is still held becomes a lost delivery. Settles when the
   * stream is closed.
   */
  async abandon(): Promise<void> {
    this.#stopping.abort();
    const stream = this.#stream;
    if (stream !== undefined && this.isRegistered) {
      await within(this.#flushAll(stream), CLOSE_TIMEOUT_MS);
      this.#hangUp(stream);
      await within(stream.closed, CLOSE_TIMEOUT_MS);
    }
    stream?.fail(new EngineError("CALLER_CANCELLED", "the executor gives this session up"));
    await this.#loop;
  }

  /** Leaves a scheduler that does not answer. The next connection goes to another one if there is one. */
  giveUp(): void {
    this.#stream?.fail(new EngineError("SCHEDULER_UNAVAILABLE", "the scheduler fell silent"));
  }

  /** Sends the queued items at the end of this turn of the event loop. */
  readonly wake = (): void => {
    if (this.#isFlushScheduled || this.#isBlocked || !this.isRegistered) return;
    this.#isFlushScheduled = true;
    setImmediate(() => {
      this.#isFlushScheduled = false;
      this.#flush();
    });
  };

  async #keepConnected(): Promise<void> {
    const { signal } = this.#stopping;
    const backoff = createBackoff(BACKOFF);
    while (!signal.aborted) {
      if (await this.#serve(this.#options.connect())) backoff.reset();
      const leastMs = this.refusal === undefined ? 0 : REFUSED_PAUSE_MS;
      if (!signal.aborted) await pause(Math.max(leastMs, backoff.nextMs()), signal);
    }
  }

  /** One connection from Register to its end. True if it was ever registered. */
  async #serve(stream: WorkStream): Promise<boolean> {
    let wasRegistered = false;
    const timer = setTimeout(
      () => stream.fail(new EngineError("SCHEDULER_UNAVAILABLE", "Register was not answered")),
      REGISTER_TIMEOUT_MS,
    );
    this.#stream = stream;
    stream.listen({
      message: (message) => {
        this.lastHeardAt = performance.now();
        for (const { item } of message.items) {
          if (item.case !== "registered") continue;
          clearTimeout(timer);
          wasRegistered = true;
          this.#registered(stream, item.value);
        }
        for (const item of message.items) {
          if (item.item.case === "drain") void this.#drained(stream);
          else if (item.item.case !== "registered") this.#options.onItem(item);
        }
      },
      end: () => this.#hangUp(stream),
    });
    stream.write({ items: [this.#options.register()] });
    const { error } = await stream.closed;
    clearTimeout(timer);
    this.#forget(stream);
    this.refusal = isRefusal(error) ? error : undefined;
    this.#options.onDisconnected(error);
    return wasRegistered;
  }

  #registered(stream: WorkStream, registered: Registered): void {
    // A second Registered answers a change of capacity on the same stream: nothing was lost, so nothing is sent again.
    const isNew = !this.isRegistered && this.#stream === stream;
    this.isRegistered = true;
    if (isNew) this.#options.outbox.rewind();
    this.#options.onRegistered(registered);
  }

  /** The scheduler is stopping. Queued items are still sent here, and the others on the next connection. */
  async #drained(stream: WorkStream): Promise<void> {
    await within(this.#flushAll(stream), CLOSE_TIMEOUT_MS);
    this.#hangUp(stream);
    await within(stream.closed, CLOSE_TIMEOUT_MS);
    stream.fail(new EngineError("DRAINING", "the scheduler is stopping"));
  }

  /** Half-closes: nothing more is sent on this stream, but its items are still handled. */
  #hangUp(stream: WorkStream): void {
    this.#forget(stream);
    stream.end();
  }

  #forget(stream: WorkStream): void {
    if (this.#stream !== stream) return;
    this.#stream = undefined;
    this.isRegistered = false;
    this.#isBlocked = false;
  }

  #flush(): void {
    const stream = this.#stream;
    if (stream === undefined || !this.isRegistered || this.#isBlocked) return;
    for (;;) {
      const items = this.#options.outbox.take();
      if (items.length === 0) return;
      const hasRoom = stream.write({ items: [...items] });
      probe("outcome.sent");
      if (!hasRoom) {
        this.#isBlocked = true;
        void this.#resumeWhenDrained(stream);
        return;
      }
    }
  }

  async #resumeWhenDrained(stream: WorkStream): Promise<void> {
    await stream.drained();
    if (this.#stream !== stream) return;
    this.#isBlocked = false;
    this.#flush();
  }

  async #flushAll(stream: WorkStream): Promise<void> {
    for (;;) {
      await stream.drained();
      if (this.#stream !== stream) return;
      const items = this.#options.outbox.take();
      if (items.length === 0) return;
      stream.write({ items: [...items] });
    }
  }
}
