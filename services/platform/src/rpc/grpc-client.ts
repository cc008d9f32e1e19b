// A grpc-js client of a protobuf-es service: typed promises for unary methods, BidiStream for the others. It finds a returning peer within
// about a second: it reconnects after 100 ms at first and never waits longer than 1 s.

import type {
  DescMethodBiDiStreaming,
  DescMethodUnary,
  DescService,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import {
  Metadata,
  credentials,
  makeClientConstructor,
  type CallOptions,
  type ChannelOptions,
} from "@grpc/grpc-js";
import { LIMITS } from "@pawl/core/data/limits";
import { EngineError } from "@pawl/core/fault/engine-error";
import type { Reason } from "@pawl/core/fault/reason";

import { clientStream, type BidiStream } from "./bidi.ts";
import { grpcDefinition } from "./grpc-definition.ts";
import { fromGrpcStatus } from "./status.ts";
import { clientTracing } from "./tracing.ts";

/** The time limit of a unary call by default. */
export const CALL_TIMEOUT_MS = 10_000;
/** How a connection with a silent peer is found: it is pinged this often, and closed if no answer comes in time. */
export interface Keepalive {
  readonly everyMs: number;
  readonly patienceMs: number;
}
const IDLE_KEEPALIVE: Keepalive = { everyMs: 20_000, patienceMs: 5_000 };
/** For channels with claims: a half-open one is found within 15 s. */
export const WORK_KEEPALIVE: Keepalive = { everyMs: 10_000, patienceMs: 5_000 };
/** For channels with commands: a frozen scheduler is left within 4 s, so half of the caller's time remains for another one. */
export const COMMAND_KEEPALIVE: Keepalive = { everyMs: 1_000, patienceMs: 3_000 };
const RECONNECT_MS = { initial: 100, max: 1_000 } as const;

export interface GrpcClientOptions {
  readonly keepalive?: Keepalive;
  readonly messageBytes?: number;
  /** Retry calls answered with UNAVAILABLE; default true. It is safe because every mutation carries a request id. */
  readonly retry?: boolean;
  /** The reason for UNAVAILABLE without details; default SCHEDULER_UNAVAILABLE. */
  readonly unavailable?: Reason;
}

export interface UnaryOptions {
  /** Cancels the call. */
  readonly signal?: AbortSignal;
  /** Default CALL_TIMEOUT_MS. */
  readonly timeoutMs?: number;
  readonly metadata?: Readonly<Record<string, string>>;
}

export interface OpenOptions {
  /** Cancels the stream. */
  readonly signal?: AbortSignal;
  readonly metadata?: Readonly<Record<string, string>>;
}

type UnaryMethods<Service extends DescService> = {
  readonly [
    Name in keyof Service["method"] as Service["method"][Name] extends DescMethodUnary
      ? Name
      : never
  ]: Service["method"][Name] extends DescMethodUnary<infer Input, infer Output>
    ? (request: MessageInitShape<Input>, options?: UnaryOptions) => Promise<MessageShape<Output>>
    : never;
};

type BidiMethods<Service extends DescService> = {
  readonly [
    Name in keyof Service["method"] as Service["method"][Name] extends DescMethodBiDiStreaming
      ? Name
      : never
  ]: Service["method"][Name] extends DescMethodBiDiStreaming<infer Input, infer Output>
    ? (options?: OpenOptions) => BidiStream<MessageShape<Output>, MessageInitShape<Input>>
    : never;
};

export interface GrpcClient<Service extends DescService> {
  /** Unary methods; they reject only with EngineError. */
  readonly call: UnaryMethods<Service>;
  /** Bidirectional methods. */
  readonly open: BidiMethods<Service>;
  /** Settles when a connection is open. @throws SCHEDULER_UNAVAILABLE (or `unavailable`) after `timeoutMs` */
  waitForReady(timeoutMs: number): Promise<void>;
  close(): void;
}

/** A client of `service` at `address`: host:port, several with commas, or a gRPC target. Connects lazily. */
export const createGrpcClient = <Service extends DescService>(
  service: Service,
  address: string,
  options: GrpcClientOptions = {},
): GrpcClient<Service> => {
  const Constructor = makeClientConstructor(grpcDefinition(service), service.typeName);
  const client = new Constructor(
    targetOf(address),
    credentials.createInsecure(),
    channelOptions(service, options),
  );
  const unavailable = options.unavailable ?? "SCHEDULER_UNAVAILABLE";
  const call: Record<string, unknown> = {};
  const open: Record<string, unknown> = {};
  for (const method of service.methods) {
    const name = method.localName;
    if (method.methodKind === "unary") call[name] = unaryMethod(client, name, unavailable);
    if (method.methodKind === "bidi_streaming") open[name] = bidiMethod(client, name, unavailable);
  }
  return {
    // Built method by method from the descriptor that also gives the types.
    call: call as UnaryMethods<Service>,
    open: open as BidiMethods<Service>,
    waitForReady: (timeoutMs) =>
      new Promise((resolve, reject) => {
        client.waitForReady(Date.now() + timeoutMs, (error) => {
          if (error === undefined) resolve();
          else
            reject(new EngineError(unavailable, `no connection to ${address}`, { cause: error }));
        });
      }),
    close: () => client.close(),
  };
};

type ServiceClient = InstanceType<ReturnType<typeof makeClientConstructor>>;

const methodOf = (client: ServiceClient, name: string) => {
  const method = client[name];
  if (method === undefined) throw new Error(`no method ${name}`);
  // The constructor types its methods for callbacks of any shape; the method's kind determines the shape.
  return method.bind(client) as (...args: unknown[]) => unknown;
};

const unaryMethod = (client: ServiceClient, name: string, unavailable: Reason) => {
  const method = methodOf(client, name);
  return (request: unknown, options: UnaryOptions = {}): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const { signal } = options;
      if (signal?.aborted === true) {
        reject(new EngineError("CALLER_CANCELLED", "the call was cancelled before it was made"));
        return;
      }
      const callOptions: CallOptions = {
        deadline: Date.now() + (options.timeoutMs ?? CALL_TIMEOUT_MS),
      };
      const onAbort = () => started.cancel();
      const started = method(
        request,
        metadataOf(options.metadata),
        callOptions,
        (error: Parameters<typeof fromGrpcStatus>[0] | null, response: unknown) => {
          signal?.removeEventListener("abort", onAbort);
          if (error === null) resolve(response);
          else
            reject(fromGrpcStatus(error, { unavailable, isOwnCancel: signal?.aborted === true }));
        },
      ) as { cancel(): void };
      signal?.addEventListener("abort", onAbort, { once: true });
    });
};

