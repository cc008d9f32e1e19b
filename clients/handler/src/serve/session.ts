// One session with a host, without its streams: which message opens a stream, what an answer means, and which message comes next.

import { create, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { ReceiveQueue, SendQueue } from "@pawl/platform/rpc/numbered-queue";
import {
  type HelloSchema,
  type HostItem,
  type Limits,
  type ProcessItem,
  ProcessItemSchema,
  type ServeRequestSchema,
  type ServeResponse,
  type Welcome,
} from "@pawl/proto/pawl/handler/v1/handler_service_pb";

export type RequestInit = MessageInitShape<typeof ServeRequestSchema>;
export type ItemInit = MessageInitShape<typeof ProcessItemSchema>;
export type HelloInit = Omit<MessageInitShape<typeof HelloSchema>, "$typeName" | "sessionId">;

/** What a message of the host means. */
export type Received =
  | { readonly kind: "items"; readonly items: readonly HostItem[] }
  /** The host does not have the session. */
  | { readonly kind: "lost" }
  /** The host broke a rule: the stream must be closed. */
  | { readonly kind: "broken"; readonly why: string };

/** Room for the numbers and the opening of a message around its items. */
const ENVELOPE_BYTES = 64;
/** Number and length of a repeated field. */
const FRAME_BYTES = 6;

const bytesOf = (item: ProcessItem): number =>
  toBinary(ProcessItemSchema, item).length + FRAME_BYTES;

export class Session {
  readonly id: string;
  readonly #hello: HelloInit;
  readonly #out = new SendQueue<ProcessItem>(bytesOf);
  readonly #in = new ReceiveQueue();
  #welcome: Welcome | undefined;
  /** Whether the host has answered the opening of the current stream. */
  #isOpen = false;
  /** The number that the last message carried. */
  #toldSeq = 0;

  constructor(id: string, hello: HelloInit) {
    this.id = id;
    this.#hello = hello;
  }

  /** The newest Welcome; undefined before the first. */
  get welcome(): Welcome | undefined {
    return this.#welcome;
  }

  /** Whether items can flow on the current stream. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Whether the host has everything that was sent. */
  get isSettled(): boolean {
    return this.#out.length === 0;
  }

  /** Whether the host waits to see how much the process has. */
  get owesHeard(): boolean {
    return this.#isOpen && this.#toldSeq < this.#in.heard;
  }

  /** The first message of a stream. */
  opening(): RequestInit {
    this.#isOpen = false;
    const { id: sessionId } = this;
    if (this.#welcome === undefined)
      return { opening: { case: "hello", value: { ...this.#hello, sessionId } } };
    this.#toldSeq = this.#in.heard;
    return {
      opening: { case: "resume", value: { sessionId } },
      heardSeq: BigInt(this.#in.heard),
    };
  }

  /** The stream is over. */
  closed(): void {
    this.#isOpen = false;
  }

  receive({ opening, firstSeq, heardSeq, items }: ServeResponse): Received {
    if (this.#isOpen && opening.case !== undefined) return broken("a second opening");
    if (!this.#isOpen && opening.case === undefined) return broken("no welcome before the items");
    if (opening.case === "lost") return { kind: "lost" };
    if (!this.#out.acknowledge(Number(heardSeq)))
      return broken(`it has item ${heardSeq}, which was never sent`);
    if (opening.case === "welcome") {
      this.#welcome = opening.value;
      this.#isOpen = true;
      this.#out.rewind();
    }
    const repeats = this.#in.repeats(Number(firstSeq), items.length);
    if (repeats === undefined) return broken(`item ${firstSeq} came after item ${this.#in.heard}`);
    const fresh = items.slice(repeats);
    this.#in.heard += fresh.length;
    return { kind: "items", items: fresh };
  }

  send(item: ItemInit): void {
    this.#out.push(create(ProcessItemSchema, item));
  }

  /** The next message with items; undefined if there is none. */
  next(): RequestInit | undefined {
    if (!this.#isOpen) return undefined;
    const taken = this.#out.take(Number(this.limits.messageBytes) - ENVELOPE_BYTES);
    if (taken === undefined) return undefined;
    return { firstSeq: BigInt(taken.firstSeq), items: [...taken.items], ...this.heard() };
  }

  /** A message without items, which says what the process has. */
  heard(): RequestInit {
    this.#toldSeq = this.#in.heard;
    return { heardSeq: BigInt(this.#in.heard) };
  }

  /** @throws before the first Welcome: no invocation exists by then */
  get limits(): Limits {
    const limits = this.#welcome?.limits;
    if (limits === undefined) throw new Error("the host sent no limits in Welcome");
    return limits;
  }
}

const broken = (why: string): Received => ({ kind: "broken", why });
