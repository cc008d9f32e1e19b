// Tracing and call metrics of grpc-js by interceptors: one span on each side, joined by the W3C traceparent in the metadata. With tracing
// off the spans are the API's no-ops, which still forward a caller's traceparent. The messages of a stream run outside its span: a session
// lasts for days, and its messages start new traces.

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
  context,
  propagation,
  type TextMapGetter,
  type TextMapSetter,
} from "@opentelemetry/api";
import { clientSpan, serverSpan, type CallSpan } from "./call-span.ts";

const setter: TextMapSetter<Metadata> = { set: (metadata, key, value) => metadata.set(key, value) };
const getter: TextMapGetter<Metadata> = {
  keys: (metadata) => Object.keys(metadata.getMap()),
  get: (metadata, key) => metadata.get(key).filter((value) => typeof value === "string"),
};

/** gRPC's name of a code; Connect has the same numbers. */
export const codeName = (code: number = Code.UNKNOWN): string => Code[code] ?? String(code);

/** A span around each call of a client, with its traceparent in the call's metadata, and the call's duration. */
export const clientTracing: Interceptor = (options, nextCall) => {
  const { active, end } = clientSpan(options.method_definition.path.slice(1));
  return new InterceptingCall(nextCall(options), {
    start: (metadata, _listener, next) => {
      propagation.inject(active, metadata, setter);
      next(metadata, {
        onReceiveMetadata: (received, pass) => pass(received),
        onReceiveMessage: (received, pass) => pass(received),
        onReceiveStatus: (received, pass) => {
          end(codeName(received.code));
          pass(received);
        },
      });
    },
  });
};

/** A span around each call on a server, child of the caller's span and active while a unary handler runs, and the call's duration. */
export const serverTracing: ServerInterceptor = (definition, call) => {
  const isUnary = !definition.requestStream && !definition.responseStream;
  let span: CallSpan | undefined;
  let active = ROOT_CONTEXT;
  return new ServerInterceptingCall(call, {
    start: (next) =>
      next({
        onReceiveMetadata: (metadata, pass) => {
          const parent = propagation.extract(ROOT_CONTEXT, metadata, getter);
          span = serverSpan(definition.path.slice(1), parent);
          if (isUnary) ({ active } = span);
          context.with(active, () => pass(metadata));
        },
        onReceiveMessage: (message, pass) => context.with(active, () => pass(message)),
        onReceiveHalfClose: (pass) => context.with(active, () => pass()),
        onCancel: () => span?.end("CANCELLED"),
      }),
    sendStatus: (received, next) => {
      span?.end(codeName(received.code));
      next(received);
    },
  });
};
