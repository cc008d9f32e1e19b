// The same tracing, metrics and error mapping for connect-node in the gateway, as two interceptors: tracing outside, errors inside. A
// streaming answer ends with its iteration, so both wrap the iterable too.

import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  context,
  propagation,
  trace,
  type Context,
  type TextMapGetter,
} from "@opentelemetry/api";
import { EngineError } from "@pawl/core/fault/engine-error";

import { ATTRIBUTES, METRICS } from "../telemetry/catalogue.ts";
import { tracer } from "../telemetry/trace.ts";
import { toConnectError, type OnInternal } from "./status.ts";

const getter: TextMapGetter<Headers> = {
  keys: (headers) => [...headers.keys()],
  get: (headers, key) => headers.get(key) ?? undefined,
};

/** CANCELLED and INVALID_ARGUMENT in gRPC's spelling. */
const codeName = (code: Code): string =>
  code === Code.Canceled
    ? "CANCELLED"
    : (Code[code] ?? "Unknown").replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase();

/** A span around each call to the gateway, child of the caller's span, and the call's duration. */
export const connectTracing: Interceptor = (next) => async (request) => {
  const method = `${request.service.typeName}/${request.method.name}`;
  const startedAt = performance.now();
  const parent = propagation.extract(ROOT_CONTEXT, request.header, getter);
  const attributes = { [ATTRIBUTES.rpcSystem]: "connectrpc", [ATTRIBUTES.rpcMethod]: method };
  const span = tracer().startSpan(method, { kind: SpanKind.SERVER, attributes }, parent);
  const end = (error?: unknown): void => {
    const status = error === undefined ? "OK" : codeName(ConnectError.from(error).code);
    span.setAttribute(ATTRIBUTES.rpcStatusCode, status);
    if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
    METRICS.rpcServerCallDuration.record((performance.now() - startedAt) / 1_000, {
      rpc_method: method,
      rpc_response_status_code: status,
    });
  };
  const active = trace.setSpan(parent, span);
  try {
    const response = await context.with(active, () => next(request));
    if (response.stream)
      return { ...response, message: observed(within(active, response.message), end) };
    end();
    return response;
  } catch (error) {
    end(error);
    throw error;
  }
};

/** Turns every throw of a handler into a ConnectError with details. */
export const connectErrors =
  (onInternal: OnInternal): Interceptor =>
  (next) =>
  async (request) => {
    const mapError = (error: unknown) => toConnectError(causeOf(error, request.signal), onInternal);
    try {
      const response = await next(request);
      if (!response.stream) return response;
      return { ...response, message: mapped(response.message, mapError) };
    } catch (error) {
      throw mapError(error);
    }
  };

/** A call whose deadline passed reports that, whatever error the handler made of the abort. */
const causeOf = (error: unknown, { aborted, reason }: AbortSignal): unknown => {
  const isOther = error instanceof EngineError && error.reason !== "CALLER_CANCELLED";
  return aborted && reason instanceof ConnectError && !isOther ? reason : error;
};

/** A generator runs in the context of its consumer, and not in the context in which it was made, so the context is set here. */
const within = <Item>(active: Context, items: AsyncIterable<Item>): AsyncIterable<Item> => ({
  [Symbol.asyncIterator]: () => {
    const iterator = items[Symbol.asyncIterator]();
    return {
      next: context.bind(active, () => iterator.next()),
      return: context.bind(active, () => iterator.return?.() ?? OVER),
    };
  },
});
const OVER = Promise.resolve({ done: true, value: undefined } as const);

async function* observed<Item>(
  items: AsyncIterable<Item>,
  end: (error?: unknown) => void,
): AsyncGenerator<Item> {
  let failure: unknown;
  try {
    yield* items;
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    end(failure);
  }
}

async function* mapped<Item>(
  items: AsyncIterable<Item>,
  mapError: (error: unknown) => ConnectError,
): AsyncGenerator<Item> {
  try {
    yield* items;
  } catch (error) {
    throw mapError(error);
  }
}
