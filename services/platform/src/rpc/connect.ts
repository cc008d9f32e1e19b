// The same tracing, metrics and error mapping for connect-node in the gateway, as two interceptors: tracing outside, errors inside. A
// streaming answer ends with its iteration, so both also wrap the iterable.

import { ConnectError, type Interceptor } from "@connectrpc/connect";
import { ROOT_CONTEXT, context, propagation } from "@opentelemetry/api";
import type { Context, TextMapGetter } from "@opentelemetry/api";
import { EngineError } from "@pawl/core/fault/engine-error";
import { connectSpan } from "./call-span.ts";
import { toConnectError, type OnInternal } from "./status.ts";
import { codeName } from "./tracing.ts";

const getter: TextMapGetter<Headers> = {
  keys: (headers) => [...headers.keys()],
  get: (headers, key) => headers.get(key) ?? undefined,
};

/** A span around each call to the gateway, child of the caller's span, and the call's duration. */
export const connectTracing: Interceptor = (next) => async (request) => {
  const method = `${request.service.typeName}/${request.method.name}`;
  const span = connectSpan(method, propagation.extract(ROOT_CONTEXT, request.header, getter));
  const { active } = span;
  const end = (error?: unknown): void =>
    span.end(error === undefined ? "OK" : codeName(ConnectError.from(error).code));
  try {
    const response = await context.with(active, () => next(request));
    if (response.stream) {
      const items = within(active, response.message);
      return { ...response, message: observed(items, (error) => error, end) };
    }
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
      return { ...response, message: observed(response.message, mapError) };
    } catch (error) {
      throw mapError(error);
    }
  };

/** The error of the deadline if it has passed. The handler may have made another error of the abort. */
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

/** Yields the same items. `mapError` changes an error, and `end` gets it at the end. */
async function* observed<Item>(
  items: AsyncIterable<Item>,
  mapError: (error: unknown) => unknown,
  end?: (error?: unknown) => void,
): AsyncGenerator<Item> {
  let failure: unknown;
  try {
    yield* items;
  } catch (error) {
    failure = mapError(error);
    throw failure;
  } finally {
    end?.(failure);
  }
}
