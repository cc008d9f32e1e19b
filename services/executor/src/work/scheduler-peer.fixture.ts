// Test support: plays the scheduler over real sockets, so tests run the worker against bytes and broken streams, not against a mock. Each
// connection records the executor's messages; `heard` waits for the first item of a kind, so tests never sleep.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { EngineError } from "@pawl/core/fault/engine-error";
import type { BidiStream } from "@pawl/platform/rpc/bidi";
import { createGrpcClient } from "@pawl/platform/rpc/grpc-client";
import { startGrpcServer } from "@pawl/platform/rpc/grpc-server";
import { serve } from "@pawl/platform/rpc/implementation";
import {
  WorkerService,
  type SchedulerItemSchema,
  type WorkerItem,
  type WorkRequest,
  type WorkResponseSchema,
} from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { within } from "../../../../test/support/until.ts";
import type { WorkStream } from "./session.ts";

type ServerEnd = BidiStream<WorkRequest, MessageInitShape<typeof WorkResponseSchema>>;
type SchedulerInit = NonNullable<MessageInitShape<typeof SchedulerItemSchema>["item"]>;
type Case = NonNullable<WorkerItem["item"]["case"]>;
type ValueOf<C extends Case> = Extract<WorkerItem["item"], { case: C }>["value"];

interface ClaimInit {
  readonly runId: string;
  readonly nodeId: string;
  readonly iteration: number;
  readonly epoch: bigint;
}

/** One connection, at the scheduler's end. */
export class PeerConnection {
  readonly #stream: ServerEnd;
  readonly #items: WorkerItem["item"][] = [];
  #cursor = 0;
  #waiters: (() => void)[] = [];
  #isEnded = false;
  #onDelta: ((delta: ValueOf<"delta">) => void) | undefined;
  /** Received messages, each with any number of items. */
  messageCount = 0;

  constructor(stream: ServerEnd) {
    this.#stream = stream;
    stream.listen({
      message: (message) => {
        this.messageCount++;
        for (const { item } of message.items) {
          this.#items.push(item);
          if (item.case === "delta") this.#onDelta?.(item.value);
        }
        this.#wake();
      },
      end: () => {
        this.#isEnded = true;
        this.#wake();
        stream.end();
      },
    });
  }

  /** All items received so far. */
  get items(): readonly WorkerItem["item"][] {
    return this.#items;
  }

  /** Calls back for each delta from now on. */
  onDelta(listener: (delta: ValueOf<"delta">) => void): void {
    this.#onDelta = listener;
  }

  /** The names of all items received so far. */
  get said(): readonly (string | undefined)[] {
    return this.#items.map((item) => item.case);
  }

  send(...items: readonly SchedulerInit[]): void {
    this.#stream.write({ items: items.map((item) => ({ item })) });
  }

  /** The next item of a kind after the last one that this returned; it skips others. */
  async heard<C extends Case>(name: C): Promise<ValueOf<C>> {
    for (;;) {
      for (; this.#cursor < this.#items.length;) {
        const item = this.#items[this.#cursor++];
        // The case was compared; TypeScript cannot follow that through a generic.
        if (item?.case === name) return item.value as ValueOf<C>;
      }
      if (this.#isEnded) throw new Error(`the executor left without ${name}`);
      await this.#news(name);
    }
  }

  /** Registers the executor, with these periods. */
  async register(renewMs = 60_000, leaseMs = 180_000): Promise<ValueOf<"register">> {
    const register = await this.heard("register");
    this.registered(renewMs, leaseMs);
    return register;
  }

  /** Answers Register. */
  registered(
    renewMs = 60_000,
    leaseMs = 180_000,
    refused: { type: string; reason: string; message: string }[] = [],
  ): void {
    const periods = { renewMs: BigInt(renewMs), leaseMs: BigInt(leaseMs) };
    const value = { schedulerId: "peer", ...periods, refused };
    this.send({ case: "registered", value });
  }

  /** Breaks the stream without an answer. */
  cut(): void {
    this.#stream.fail(new EngineError("SCHEDULER_UNAVAILABLE", "cut"));
  }

  /** Ends the stream because of a wrong message. */
  refuse(): void {
    this.#stream.fail(new EngineError("INPUT_INVALID", "refused"));
  }

  /** Settles when the executor has half-closed. */
  async left(): Promise<void> {
    while (!this.#isEnded) await this.#news("the end of the stream");
  }

  /** Settles when anything arrives. */
  #news(what: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiters.push(resolve);
    return within(promise, { what: `${what} of the executor` });
  }

  #wake(): void {
    for (const wake of this.#waiters.splice(0)) wake();
  }
}

export class SchedulerPeer {
  readonly #connections: PeerConnection[] = [];
  readonly #waiters: ((connection: PeerConnection) => void)[] = [];
  readonly #close: () => Promise<void>;
  /** Opens a stream for a worker. */
  readonly connect: () => WorkStream;
  /** host:port it serves on. */
  readonly address: string;

