// Outgoing answers of one stream of SubmitRuns. Answers of one turn of the event loop leave in one message, and a silent stream has
// heartbeats.
//
// Race: answers arrive while the connection accepts none. They wait here, and the gateway takes no further submissions. It cuts off a
// reader that leaves a full box unread for 5 s. The reader continues on another stream with the same request ids.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { LIMITS } from "@pawl/core/data/limits";
import { batches } from "@pawl/platform/rpc/batch";
import { wireBytes } from "@pawl/platform/rpc/wire-bytes";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import {
  type SubmissionAnswerSchema,
  type SubmitRunsResponse,
  SubmitRunsResponseSchema,
} from "@pawl/proto/pawl/v1/run_service_pb";
import { WATCH_DEFAULTS } from "../watch/watch-run.ts";

type Answer = MessageInitShape<typeof SubmissionAnswerSchema>;

/** With more bytes unread, the gateway takes no further submissions of the stream. */
const FULL_BYTES = LIMITS.batchBytes;
/** The bound of a message. A small answer does not wait behind many large ones. */
const MESSAGE_BYTES = 256 * 1024;

interface BoxTimes {
  readonly heartbeatMs: number;
  readonly stallMs: number;
}

export class AnswerBox {
  readonly #abandon: () => void;
  readonly #times: BoxTimes;
  #answers: Answer[] = [];
  #bytes = 0;
  #wake: (() => void) | undefined;
  #isScheduled = false;
  #roomWaiters: (() => void)[] = [];
  #isFinished = false;
  #failure: { readonly error: unknown } | undefined;

  /** `abandon` closes the connection without a message. */
  constructor(abandon: () => void, times: BoxTimes = WATCH_DEFAULTS) {
    this.#abandon = abandon;
    this.#times = times;
  }

  /** Adds an answer to the next message. */
  add(answer: Answer): void {
    if (this.#failure !== undefined) return;
    this.#answers.push(answer);
    this.#bytes += wireBytes(answer);
    if (this.#bytes > LIMITS.unsentBytes) this.#cut();
    this.#schedule();
  }

  /** Settles when the gateway may take more submissions. */
  async room(): Promise<void> {
    while (this.#bytes > FULL_BYTES && this.#failure === undefined)
      await new Promise<void>((resolve) => this.#roomWaiters.push(resolve));
  }

  /** Ends the messages after the last answer. */
  finish(): void {
    this.#isFinished = true;
    this.#schedule();
  }

  /** Ends the messages with an error, after the answers that are here. Only the first end counts. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#schedule();
    this.#makeRoom();
  }

  /** The messages of the stream. The first is empty and comes at once, so that the client knows that the stream is open. */
  async *messages(): AsyncGenerator<SubmitRunsResponse, void, undefined> {
    yield create(SubmitRunsResponseSchema);
    for (;;) {
      const answers = this.#answers;
      this.#answers = [];
      if (answers.length > 0) yield* this.#portions(answers);
      else if (this.#failure !== undefined) throw this.#failure.error;
      else if (this.#isFinished) return;
      else if (!(await this.#news())) yield create(SubmitRunsResponseSchema);
    }
  }

  async *#portions(answers: readonly Answer[]): AsyncGenerator<SubmitRunsResponse> {
    for (const some of batches(answers, wireBytes, MESSAGE_BYTES)) {
      // A turn of this generator ends when the connection has accepted the message.
      const timer = setInterval(() => {
        if (this.#bytes > FULL_BYTES) this.#cut();
      }, this.#times.stallMs);
      try {
        yield create(SubmitRunsResponseSchema, { answers: some });
      } finally {
        clearInterval(timer);
      }
      for (const answer of some) this.#bytes -= wireBytes(answer);
      this.#makeRoom();
    }
  }

  /** Waits for an answer or an end. False after the time of a heartbeat. */
  #news(): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#wake = undefined;
        resolve(false);
      }, this.#times.heartbeatMs);
      this.#wake = () => {
        this.#wake = undefined;
        clearTimeout(timer);
        resolve(true);
      };
    });
  }

  /** The message leaves after all callbacks of this turn have added their answers. */
  #schedule(): void {
    if (this.#isScheduled || this.#wake === undefined) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#wake?.();
    });
  }

  #cut(): void {
    if (this.#failure !== undefined) return;
    METRICS.streamCutoffs.add(1, {});
    this.fail(new Error("the reader was cut off"));
    this.#abandon();
  }

  #makeRoom(): void {
    const waiters = this.#roomWaiters;
    this.#roomWaiters = [];
    for (const resolve of waiters) resolve();
  }
}
