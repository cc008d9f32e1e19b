// The last item of an invocation: a result or a failure that fits the limits of the session.

import { toShape } from "@pawl/core/action/shape";
import type { Cause } from "@pawl/core/fault/cause";
import type { Settled, SettledFailure, SettledResult } from "@pawl/core/handler/served";
import { settledFailure } from "@pawl/core/handler/settle";
import { toUsageShape } from "@pawl/core/log/usage-shape";
import type { Limits } from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import type { ItemInit } from "./session.ts";
import { bytesIn, cut } from "./texts.ts";

/** A failure that no retry can fix. */
export const permanentFailure = (cause: Cause, message: string): Settled => ({
  failure: settledFailure(cause, message, { permanent: true }),
});

/** The item of an outcome. A result that is too large becomes a failure with both sizes. */
export function outcomeItem(invocationId: string, settled: Settled, limits: Limits): ItemInit {
  if ("failure" in settled) return failureItem(invocationId, settled.failure, limits);
  const bytes = bytesIn(settled.result.outputJson);
  if (bytes <= Number(limits.outputBytes)) return resultItem(invocationId, settled.result);
  const message = `the output has ${bytes} bytes, and at most ${limits.outputBytes} fit`;
  return outcomeItem(invocationId, permanentFailure("output_too_large", message), limits);
}

function resultItem(invocationId: string, result: SettledResult): ItemInit {
  const { usage, queueDelayMs, outputJson, handle, actions = [], taint = [] } = result;
  const counted = usage && { usage: toUsageShape(usage) };
  const value = {
    invocationId,
    outputJson,
    handle,
    queueDelayMs: BigInt(queueDelayMs),
    ...counted,
    ...(actions.length === 0 ? {} : { actions: actions.map(toShape) }),
    ...(taint.length === 0 ? {} : { taint: [...taint] }),
  };
  return { item: { case: "result", value } };
}

/** The message is cut to fit, and details that do not fit beside it are left out. */
function failureItem(invocationId: string, failure: SettledFailure, limits: Limits): ItemInit {
  const { cause, permanent, retryAfterMs } = failure;
  const message = cut(failure.message, Number(limits.failureBytes));
  const room = Number(limits.failureBytes) - bytesIn(message);
  const detailsJson = bytesIn(failure.detailsJson) <= room ? failure.detailsJson : "";
  const facts = { cause, permanent, message, detailsJson };
  const value = { invocationId, ...facts, retryAfterMs: BigInt(Math.round(retryAfterMs)) };
  return { item: { case: "failure", value } };
}