  private constructor(address: string, connect: () => WorkStream, close: () => Promise<void>) {
    this.address = address;
    this.connect = connect;
    this.#close = close;
  }

  static async start(): Promise<SchedulerPeer> {
    let peer: SchedulerPeer | undefined;
    const implementation = {
      work: async (stream: ServerEnd) => {
        peer?.accept(new PeerConnection(stream));
        await stream.closed;
      },
    };
    const server = await startGrpcServer({
      host: "127.0.0.1",
      port: 0,
      services: [serve(WorkerService, implementation)],
      onInternal: () => undefined,
    });
    const address = `127.0.0.1:${server.port}`;
    const client = createGrpcClient(WorkerService, address);
    peer = new SchedulerPeer(
      address,
      () => client.open.work(),
      async () => {
        client.close();
        await server.stop(0);
      },
    );
    return peer;
  }

  accept(connection: PeerConnection): void {
    const waiter = this.#waiters.shift();
    if (waiter === undefined) this.#connections.push(connection);
    else waiter(connection);
  }

  /** The next connection of the executor. */
  async connection(): Promise<PeerConnection> {
    const waiting = this.#connections.shift();
    if (waiting !== undefined) return waiting;
    const { promise, resolve } = Promise.withResolvers<PeerConnection>();
    this.#waiters.push(resolve);
    return await within(promise, { what: "a connection of the executor" });
  }

  close(): Promise<void> {
    return this.#close();
  }
}

/** A claim on node `n` of a made-up run. */
export const testClaim = (epoch: bigint, nodeId = "n"): ClaimInit => ({
  runId: "01890000-0000-7000-8000-000000000000",
  nodeId,
  iteration: 0,
  epoch,
});

/** An assignment of a node with this type and config. */
export function testAssignment(
  claim: ClaimInit,
  node: {
    readonly type: string;
    readonly config?: unknown;
    readonly input?: unknown;
    readonly timeoutMs?: number;
    /** More fields of the node. */
    readonly more?: Readonly<Record<string, unknown>>;
  },
): Extract<SchedulerInit, { case: "assignment" }> {
  const encode = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));
  const definition = {
    id: claim.nodeId,
    type: node.type,
    config: node.config ?? {},
    ...(node.input === undefined ? {} : { input: node.input }),
    onParentFailure: "propagate",
    merge: null,
    ...node.more,
  };
  return {
    case: "assignment",
    value: {
      claim,
      attempt: 1,
      nodeType: node.type,
      nodeJson: encode({ node: definition, bindings: [] }),
      contextJson: encode({ input: { name: "Ada" }, nodes: {}, vars: {} }),
      timeoutMs: BigInt(node.timeoutMs ?? 60_000),
      effectKey: `${claim.runId}/${claim.nodeId}/${claim.iteration}`,
    },
  };
}
