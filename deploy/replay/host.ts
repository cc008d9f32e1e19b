// A host of the handler protocol for one replay: one session, one invocation, no effects. It answers effects from the record: a committed one
// gets its recorded result, any other is revoked, which ends the handler.
//
// The races it survives: the process ends its stream before it answers; the replay fails with that. A process that connects again after a
// cut is refused, because the invocation may have run already.
import { EngineError } from "@pawl/core/fault/engine-error";
import { TIMES, WIRE_LIMITS } from "@pawl/executor/host/limits";
import type { Implementation } from "@pawl/platform/rpc/implementation";
import {
  CancelReason,
  EffectState,
  type HandlerService,
  type Hello,
  LogLevel,
  type ProcessItem,
  type ServeRequest,
} from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import { askedNow } from "./asked.ts";
import { jsonTextOf, type Invocation } from "./recorded.ts";
import type { Ending } from "./verdict.ts";

type Serve = NonNullable<Implementation<typeof HandlerService>["serve"]>;
type Stream = Parameters<Serve>[0];
type Response = Parameters<Stream["write"]>[0];
type Item = NonNullable<NonNullable<Response["items"]>[number]["item"]>;

/** The version of the protocol that this host speaks. */
const PROTOCOL = 1;
const INVOCATION_ID = "replay";
/** The times are the host's own, so a process behaves as it does beside an executor. */
const WELCOME = {
  hostId: "replay",
  pingMs: BigInt(TIMES.pingMs),
  silenceMs: BigInt(TIMES.silenceMs),
  resumeMs: BigInt(TIMES.resumeMs),
  limits: WIRE_LIMITS,
};

const LEVELS: Readonly<Record<number, string>> = {
  [LogLevel.DEBUG]: "debug",
  [LogLevel.INFO]: "info",
  [LogLevel.WARN]: "warn",
  [LogLevel.ERROR]: "error",
};

interface ReplayParts {
  readonly recorded: Invocation;
  readonly place: {
    readonly runId: string;
    readonly nodeId: string;
    readonly iteration: number;
  };
  /** Shows a line to the person. */
  readonly print: (line: string) => void;
}

export class ReplayHost {
  readonly #parts: ReplayParts;
  readonly #ending = Promise.withResolvers<Ending>();
  #stream: Stream | undefined;
  #sentSeq = 0;
  #heardSeq = 0n;
  #streamedCount = 0;
  #timeout: NodeJS.Timeout | undefined;

  constructor(parts: ReplayParts) {
    this.#parts = parts;
    // The caller may stop before the end.
    this.#ending.promise.catch(() => undefined);
  }

  /** Settles with how the handler ended. Rejects if the process cannot run it. */
  get ending(): Promise<Ending> {
    return this.#ending.promise;
  }

