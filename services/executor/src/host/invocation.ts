// One invocation: it passes the output and the effects of a running handler on, in order, and gives the answer to the attempt.
//
// The races it survives: the answer comes while partial output still waits for its watchers; the attempt gets the answer after the last
// piece. An abort comes at any moment; the attempt ends at once, and the slot stays taken until the function has returned.

import { randomUUID } from "node:crypto";
import { EngineError } from "@pawl/core/fault/engine-error";
import type { EffectDoor, LogLevel as Level } from "@pawl/core/handler/served";
import { fromUsageShape } from "@pawl/core/log/usage-shape";
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  EffectState,
  LogLevel,
  type EffectBegin,
  type EffectCommit,
  type HostItemSchema,
  type Log,
  type Partial$ as PartialItem,
  type Spent,
} from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import type { HandlerContext, HandlerResult } from "../handlers/handler.ts";
import { begunBy, committedBy } from "./effect-items.ts";
import type { InvocationState } from "./invocation-state.ts";
import { EFFECTS_OPEN_MAX, HOST_LIMITS } from "./limits.ts";

export type HostItemInit = MessageInitShape<typeof HostItemSchema>;

/** Queues an item for the process; `onWritten` is called when a stream gets it. */
export type SendItem = (item: HostItemInit, onWritten?: () => void) => void;

/** The call of a handler. */
export interface Call {
  readonly type: string;
  readonly configJson: string;
  readonly ctx: HandlerContext;
  /** The ledger, under the attempt's claim. */
  readonly door: EffectDoor;
  /** How long a silent process keeps it. */
  readonly stallMs: number;
  /** The host writes it to a stream: from now on the process may have run it. */
  readonly onWritten: () => void;
}

const LEVELS: Readonly<Record<LogLevel, Level>> = {
  [LogLevel.UNSPECIFIED]: "info",
  [LogLevel.DEBUG]: "debug",
  [LogLevel.INFO]: "info",
  [LogLevel.WARN]: "warn",
  [LogLevel.ERROR]: "error",
};

export class Invocation {
  readonly id = randomUUID();
  state: InvocationState = "queued";
  /** When its attempt was over while the function ran on; meaningful while it is cancelled. */
  cancelledAt = 0;
  readonly call: Call;
  readonly #send: SendItem;
  readonly #answer = Promise.withResolvers<HandlerResult>();
  /** Passes partial output on, one piece after the other. */
  #passing: Promise<void> = Promise.resolve();
  #unpassedBytes = 0;
  #passedCount = 0;
  /** A Streamed that waits to be written; its count still grows. */
  #streamed: { count: number; readonly invocationId: string } | undefined;
  #logLines = 0;
  #openEffects = 0;

  constructor(call: Call, send: SendItem) {
    this.call = call;
    this.#send = send;
  }

  /** Settles with the answer of the process, or at the end of the attempt. */
  get answer(): Promise<HandlerResult> {
    return this.#answer.promise;
  }

  /** The attempt gets the result after all partial output. */
  settle(result: HandlerResult): void {
    void this.#passing.then(() => this.#answer.resolve(result));
  }

  /** @throws LIMIT_EXCEEDED if the process does not wait for Streamed; the host has not taken the item then */
  partial({ piece }: PartialItem): void {
    const { emit, emitMedia } = this.call.ctx;
    if (piece.case === undefined) return;
    const { value } = piece;
    const bytes = Math.max(
      1,
      typeof value === "string"
        ? Buffer.byteLength(value)
        : Buffer.byteLength(value.url) + Buffer.byteLength(value.mime),
    );
    const { partialBytes, windowBytes } = HOST_LIMITS;
    if (bytes > partialBytes) throw tooLarge("partial_bytes", bytes, partialBytes);
    const unpassed = this.#unpassedBytes + bytes;
    // A process may send while less than the window is open, so one piece may pass the window's end.
    if (unpassed > windowBytes + partialBytes)
      throw tooLarge("window_bytes", unpassed, windowBytes);
    this.#unpassedBytes = unpassed;
    const pass = async (): Promise<void> => {
      await (typeof value === "string" ? emit(value) : emitMedia(value));
      this.#unpassedBytes -= bytes;
      this.#passed();
    };
    this.#passing = this.#passing.then(pass);
  }

  log({ level, message }: Log): void {
    this.#logLines += 1;
    if (this.#logLines > HOST_LIMITS.logLines) return;
    this.call.ctx.log(LEVELS[level] ?? "info", message);
  }

  spent({ usage }: Spent): void {
    if (usage !== undefined) this.call.ctx.usage(fromUsageShape(usage));
  }

  /** @throws LIMIT_EXCEEDED with too many open effects; the host has not taken the item then */
  effectBegin(item: EffectBegin): void {
    this.#checkEffects();
    const answer = begunBy(this.call.door, item, () => this.state !== "running");
    this.#effect(answer, (begun) => ({
      case: "effectBegun",
      value: { invocationId: this.id, name: item.name, ...begun },
    }));
  }

  /** @throws LIMIT_EXCEEDED with too many open effects; the host has not taken the item then */
  effectCommit(item: EffectCommit): void {
    this.#checkEffects();
    this.#effect(committedBy(this.call.door, item), (state) => ({
      case: "effectCommitted",
      value: { invocationId: this.id, name: item.name, state },
    }));
  }

  #effect<T>(answer: Promise<T>, itemOf: (answer: T) => NonNullable<HostItemInit["item"]>): void {
    this.#openEffects += 1;
    void answer.then((given) => {
      this.#openEffects -= 1;
      this.#send({ item: itemOf(given) });
    });
  }

  #checkEffects(): void {
    if (this.#openEffects >= EFFECTS_OPEN_MAX)
      throw tooLarge("open effects", this.#openEffects + 1, EFFECTS_OPEN_MAX);
  }

  #passed(): void {
    this.#passedCount += 1;
    if (this.state !== "running") return;
    if (this.#streamed !== undefined) {
      this.#streamed.count = this.#passedCount;
      return;
    }
    const value = { invocationId: this.id, count: this.#passedCount };
    this.#streamed = value;
    this.#send({ item: { case: "streamed", value } }, () => (this.#streamed = undefined));
  }
}

/** The answer to an effect of an invocation whose attempt is over. */
export const revoked = (
  answer: "effectBegun" | "effectCommitted",
  { invocationId, name }: EffectBegin | EffectCommit,
): HostItemInit => ({
  item: { case: answer, value: { invocationId, name, state: EffectState.REVOKED } },
});

const tooLarge = (limit: string, given: number, most: number): EngineError =>
  new EngineError(
    "LIMIT_EXCEEDED",
    `${limit}: ${given} is more than ${most}. Wait for the host's answers before you send more.`,
    { metadata: { limit } },
  );
