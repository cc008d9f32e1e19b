// A grpc-js server of protobuf-es services, with health, reflection, tracing, limits and a bounded stop.

import { Server, ServerCredentials } from "@grpc/grpc-js";
import { LIMITS } from "@pawl/core/data/limits";
import { HealthImplementation } from "grpc-health-check";

import type { Secret } from "../config/secret.ts";
import { admission, boundTimeouts } from "./admission.ts";
import { grpcDefinition } from "./grpc-definition.ts";
import { grpcImplementation, type ServedService } from "./implementation.ts";
import { servedReflection } from "./reflection.ts";
import type { OnInternal } from "./status.ts";
import { serverTracing } from "./tracing.ts";
import { UNARY_DEADLINE_MS } from "./unary.ts";

/** The server finds a lost peer within 10 s + 5 s. */
const KEEPALIVE_MS = 10_000;
const KEEPALIVE_TIMEOUT_MS = 5_000;
/** The gateway gives an HTTP/1.1 request the same time. */
const REQUEST_MS = 30_000;
/** How many streams one connection may have open. The gateway's forwarded calls share one connection. */
const CONCURRENT_STREAMS = 10_000;

export interface GrpcServerOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly services: readonly ServedService[];
  /** Called for every throw that is a bug of Pawl. */
  readonly onInternal: OnInternal;
  /** Host names by which clients may call the server, besides loopback and IP addresses. None by default. */
  readonly allowedHosts?: readonly string[];
  /** How long a request may take to arrive; default REQUEST_MS. */
  readonly requestMs?: number;
  /** The longest time of a unary call; default UNARY_DEADLINE_MS. */
  readonly unaryDeadlineMs?: number;
  /** Every call must carry this token as `authorization: Bearer <token>`. None by default. */
  readonly token?: Pick<Secret, "reveal"> | undefined;
  /** The largest message; default LIMITS.messageBytes. */
  readonly messageBytes?: number;
  /** Serve grpc.reflection; default false. */
  readonly reflection?: boolean;
}

interface GrpcServer {
  /** The bound port. */
  readonly port: number;
  /** Sets the answer of health, for every service and for "". It is true from the start. */
  setServing(serving: boolean): void;
  /** Accepts no more calls, lets calls end for at most `graceMs`, then ends them. */
  stop(graceMs: number): Promise<void>;
}

/** Binds and serves. Rejects if the port cannot be bound. */
export const startGrpcServer = async (options: GrpcServerOptions): Promise<GrpcServer> => {
  const {
    services,
    onInternal,
    requestMs = REQUEST_MS,
    messageBytes = LIMITS.messageBytes,
  } = options;
  const server = new Server({
    interceptors: [
      serverTracing,
      admission({
        allowedHosts: new Set([options.host, ...(options.allowedHosts ?? [])]),
        requestMs,
        onInternal,
        token: options.token,
      }),
    ],
    "grpc.max_receive_message_length": messageBytes,
    "grpc.max_send_message_length": messageBytes,
    "grpc.keepalive_time_ms": KEEPALIVE_MS,
    "grpc.keepalive_timeout_ms": KEEPALIVE_TIMEOUT_MS,
    "grpc.max_concurrent_streams": CONCURRENT_STREAMS,
  });
  const handling = { onInternal, unaryDeadlineMs: options.unaryDeadlineMs ?? UNARY_DEADLINE_MS };
  const descriptors = services.map(({ service }) => service);
  const reflection = options.reflection === true ? servedReflection(descriptors) : [];
  for (const served of [...services, ...reflection])
    server.addService(grpcDefinition(served.service), grpcImplementation(served, handling));
  const health = new HealthImplementation();
  const setServing = (serving: boolean): void => {
    for (const name of ["", ...descriptors.map(({ typeName }) => typeName)])
      health.setStatus(name, serving ? "SERVING" : "NOT_SERVING");
  };
  setServing(true);
  health.addToServer(server);
  const port = await bind(server, `${options.host}:${options.port}`);
  boundTimeouts(server);
  return {
    port,
    setServing,
    stop: async (graceMs) => {
      setServing(false);
      const timer = setTimeout(() => server.forceShutdown(), graceMs);
      await new Promise<unknown>((resolve) => server.tryShutdown(resolve));
      clearTimeout(timer);
    },
  };
};

const bind = (server: Server, address: string): Promise<number> =>
  new Promise((resolve, reject) => {
    server.bindAsync(address, ServerCredentials.createInsecure(), (error, port) => {
      if (error === null) resolve(port);
      else reject(error);
    });
  });
