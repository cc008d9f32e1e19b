// Tracing and metrics of one call: of grpc-js, of Connect, or a command of a lane.

import { context, SpanKind, SpanStatusCode, trace, type Context } from "@opentelemetry/api";
import { ATTRIBUTES, METRICS } from "../telemetry/catalogue.ts";
import { tracer } from "../telemetry/trace.ts";

export interface CallSpan {
  /** The context for everything that runs as part of the call. */
  readonly active: Context;
  /** Ends the span with the name of a gRPC code. Only the first end counts. */
  readonly end: (code: string) => void;
}

/** Codes of problems on the serving side. The caller causes all others. */
const SERVER_FAULTS: ReadonlySet<string> = new Set([
  "UNKNOWN",
  "DEADLINE_EXCEEDED",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "DATA_LOSS",
]);

/** Starts the span of the caller's side. */
export const clientSpan = (method: string): CallSpan =>
  begin(method, { kind: SpanKind.CLIENT, parent: context.active(), isFault: isNotOk });

/** Starts the span of the serving side, as a child of the caller's. */
export const serverSpan = (method: string, parent: Context): CallSpan =>
  begin(method, { kind: SpanKind.SERVER, parent, isFault: (code) => SERVER_FAULTS.has(code) });

/** The same for a call to the gateway over Connect, whose span fails with every error. */
export const connectSpan = (method: string, parent: Context): CallSpan =>
  begin(method, { kind: SpanKind.SERVER, parent, isFault: isNotOk, system: "connectrpc" });

const isNotOk = (code: string): boolean => code !== "OK";

interface Settings {
  readonly kind: SpanKind;
  readonly parent: Context;
  readonly isFault: (code: string) => boolean;
  readonly system?: string;
}

function begin(method: string, { kind, parent, isFault, system = "grpc" }: Settings): CallSpan {
  const startedAt = performance.now();
  const attributes = { [ATTRIBUTES.rpcSystem]: system, [ATTRIBUTES.rpcMethod]: method };
  const span = tracer().startSpan(method, { kind, attributes }, parent);
  const isServer = kind === SpanKind.SERVER;
  const duration = isServer ? METRICS.rpcServerCallDuration : METRICS.rpcClientCallDuration;
  let isOver = false;
  return {
    active: trace.setSpan(parent, span),
    end: (code) => {
      if (isOver) return;
      isOver = true;
      span.setAttribute(ATTRIBUTES.rpcStatusCode, code);
      if (isFault(code)) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
      duration.record((performance.now() - startedAt) / 1_000, {
        rpc_method: method,
        rpc_response_status_code: code,
      });
    },
  };
}
