// Around every call at the edge: the caller's trace is taken up, the call is measured, and whatever is thrown leaves as an error of
// ours with its reason and details.

import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { EngineError } from "@pawl/core/fault/engine-error";
import { type OnInternal, toConnectError } from "@pawl/platform/rpc/status";
import { ATTRIBUTES, METRICS } from "@pawl/platform/telemetry/catalogue";
import { contextFrom, withSpan } from "@pawl/platform/telemetry/trace";

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Makes the interceptor; `onInternal` hears of every throw that is a bug of ours. */
export function createEdgeInterceptor(onInternal: OnInternal): Interceptor {
  return (next) => async (request) => {
    const method = `${request.service.typeName}/${request.method.name}`;
    const startedAt = performance.now();
    const finish = (code: string): void =>
      METRICS.rpcServerCallDuration.record((performance.now() - startedAt) / 1_000, {
        rpc_method: method,
        rpc_response_status_code: code,
      });
    const fail = (thrown: unknown): ConnectError => {
      const error = toConnectError(causeOf(thrown, request.signal), onInternal);
      finish(Code[error.code] ?? "Unknown");
      return error;
    };
    const traceparent = request.header.get("traceparent") ?? "";
    const settings = {
      parent: contextFrom(TRACEPARENT.test(traceparent) ? traceparent : undefined),
      attributes: { [ATTRIBUTES.rpcSystem]: "connectrpc", [ATTRIBUTES.rpcMethod]: method },
    };
    try {
      const response = await withSpan(method, settings, () => next(request));
      if (response.stream) return { ...response, message: guarded(response.message, fail, finish) };
      finish("OK");
      return response;
    } catch (thrown) {
      throw fail(thrown);
    }
  };
}

/** A call that ended because its time was up says so, whatever the handler made of being aborted. */
function causeOf(thrown: unknown, signal: AbortSignal): unknown {
  const { reason } = signal;
  const wasAborted = thrown instanceof EngineError && thrown.reason === "CALLER_CANCELLED";
  return signal.aborted && wasAborted && reason instanceof ConnectError ? reason : thrown;
}

async function* guarded<Message>(
  messages: AsyncIterable<Message>,
  fail: (thrown: unknown) => ConnectError,
  finish: (code: string) => void,
): AsyncGenerator<Message, void, undefined> {
  try {
    yield* messages;
    finish("OK");
  } catch (thrown) {
    throw fail(thrown);
  }
}