  /** The method Serve. */
  readonly serve = async (stream: Stream): Promise<void> => {
    stream.listen({
      message: (message) => {
        try {
          if (this.#stream === stream) this.#take(message);
          else this.#open(stream, message);
        } catch (error) {
          stream.fail(error);
        }
      },
      end: () => stream.end(),
    });
    const ping = setInterval(() => {
      if (this.#stream === stream) this.#send({ case: "ping", value: {} });
    }, TIMES.pingMs);
    await stream.closed;
    clearInterval(ping);
    if (this.#stream !== stream) return;
    clearTimeout(this.#timeout);
    this.#ending.reject(new Error("the process left before its handler ended"));
  };

  #open(stream: Stream, message: ServeRequest): void {
    if (this.#stream !== undefined || message.opening.case !== "hello")
      throw new EngineError("SESSION_IN_USE", "A replay has one session and does not resume it.");
    const fault = this.#helloFault(message.opening.value);
    if (fault !== undefined) {
      this.#ending.reject(new Error(fault));
      throw new EngineError("PROTOCOL_UNSUPPORTED", fault);
    }
    this.#stream = stream;
    stream.write({ opening: { case: "welcome", value: WELCOME } });
    this.#send({ case: "invoke", value: this.#invoke(message.opening.value) });
    const { timeoutMs } = this.#parts.recorded;
    if (timeoutMs > 0n) this.#timeout = setTimeout(() => this.#onTimeout(), Number(timeoutMs));
    this.#take(message);
  }

  #helloFault({ protocol, handlers }: Hello): string | undefined {
    if (protocol !== PROTOCOL)
      return `the process speaks version ${protocol} of the protocol, not ${PROTOCOL}; use an SDK of that version`;
    const { type } = this.#parts.recorded;
    if (handlers.some((handler) => handler.type === type)) return undefined;
    const types = handlers.map((handler) => handler.type).join(", ");
    return `the process does not serve ${type}; it serves ${types === "" ? "nothing" : types}`;
  }

  #invoke({ handlers }: Hello) {
    const { recorded, place, print } = this.#parts;
    const { type, attempt, effectKey, timeoutMs, workflowId, taint, traceparent } = recorded;
    const wantsState = handlers.some((handler) => handler.type === type && handler.state);
    const stateJson = wantsState ? jsonTextOf(recorded.stateJson) : "";
    if (wantsState && stateJson === "") print("! the recorded state is too large for the answer");
    return {
      ...{ invocationId: INVOCATION_ID, type, attempt, effectKey, timeoutMs, workflowId, ...place },
      inputJson: jsonTextOf(recorded.inputJson),
      configJson: jsonTextOf(recorded.configJson),
      memoryJson: jsonTextOf(recorded.memoryJson),
      ...{ stateJson, taint, traceparent },
    };
  }

  #onTimeout(): void {
    const message = `the handler took longer than ${this.#parts.recorded.timeoutMs} ms`;
    const value = { invocationId: INVOCATION_ID, reason: CancelReason.TIMEOUT };
    this.#send({ case: "cancel", value });
    this.#ending.resolve({ kind: "failed", cause: "timeout", message });
  }

  #take({ items, firstSeq }: ServeRequest): void {
    for (const [index, { item }] of items.entries()) {
      const seq = firstSeq + BigInt(index);
      if (seq <= this.#heardSeq) continue;
      this.#heardSeq = seq;
      this.#handle(item);
    }
    if (items.length > 0) this.#stream?.write({ heardSeq: this.#heardSeq });
  }

  #handle(item: ProcessItem["item"]): void {
    const { print } = this.#parts;
    switch (item.case) {
      case "partial":
        print(`output: ${pieceText(item.value.piece)}`);
        this.#streamedCount += 1;
        this.#send({
          case: "streamed",
          value: { invocationId: INVOCATION_ID, count: this.#streamedCount },
        });
        return;
      case "log":
        print(`log ${LEVELS[item.value.level] ?? "info"}: ${item.value.message}`);
        return;
      case "effectBegin":
        this.#answerEffect(item.value.name);
        return;
      case "effectCommit":
        this.#send({ case: "effectCommitted", value: revoked(item.value.name) });
        return;
      case "result": {
        const { outputJson, handle } = item.value;
        this.#end({ kind: "returned", outputJson, handle, asked: askedNow(item.value) });
        return;
      }
      case "failure": {
        const { cause, message } = item.value;
        this.#end({ kind: "failed", cause, message });
        return;
      }
      case "ended":
        this.#end({ kind: "failed", cause: "cancelled", message: "the handler was cancelled" });
        return;
      case "leaving":
        this.#stream?.end();
        return;
      case "pong":
      case "room":
      case "spent":
      case undefined:
        return;
      default:
        item satisfies never;
    }
  }

  #end(ending: Ending): void {
    clearTimeout(this.#timeout);
    this.#ending.resolve(ending);
  }

  #answerEffect(name: string): void {
    const { recorded, print } = this.#parts;
    const effect = recorded.effects.find((each) => each.name === name);
    const resultJson = jsonTextOf(effect?.resultJson);
    if (effect?.committed === true && resultJson !== "") {
      print(`effect ${name}: its recorded result ${resultJson}`);
      const value = { invocationId: INVOCATION_ID, name, state: EffectState.COMMITTED, resultJson };
      this.#send({ case: "effectBegun", value });
      return;
    }
    const why = effect === undefined ? "is not on record" : "has no recorded result";
    print(`effect ${name} ${why}; replay makes no effects, so the handler ends here`);
    this.#send({ case: "effectBegun", value: revoked(name) });
    this.#end({
      kind: "failed",
      cause: "effect_not_made",
      message: `effect ${name} ${why}; replay makes no effects`,
    });
  }

  #send(item: Item): void {
    this.#sentSeq += 1;
    const firstSeq = BigInt(this.#sentSeq);
    this.#stream?.write({ firstSeq, heardSeq: this.#heardSeq, items: [{ item }] });
  }
}

const revoked = (name: string) => ({
  ...{ invocationId: INVOCATION_ID, name },
  state: EffectState.REVOKED,
});

type Piece = Extract<ProcessItem["item"], { case: "partial" }>["value"]["piece"];

const pieceText = (piece: Piece): string =>
  piece.case === "media" ? `${piece.value.mime} ${piece.value.url}` : (piece.value ?? "");