const bidiMethod = (client: ServiceClient, name: string, unavailable: Reason) => {
  const method = methodOf(client, name);
  return (options: OpenOptions = {}): BidiStream<unknown, unknown> => {
    const { signal } = options;
    const call = method(metadataOf(options.metadata)) as Parameters<typeof clientStream>[0];
    const stream = clientStream(call, unavailable);
    const onAbort = () =>
      stream.fail(new EngineError("CALLER_CANCELLED", "the stream was cancelled by its opener"));
    if (signal?.aborted === true) onAbort();
    signal?.addEventListener("abort", onAbort, { once: true });
    void stream.closed.then(() => signal?.removeEventListener("abort", onAbort));
    return stream;
  };
};

const metadataOf = (plain: Readonly<Record<string, string>> = {}): Metadata => {
  const metadata = new Metadata();
  for (const [key, value] of Object.entries(plain)) metadata.set(key, value);
  return metadata;
};

/** Several addresses are numeric addresses of one machine or of a test; DNS resolves a name to all its addresses. */
const targetOf = (address: string): string => {
  if (/^(dns|ipv4|ipv6|unix):/.test(address)) return address;
  return address.includes(",") ? `ipv4:${address}` : `dns:///${address}`;
};

const channelOptions = (service: DescService, options: GrpcClientOptions): ChannelOptions => {
  const messageBytes = options.messageBytes ?? LIMITS.messageBytes;
  const retryPolicy = {
    maxAttempts: 5,
    initialBackoff: "0.1s",
    maxBackoff: "1s",
    backoffMultiplier: 2,
    retryableStatusCodes: ["UNAVAILABLE"],
  };
  const retry = options.retry !== false;
  const keepalive = options.keepalive ?? IDLE_KEEPALIVE;
  return {
    interceptors: [clientTracing],
    "grpc.service_config": JSON.stringify({
      loadBalancingConfig: [{ round_robin: {} }],
      methodConfig: retry ? [{ name: [{ service: service.typeName }], retryPolicy }] : [],
    }),
    "grpc.enable_retries": retry ? 1 : 0,
    "grpc.keepalive_time_ms": keepalive.everyMs,
    "grpc.keepalive_timeout_ms": keepalive.patienceMs,
    "grpc.keepalive_permit_without_calls": 1,
    "grpc.initial_reconnect_backoff_ms": RECONNECT_MS.initial,
    "grpc.max_reconnect_backoff_ms": RECONNECT_MS.max,
    "grpc.dns_min_time_between_resolutions_ms": RECONNECT_MS.max,
    "grpc.max_receive_message_length": messageBytes,
    "grpc.max_send_message_length": messageBytes,
    // Calls inside the system must never use a proxy from the environment.
    "grpc.enable_http_proxy": 0,
    // Channels of one process must not share a connection or its keepalive.
    "grpc.use_local_subchannel_pool": 1,
    "grpc.service_config_disable_resolution": 1,
  };
};
