// Test support: a handler process that a test plays item by item, over a real socket. It keeps the rules of the queues (numbers, heard_seq,
// repeats) and answers Ping, unless the test makes it silent. `received` waits for the next item of a kind, so tests never sleep.

import { randomUUID } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { EngineError } from "@pawl/core/fault/engine-error";
import { LIMITS } from "@pawl/core/data/limits";
import { createGrpcClient, type GrpcClient } from "@pawl/platform/rpc/grpc-client";
import type { StreamEnd } from "@pawl/platform/rpc/bidi";
import {
  HandlerService,
  type HelloSchema,
  type HostItem,
  type ProcessItemSchema,
  type ServeRequestSchema,
  type ServeResponse,
} from "@pawl/proto/pawl/handler/v1/handler_service_pb";

type Client = GrpcClient<typeof HandlerService>;
type Stream = ReturnType<Client["open"]["serve"]>;
type ItemInit = NonNullable<MessageInitShape<typeof ProcessItemSchema>["item"]>;
type HelloInit = MessageInitShape<typeof HelloSchema>;
type Case = NonNullable<HostItem["item"]["case"]>;
type ValueOf<C extends Case> = Extract<HostItem["item"], { case: C }>["value"];

export class ScriptedProcess {
  readonly sessionId = randomUUID();
  readonly client: Client;
  /** Every item received, without repeats. */
  readonly items: HostItem["item"][] = [];
  /** Whether it answers Ping and acknowledges items by itself. */
  isSilent = false;
  /** Items received twice. */
  repeats = 0;
  readonly #metadata: Readonly<Record<string, string>>;
  #unheard: { readonly seq: number; readonly item: ItemInit }[] = [];
  #lastSeq = 0;
  #heard = 0;
  #cursor = 0;
  #stream: Stream | undefined;
  #waiters: (() => void)[] = [];

  constructor(address: string, metadata: Readonly<Record<string, string>> = {}) {
    this.client = createGrpcClient(HandlerService, address, {
      messageBytes: LIMITS.handlerMessageBytes,
    });
    this.#metadata = metadata;
  }

  /** Items that the host has not acknowledged. */
  get unheardCount(): number {
    return this.#unheard.length;
  }

  /** Begins a session and waits for the host's answer. */
  async hello(init: HelloInit = {}): Promise<ServeResponse["opening"]> {
    const handlers = [{ type: "acme.echo" }];
    const value = { protocol: 1, name: "scripted", slots: 4, handlers, ...init };
    return await this.begin({
      opening: { case: "hello", value: { sessionId: this.sessionId, ...value } },
    });
  }

  /** Resumes the session, and sends what the host does not have. */
  async resume(): Promise<ServeResponse["opening"]> {
    const value = { sessionId: this.sessionId };
    return await this.begin({ opening: { case: "resume", value } });
  }

  /** Opens a stream with this first message, and waits for the host's first one. Rejects with the host's refusal. */
  async begin(first: MessageInitShape<typeof ServeRequestSchema>) {
    const stream = this.client.open.serve(this.#metadata);
    const answer = Promise.withResolvers<ServeResponse["opening"]>();
    answer.promise.catch(() => undefined);
    this.#stream = stream;
    stream.listen({
      message: (message) => {
        if (this.#stream !== stream) return;
        answer.resolve(message.opening);
        this.#take(message);
      },
      end: () => stream.end(),
    });
    void stream.closed.then(({ error }) => {
      answer.reject(error ?? new EngineError("CALLER_CANCELLED", "closed without an answer"));
    });
    stream.write({ heardSeq: BigInt(this.#heard), ...first });
    return await answer.promise;
  }

  /** How the present stream ends. */
  async closed(): Promise<StreamEnd> {
    return (await this.#stream?.closed) ?? {};
  }

  /** Sends items in one message. While there is no stream, they wait for the next one. */
  send(...items: readonly ItemInit[]): void {
    const numbered = items.map((item) => ({ seq: (this.#lastSeq += 1), item }));
    this.#unheard.push(...numbered);
    this.#write(numbered);
  }

  /** Sends a message as it is. */
  raw(message: MessageInitShape<typeof ServeRequestSchema>): void {
    this.#stream?.write(message);
  }

  /** The next item of a kind after the last one that this returned; it skips others. */
  async received<C extends Case>(name: C): Promise<ValueOf<C>> {
    for (;;) {
      for (; this.#cursor < this.items.length;) {
        const item = this.items[this.#cursor++];
        // The case was compared; TypeScript cannot follow that through a generic.
        if (item?.case === name) return item.value as ValueOf<C>;
      }
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
  }

  /** The names of all items received so far. */
  get names(): readonly (string | undefined)[] {
    return this.items.map((item) => item.case);
  }

  /** Breaks the stream. */
  async cut(): Promise<void> {
    const stream = this.#stream;
    this.#stream = undefined;
    stream?.fail(new EngineError("CALLER_CANCELLED", "cut"));
    await stream?.closed;
  }

  async close(): Promise<void> {
    await this.cut();
    this.client.close();
  }

  #take(message: ServeResponse): void {
    this.#unheard = this.#unheard.filter(({ seq }) => seq > Number(message.heardSeq));
    if (message.opening.case === "welcome") this.#write(this.#unheard);
    for (const [at, { item }] of message.items.entries()) {
      const seq = Number(message.firstSeq) + at;
      if (seq <= this.#heard) {
        this.repeats += 1;
        continue;
      }
      if (seq !== this.#heard + 1) throw new Error(`item ${seq} leaves a gap`);
      this.#heard = seq;
      this.items.push(item);
      if (item.case === "ping" && !this.isSilent) this.send({ case: "pong", value: {} });
    }
    if (message.items.length > 0 && !this.isSilent) this.raw({ heardSeq: BigInt(this.#heard) });
    for (const wake of this.#waiters.splice(0)) wake();
  }

  #write(numbered: readonly { readonly seq: number; readonly item: ItemInit }[]): void {
    const [first] = numbered;
    if (first === undefined) return;
    const items = numbered.map(({ item }) => ({ item }));
    this.raw({ firstSeq: BigInt(first.seq), heardSeq: BigInt(this.#heard), items });
  }
}
