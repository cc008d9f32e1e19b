// The answer of a process as the result of a handler. The process may be wrong or hostile: an output that the log refuses is a failure
// here, and run/outcome.ts checks the rest, as for every handler.

import { parseActions } from "@pawl/core/action/action";
import { fromShape } from "@pawl/core/action/shape";
import { checkJson, STORED_LIMITS } from "@pawl/core/data/json";
import { fromUsageShape } from "@pawl/core/log/usage-shape";
import { failure } from "@pawl/core/handler/failure";
import { type Failure, type Result } from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import type { HandlerResult } from "../handlers/handler.ts";
import { HOST_LIMITS } from "./limits.ts";

/** The result of a handler that returned. */
export function resultOf(reported: Result): HandlerResult {
  const { outputJson, handle, usage, queueDelayMs } = reported;
  const bytes = Buffer.byteLength(outputJson);
  if (bytes > HOST_LIMITS.outputBytes)
    return failure(
      "output_too_large",
      `the output takes ${bytes} bytes; at most ${HOST_LIMITS.outputBytes} bytes. Let the handler give less.`,
      { permanent: true },
    );
  const output = checkJson(outputJson === "" ? "null" : outputJson, STORED_LIMITS);
  if (!output.ok)
    return failure("output_invalid", `the output of the handler: ${output.message}`, {
      permanent: true,
    });
  const acted = parseActions(reported.actions.map(fromShape), STORED_LIMITS);
  if (!acted.ok) return failure(acted.cause, acted.message, { permanent: true });
  return {
    output: output.value,
    ...(acted.actions.length > 0 && { actions: acted.actions }),
    queueDelayMs: Number(queueDelayMs),
    ...(handle !== "" && { handle }),
    ...(reported.taint.length > 0 && { taint: reported.taint }),
    ...(usage && { usage: fromUsageShape(usage) }),
  };
}

/** The result of a handler that failed. Details that the log refuses are left out. */
export function failureOf(reported: Failure): HandlerResult {
  const { cause, message, permanent, retryAfterMs, detailsJson } = reported;
  const details = detailsJson === "" ? undefined : checkJson(detailsJson);
  return {
    failed: {
      cause,
      message,
      permanent,
      retryAfterMs: Number(retryAfterMs),
      ...(details?.ok === true && { details: details.value }),
    },
  };
}
