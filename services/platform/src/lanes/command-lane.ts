// One command stream at a time, and the callers that wait for answers on it.
//
// States: closed → open (by the first command) → closed (it broke, or its scheduler drained) → open … The lane replaces an old stream,
// which ends after its last answer. Otherwise a scheduler that comes back would get no commands. The lane also replaces a stream that
// refuses a command with DRAINING: it may stay open for a slow answer, and would refuse every later command. When a stream closes, the lane
// refuses its unanswered commands with the reason of its end, or with SCHEDULER_UNAVAILABLE.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { LIMITS } from "@pawl/core/data/limits";
import { EngineError } from "@pawl/core/fault/engine-error";
import type {
  Answer,
  CarryRequestSchema,
  CarryResponse,
  CommandSchema,
} from "@pawl/proto/pawl/command/v1/command_service_pb";
import { batches } from "../rpc/batch.ts";
import type { BidiStream, StreamEnd } from "../rpc/bidi.ts";
import { fromStatus } from "../rpc/status.ts";
import { wireBytes } from "../rpc/wire-bytes.ts";

type CarryStream = BidiStream<CarryResponse, MessageInitShape<typeof CarryRequestSchema>>;
type CommandInit = MessageInitShape<typeof CommandSchema>;
/** A command of a caller. */
type NewCommand = Required<
  Pick<CommandInit, "method" | "timeoutMs" | "traceparent"> & { readonly request: Uint8Array }
>;

/** The largest message of a lane, in both directions. A small command or answer does not wait behind many large ones. */
export const LANE_BYTES = 256 * 1024;
const ID_MAX = 2 ** 32 - 1;
/** A stream older than this is replaced. */
const STREAM_MS = 20_000;

interface Waiter {
  /** The stream that carries the command. Undefined while it waits to be sent. */
  stream: CarryStream | undefined;
  readonly resolve: (response: Uint8Array) => void;
  readonly reject: (error: EngineError) => void;
}

export class CommandLane {
  readonly #open: () => CarryStream;
  readonly #streamMs: number;
  readonly #waiters = new Map<number, Waiter>();
  #stream: CarryStream | undefined;
  /** The time from which the stream counts as old. */
  #oldAt = 0;
  #outgoing: CommandInit[] = [];
  #lastId = 0;
  #isScheduled = false;
  #isClosed = false;

  constructor(open: () => CarryStream, streamMs = STREAM_MS) {
    this.#open = open;
    this.#streamMs = streamMs;
  }

  /** Sends a command and waits for its answer. @throws EngineError of the refusal, the stream's end, the timeout or the signal */
  send(command: NewCommand, signal: AbortSignal): Promise<Uint8Array> {
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
    if (signal.aborted || this.#isClosed) {
      reject(signal.aborted ? cancelled() : closed());
      return promise;
    }
    const commandId = this.#nextId();
    const settle = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      this.#waiters.delete(commandId);
    };
    const refuse = (error: EngineError): void => {
      settle();
      reject(error);
    };
    const onAbort = (): void => refuse(cancelled());
    const timer = setTimeout(
      () => refuse(new EngineError("DEADLINE_PASSED", "The scheduler did not answer in time.")),
      command.timeoutMs,
    );
    signal.addEventListener("abort", onAbort, { once: true });
    this.#waiters.set(commandId, {
      stream: undefined,
      reject: refuse,
      resolve: (response) => {
        settle();
        resolve(response);
      },
    });
    this.#outgoing.push({ ...command, commandId });
    this.#schedule();
    return promise;
  }

  /** Whether commands of this turn wait to be sent. */
  get isGathering(): boolean {
    return this.#isScheduled;
  }

  /** Whether commands of this lane wait for an answer. */
  get isInUse(): boolean {
    return this.#waiters.size > 0;
  }

  /** Whether it has an open stream. */
  get isOpen(): boolean {
    return this.#stream !== undefined;
  }

  /** Refuses all unanswered and all later commands. */
  close(): void {
    this.#isClosed = true;
    this.#stream?.end();
    for (const waiter of [...this.#waiters.values()]) waiter.reject(closed());
  }

  #nextId(): number {
    this.#lastId = this.#lastId === ID_MAX ? 1 : this.#lastId + 1;
    return this.#lastId;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // A lone command leaves at once. If others are under way, the commands of this turn of the event loop leave together.
    if (this.#waiters.size === 1) process.nextTick(() => this.#flush());
    else setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#isScheduled = false;
    if (this.#isClosed) return;
    const stream = this.#youngStream();
    const asked = this.#outgoing.filter(({ commandId = 0 }) => {
      const waiter = this.#waiters.get(commandId);
      if (waiter !== undefined) waiter.stream = stream;
      // A command whose caller gave up within this turn is not sent.
      return waiter !== undefined;
    });
    this.#outgoing = [];
    for (const commands of batches(asked, wireBytes, LANE_BYTES)) stream.write({ commands });
  }

  #youngStream(): CarryStream {
    if (this.#stream !== undefined && performance.now() < this.#oldAt) return this.#stream;
    if (this.#stream !== undefined) this.#leave(this.#stream);
    this.#stream = this.#connect();
    this.#oldAt = performance.now() + this.#streamMs;
    return this.#stream;
  }

  /** Sends no more commands on a stream. The answers to its commands still arrive. */
  #leave(stream: CarryStream): void {
    if (this.#stream !== stream) return;
    this.#stream = undefined;
    stream.end();
  }

  #connect(): CarryStream {
    const stream = this.#open();
    stream.listen({
      message: ({ answers }) => {
        for (const answer of answers) this.#answered(answer, stream);
      },
      // The scheduler sends no more, so the next command uses another stream.
      end: () => stream.end(),
    });
    void stream.closed.then((end) => this.#closed(stream, end));
    return stream;
  }

  #answered({ commandId, result }: Answer, stream: CarryStream): void {
    const waiter = this.#waiters.get(commandId);
    if (waiter === undefined) return;
    if (result.case === "response") waiter.resolve(result.value);
    else if (result.case === "refusal") {
      const error = fromStatus(result.value);
      if (error.reason === "DRAINING") this.#leave(stream);
      waiter.reject(error);
    } else waiter.reject(new EngineError("INTERNAL", "The scheduler gave an empty answer."));
  }

  #closed(stream: CarryStream, { error }: StreamEnd): void {
    if (this.#stream === stream) this.#stream = undefined;
    const reason =
      error ?? new EngineError("SCHEDULER_UNAVAILABLE", "The scheduler closed the stream.");
    for (const waiter of [...this.#waiters.values()])
      if (waiter.stream === stream) waiter.reject(reason);
  }
}

/** The refusal of a command or an answer that fits no message. */
export const tooLarge = (what: string, bytes: number, advice: string): EngineError =>
  new EngineError(
    "LIMIT_EXCEEDED",
    `The ${what} takes ${bytes} bytes; at most ${LIMITS.itemBytes}. ${advice}`,
    { metadata: { bytes: String(bytes), limit: String(LIMITS.itemBytes) } },
  );
const closed = (): EngineError => new EngineError("DRAINING", "This gateway is stopping.");
const cancelled = (): EngineError =>
  new EngineError("CALLER_CANCELLED", "the call was cancelled by its caller");
