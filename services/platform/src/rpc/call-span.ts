// Tracing and call metrics of one call, however it travels: by itself or as a command of a lane.

import { context, SpanKind, SpanStatusCode, trace, type Context } from "@opentelemetry/api";
import { ATTRIBUTES, METRICS } from "../telemetry/catalogue.ts";
import { tracer } from "../telemetry/trace.ts";

export interface CallSpan {
  /** What runs as part of the call runs in this context. */
  readonly active: Context;
  /** With the name of a gRPC code; only the first end counts. */
  readonly end: (code: string) => void;
}

/** Codes that tell of trouble on the serving side; the others are the caller's doing. */
const SERVER_FAULTS: ReadonlySet<string> = new Set([
  "UNKNOWN",
  "DEADLINE_EXCEEDED",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "DATA_LOSS",
]);

/** Begins the caller's side. */
export const clientSpan = (method: string): CallSpan =>
  begin(method, SpanKind.CLIENT, context.active(), METRICS.rpcClientCallDuration);

/** Begins the serving side, as a child of the caller's. */
export const serverSpan = (method: string, parent: Context): CallSpan =>
  begin(method, SpanKind.SERVER, parent, METRICS.rpcServerCallDuration);

function begin(
  method: string,
  kind: SpanKind,
  parent: Context,
  duration: typeof METRICS.rpcServerCallDuration,
): CallSpan {
  const startedAt = performance.now();
  const attributes = { [ATTRIBUTES.rpcSystem]: "grpc", [ATTRIBUTES.rpcMethod]: method };
  const span = tracer().startSpan(method, { kind, attributes }, parent);
  const isFault = (code: string): boolean =>
    kind === SpanKind.SERVER ? SERVER_FAULTS.has(code) : code !== "OK";
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
