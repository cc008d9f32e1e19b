// A signal to a run, as callers send it.

import { LIMITS } from "@pawl/core/data/limits";
import { exceedsUtf8 } from "@pawl/core/data/utf8";
import { isSignalName, SIGNAL_NAME_RULE } from "@pawl/core/definition/signal-config";
import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import type { RunId } from "@pawl/core/name/ids";
import type { SignalRunRequest } from "@pawl/proto/pawl/v1/run_service_pb";
import { jsonOf, requestIdOf, runIdOf, valueOf } from "./fields.ts";

export interface SignalRequest {
  readonly runId: RunId;
  readonly name: string;
  /** JSON text. */
  readonly payloadJson: string;
  /** Undefined if the caller sent none. */
  readonly requestId: string | undefined;
}

/** @throws INPUT_INVALID, LIMIT_EXCEEDED */
export const parseSignal = (request: SignalRunRequest): SignalRequest => ({
  runId: runIdOf(request.runId),
  name: signalNameOf(request.name),
  payloadJson: payloadOf(request),
  requestId: requestIdOf(request.requestId) ?? undefined,
});

function signalNameOf(name: string): string {
  if (isSignalName(name)) return name;
  throw invalidField("name", "BAD_ID", `is not ${SIGNAL_NAME_RULE}`);
}

function payloadOf({ payloadJson, payload }: SignalRunRequest): string {
  const isExact = payloadJson.length > 0;
  const given = payload === undefined ? "null" : valueOf("payload", payload);
  const text = isExact ? jsonOf("payload_json", payloadJson) : given;
  if (!exceedsUtf8(text, LIMITS.signalBytes)) return text;
  const message = `A payload has at most ${LIMITS.signalBytes} bytes.`;
  throw new EngineError("LIMIT_EXCEEDED", message, { metadata: { limit: "signalBytes" } });
}
