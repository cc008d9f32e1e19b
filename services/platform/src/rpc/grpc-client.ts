// A grpc-js client of a protobuf-es service: typed promises for unary methods, BidiStream for the others. After an outage it reconnects
// within about a second: it waits 100 ms at first and never longer than 1 s.

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

import { clientStream, type BidiStream } from "./bidi.ts";
import { grpcDefinition } from "./grpc-definition.ts";
import { fromGrpcStatus } from "./status.ts";
import { clientTracing } from "./tracing.ts";

/** The time limit of a unary call by default. */
export const CALL_TIMEOUT_MS = 10_000;
/** How the client finds a silent peer: it pings this often, and closes the connection if no answer comes in time. */
export interface Keepalive {
  readonly everyMs: number;
  readonly patienceMs: number;
}
const IDLE_KEEPALIVE: Keepalive = { everyMs: 20_000, patienceMs: 5_000 };
/** For channels with claims. The client finds a half-open one within 15 s. */
export const WORK_KEEPALIVE: Keepalive = { everyMs: 10_000, patienceMs: 5_000 };
/** For channels with commands. The client drops a frozen scheduler within 4 s, so half of the caller's time remains for another one. */
export const COMMAND_KEEPALIVE: Keepalive = { everyMs: 1_000, patienceMs: 3_000 };
const RECONNECT_MS = { initial: 100, max: 1_000 } as const;

interface GrpcClientOptions {
  readonly keepalive?: Keepalive;
  /** Default LIMITS.messageBytes. */
  readonly messageBytes?: number;
}

export interface UnaryOptions {
  /** Cancels the call. */
  readonly signal?: AbortSignal;
  /** Default CALL_TIMEOUT_MS. */
  readonly timeoutMs?: number;
  readonly metadata?: PlainMetadata;
}

type PlainMetadata = Readonly<Record<string, string>>;

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
    ? (metadata?: PlainMetadata) => BidiStream<MessageShape<Output>, MessageInitShape<Input>>
    : never;
};

export interface GrpcClient<Service extends DescService> {
  /** Unary methods. They reject only with EngineError. */
  readonly call: UnaryMethods<Service>;
  /** Bidirectional methods. */
  readonly open: BidiMethods<Service>;
  /** Settles when a connection is open. @throws SCHEDULER_UNAVAILABLE after `timeoutMs` */
  waitForReady(timeoutMs: number): Promise<void>;
  close(): void;
}

/** A client of `service` at `address`: host:port, several with commas, or a gRPC target. It connects at the first call. */
export const createGrpcClient = <Service extends DescService>(
  service: Service,
  address: string,
  options: GrpcClientOptions = {},
): GrpcClient<Service> => {
  const Constructor = makeClientConstructor(grpcDefinition(service), service.typeName);
  const client = new Constructor(
    targetOf(address),
    credentials.createInsecure(),
    channelOptions(options),
  );
  const call: Record<string, unknown> = {};
  const open: Record<string, unknown> = {};
  for (const { localName: name, methodKind } of service.methods) {
    if (methodKind === "unary") call[name] = unaryMethod(client, name);
    if (methodKind === "bidi_streaming") open[name] = bidiMethod(client, name);
  }
  return {
    // The calls are built from the descriptor that also gives their types.
    call: call as UnaryMethods<Service>,
    open: open as BidiMethods<Service>,
    waitForReady: (timeoutMs) =>
      new Promise((resolve, reject) => {
        client.waitForReady(Date.now() + timeoutMs, (cause) => {
          const message = `no connection to ${address}`;
          if (cause === undefined) resolve();
          else reject(new EngineError("SCHEDULER_UNAVAILABLE", message, { cause }));
        });
      }),
    close: () => client.close(),
  };
};

type ServiceClient = InstanceType<ReturnType<typeof makeClientConstructor>>;

const methodOf = (client: ServiceClient, name: string) => {
  const method = client[name];
  if (method === undefined) throw new Error(`no method ${name}`);
  // The constructor types its methods for callbacks of any shape. The method's kind determines the shape.
  return method.bind(client) as (...args: unknown[]) => unknown;
};

const unaryMethod = (client: ServiceClient, name: string) => {
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
          else reject(fromGrpcStatus(error, { isOwnCancel: signal?.aborted === true }));
        },
      ) as { cancel(): void };
      signal?.addEventListener("abort", onAbort, { once: true });
    });
};

const bidiMethod = (client: ServiceClient, name: string) => {
  const method = methodOf(client, name);
  return (metadata?: PlainMetadata) =>
    clientStream(method(metadataOf(metadata)) as Parameters<typeof clientStream>[0]);
};

const metadataOf = (plain: PlainMetadata = {}): Metadata => {
  const metadata = new Metadata();
  for (const [key, value] of Object.entries(plain)) metadata.set(key, value);
  return metadata;
};

/** Several addresses are numeric addresses of one machine or of a test. DNS resolves a name to all its addresses. */
const targetOf = (address: string): string => {
  if (/^(dns|ipv4|ipv6|unix):/.test(address)) return address;
  return address.includes(",") ? `ipv4:${address}` : `dns:///${address}`;
};

const channelOptions = ({
  keepalive = IDLE_KEEPALIVE,
  messageBytes = LIMITS.messageBytes,
}: GrpcClientOptions): ChannelOptions => ({
  interceptors: [clientTracing],
  "grpc.service_config": JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
  // The callers retry: a command by its request id, a stream of work by its next session.
  "grpc.enable_retries": 0,
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
});
