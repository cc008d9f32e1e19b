// What executors say, in the engine's words. Text of theirs goes into jsonb, which refuses NUL and lone surrogates: both are
// taken out here, so that no executor can poison a tick.

import { create } from "@bufbuild/protobuf";
import { checkJson } from "@pawl/core/data/json";
import { LIMITS } from "@pawl/core/data/limits";
import { isUuid, nodeId, runId } from "@pawl/core/name/ids";
import type { Outcome } from "@pawl/core/plan/result";
import {
  type Claim as WireClaim,
  ClaimSchema,
  type Outcome as WireOutcome,
  type SchedulerItem,
  SchedulerItemSchema,
} from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import type { Claim } from "../tick/input.ts";

const decoder = new TextDecoder();
const CAUSE_LENGTH = 64;
const MESSAGE_LENGTH = 4_096;

/** The claim, or undefined when it cannot be one: such a claim is stale by definition. */
export function claimOf(wire: WireClaim | undefined): Claim | undefined {
  if (wire === undefined || !isUuid(wire.runId) || wire.nodeId === "") return undefined;
  if (wire.epoch > BigInt(Number.MAX_SAFE_INTEGER)) return undefined;
  return {
    runId: runId(wire.runId),
    nodeId: nodeId(wire.nodeId),
    iteration: wire.iteration,
    epoch: Number(wire.epoch),
  };
}

/** Text that Postgres takes. */
export const cleanText = (text: string, lengthMax = MESSAGE_LENGTH): string =>
  text.slice(0, lengthMax).toWellFormed().replaceAll("\0", "");

/** How the attempt ended. An output that is not storable JSON is a failure of the handler, not of the engine. */
export function outcomeOf(wire: WireOutcome): Outcome {
  const durationMs = Number(wire.durationMs);
  const { result } = wire;
  if (result.case === "completed") {
    const { outputJson, handle, queueDelayMs } = result.value;
    const text = outputJson.length === 0 ? "null" : decoder.decode(outputJson);
    const checked = checkJson(text);
    if (!checked.ok)
      return failed(`the output is not acceptable JSON (${checked.reason})`, durationMs);
    const delayMs = Math.min(Number(queueDelayMs), LIMITS.delayMsMax);
    return {
      kind: "completed",
      outputJson: text,
      durationMs,
      ...(handle === "" ? {} : { handle: cleanText(handle, CAUSE_LENGTH) }),
      ...(delayMs === 0 ? {} : { queueDelayMs: delayMs }),
    };
  }
  if (result.case !== "failed") return failed("the executor reported no result", durationMs);
  const { cause, message, permanent, detailsJson } = result.value;
  const details = decoder.decode(detailsJson);
  return {
    kind: "failed",
    cause: cleanText(cause, CAUSE_LENGTH) || "provider_error",
    message: cleanText(message),
    permanent,
    durationMs,
    ...(details !== "" && checkJson(details).ok ? { detailsJson: details } : {}),
  };
}

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
