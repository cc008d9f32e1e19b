// What executors say, in the engine's words. Text of theirs goes into jsonb, which refuses NUL and lone surrogates: both are
// taken out here, so that no executor can poison a tick.

import { create } from "@bufbuild/protobuf";
import { checkJson } from "@pawl/core/data/json";
import { LIMITS } from "@pawl/core/data/limits";
import { isName, isUuid, nodeId, runId } from "@pawl/core/name/ids";
import type { Outcome } from "@pawl/core/plan/result";
import {
  type Claim as WireClaim,
  ClaimSchema,
  type Outcome as WireOutcome,
  type SchedulerItem,
  SchedulerItemSchema,
} from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import type { Claim } from "../tick/input.ts";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
/** What an integer of the store holds; the wire allows twice as much. */
const INTEGER_MAX = 2 ** 31 - 1;
const CAUSE_LENGTH = 64;
/** As long as a name may be. */
const HANDLE_LENGTH = 128;
const MESSAGE_LENGTH = 4_096;

/** The claim, or undefined when it cannot be one: such a claim is stale by definition. */
export function claimOf(wire: WireClaim | undefined): Claim | undefined {
  if (wire === undefined || !isUuid(wire.runId) || !isName(wire.nodeId)) return undefined;
  if (wire.epoch > BigInt(Number.MAX_SAFE_INTEGER) || wire.iteration > INTEGER_MAX)
    return undefined;
  return {
    runId: runId(wire.runId),
    nodeId: nodeId(wire.nodeId),
    iteration: wire.iteration,
    epoch: Number(wire.epoch),
  };
}

/** True for a place in a stream that can be stored and counted. */
export const isIndex = (index: number): boolean => index < INTEGER_MAX;

/** Text that Postgres takes. */
export const cleanText = (text: string, lengthMax = MESSAGE_LENGTH): string =>
  text.slice(0, lengthMax).toWellFormed().replaceAll("\0", "");

/** How the attempt ended. An output that is not storable JSON is a failure of the handler, not of the engine. */
export function outcomeOf(wire: WireOutcome): Outcome {
  const durationMs = Math.min(Number(wire.durationMs), Number.MAX_SAFE_INTEGER);
  const { result } = wire;
  if (result.case === "completed") {
    const { outputJson, handle, queueDelayMs } = result.value;
    const text = outputJson.length === 0 ? "null" : decode(outputJson);
    if (text === undefined) return unacceptable("BAD_UNICODE", durationMs);
    const checked = checkJson(text);
    if (!checked.ok) return unacceptable(checked.reason, durationMs);
    const delayMs = Math.min(Number(queueDelayMs), LIMITS.delayMsMax);
    const left = cleanText(handle, HANDLE_LENGTH);
    return {
      kind: "completed",
      outputJson: text,
      durationMs,
      ...(left === "" ? {} : { handle: left }),
      ...(delayMs === 0 ? {} : { queueDelayMs: delayMs }),
    };
  }
  if (result.case !== "failed") return failed("the executor reported no result", durationMs);
  const { cause, message, permanent, detailsJson } = result.value;
  const details = decode(detailsJson) ?? "";
  return {
    kind: "failed",
    cause: cleanText(cause, CAUSE_LENGTH) || "provider_error",
    message: cleanText(message),
    permanent,
    durationMs,
    ...(details !== "" && checkJson(details).ok ? { detailsJson: details } : {}),
  };
}

/** The text, or undefined when the bytes are none. */
function decode(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

const unacceptable = (rule: string, durationMs: number): Outcome =>
  failed(`the output is not acceptable JSON (${rule})`, durationMs);

const failed = (message: string, durationMs: number): Outcome => ({
  kind: "failed",
  cause: "output_invalid",
  message,
  permanent: true,
  durationMs,
});

/** An item that only names a claim. */
export function claimItem(kind: "settled" | "claimLost" | "cancel", claim: Claim): SchedulerItem {
  const value = { claim: create(ClaimSchema, { ...claim, epoch: BigInt(claim.epoch) }) };
  // One constant case per branch: a union of cases is not a case of the union.
  if (kind === "settled") return create(SchedulerItemSchema, { item: { case: kind, value } });
  if (kind === "cancel") return create(SchedulerItemSchema, { item: { case: kind, value } });
  return create(SchedulerItemSchema, { item: { case: kind, value } });
}
