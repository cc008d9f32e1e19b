// Tracing and call metrics of grpc-js by interceptors: one span on each side, joined by the W3C traceparent in the metadata.
// With tracing off the spans are the API's no-ops, which still hand a caller's traceparent on. A stream's messages run outside of its
// span: a session lasts for days, and what its messages start are traces of their own.

import {
  InterceptingCall,
  ServerInterceptingCall,
  status as Code,
  type Interceptor,
  type Metadata,
  type ServerInterceptor,
} from "@grpc/grpc-js";
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  context,
  propagation,
  trace,
  type Span,
  type TextMapGetter,
  type TextMapSetter,
} from "@opentelemetry/api";

import { ATTRIBUTES, METRICS } from "../telemetry/catalogue.ts";
import { tracer } from "../telemetry/trace.ts";

const setter: TextMapSetter<Metadata> = { set: (metadata, key, value) => metadata.set(key, value) };
const getter: TextMapGetter<Metadata> = {
  keys: (metadata) => Object.keys(metadata.getMap()),
  get: (metadata, key) => metadata.get(key).filter((value) => typeof value === "string"),
};

const codeName = (code: number): string => Code[code] ?? String(code);

/** Codes that tell of trouble on the serving side; the others are the caller's doing. */
const SERVER_FAULTS: ReadonlySet<number> = new Set([
  Code.UNKNOWN,
  Code.DEADLINE_EXCEEDED,
  Code.UNIMPLEMENTED,
  Code.INTERNAL,
  Code.UNAVAILABLE,
  Code.DATA_LOSS,
]);

const finish = (span: Span, code: number, isFault: boolean): void => {
  span.setAttribute(ATTRIBUTES.rpcStatusCode, codeName(code));
  if (isFault) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
};

/** A span around each call a client makes, its traceparent in the call's metadata, and its duration. */
export const clientTracing: Interceptor = (options, nextCall) => {
  const method = options.method_definition.path.slice(1);
  const startedAt = performance.now();
  const span = tracer().startSpan(method, {
    kind: SpanKind.CLIENT,
    attributes: { [ATTRIBUTES.rpcSystem]: "grpc", [ATTRIBUTES.rpcMethod]: method },
  });
  const active = trace.setSpan(context.active(), span);
  return new InterceptingCall(nextCall(options), {
    start: (metadata, _listener, next) => {
      propagation.inject(active, metadata, setter);
      next(metadata, {
        onReceiveMetadata: (received, pass) => pass(received),
        onReceiveMessage: (received, pass) => pass(received),
        onReceiveStatus: (received, pass) => {
          finish(span, received.code, received.code !== Code.OK);
          METRICS.rpcClientCallDuration.record((performance.now() - startedAt) / 1_000, {
            rpc_method: method,
            rpc_response_status_code: codeName(received.code),
          });
          pass(received);
        },
      });
    },
  });
};

/** A span around each call a server answers, child of the caller's, active while a unary handler runs; and its duration. */
export const serverTracing: ServerInterceptor = (definition, call) => {
  const method = definition.path.slice(1);
  const isUnary = !definition.requestStream && !definition.responseStream;
  const startedAt = performance.now();
  let span: Span | undefined;
  let active = ROOT_CONTEXT;
  let isOver = false;
  const end = (code: number): void => {
    if (isOver) return;
    isOver = true;
    if (span !== undefined) finish(span, code, SERVER_FAULTS.has(code));
    METRICS.rpcServerCallDuration.record((performance.now() - startedAt) / 1_000, {
      rpc_method: method,
      rpc_response_status_code: codeName(code),
    });
  };
  return new ServerInterceptingCall(call, {
    start: (next) =>
      next({
        onReceiveMetadata: (metadata, pass) => {
          const parent = propagation.extract(ROOT_CONTEXT, metadata, getter);
          const attributes = { [ATTRIBUTES.rpcSystem]: "grpc", [ATTRIBUTES.rpcMethod]: method };
          span = tracer().startSpan(method, { kind: SpanKind.SERVER, attributes }, parent);
          active = isUnary ? trace.setSpan(parent, span) : ROOT_CONTEXT;
          context.with(active, () => pass(metadata));
        },
        onReceiveMessage: (message, pass) => context.with(active, () => pass(message)),
        onReceiveHalfClose: (pass) => context.with(active, () => pass()),
        onCancel: () => end(Code.CANCELLED),
      }),
    sendStatus: (received, next) => {
      end(received.code ?? Code.UNKNOWN);
      next(received);
    },
  });
};
