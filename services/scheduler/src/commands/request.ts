// Checks that every command shares. The gateway makes the same checks first; the scheduler repeats them, since other callers can reach it.

import { checkJson } from "@pawl/core/data/json";
import { LIMITS } from "@pawl/core/data/limits";
import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import { isName, isUuid, type RunId, runId } from "@pawl/core/name/ids";
import type { Duration } from "@bufbuild/protobuf/wkt";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** @throws INPUT_INVALID */
export function workflowIdOf(text: string): string {
  if (!isName(text))
    throw invalidField("workflow_id", "BAD_ID", "must be 1 to 128 characters of [A-Za-z0-9._-]");
  return text;
}

/** @throws INPUT_INVALID */
export function scheduleIdOf(text: string): string {
  if (!isName(text))
    throw invalidField("schedule_id", "BAD_ID", "must be 1 to 128 characters of [A-Za-z0-9._-]");
  return text;
}

/** A run id in any case, made canonical. @throws INPUT_INVALID */
export function runIdOf(text: string): RunId {
  const canonical = text.toLowerCase();
  if (!isUuid(canonical)) throw invalidField("run_id", "BAD_ID", "must be a UUID");
  return runId(canonical);
}

/** The input as JSON text; `null` when there is none. @throws INPUT_INVALID, LIMIT_EXCEEDED */
export const inputOf = (bytes: Uint8Array): string =>
  bytes.length === 0 ? "null" : jsonTextOf("input_json", bytes);

/** JSON of a caller as text. @throws INPUT_INVALID, LIMIT_EXCEEDED */
export function jsonTextOf(field: string, bytes: Uint8Array): string {
  if (bytes.length > LIMITS.inputBytes)
    throw new EngineError(
      "LIMIT_EXCEEDED",
      `${field} is ${bytes.length} bytes; at most ${LIMITS.inputBytes} are taken.`,
      { metadata: { limit: "inputBytes", field } },
    );
  const text = decode(field, bytes);
  const checked = checkJson(text);
  if (!checked.ok)
    throw invalidField(field, checked.reason, `is not acceptable JSON (${checked.reason})`);
  return text;
}

/** @throws INPUT_INVALID */
function decode(field: string, bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw invalidField(field, "BAD_UNICODE", "is not UTF-8");
  }
}

/** @throws INPUT_INVALID */
export function priorityOf(priority: number): number {
  if (Math.abs(priority) > LIMITS.priorityMax)
    throw invalidField(
      "priority",
      "OUT_OF_RANGE",
      `must be from -${LIMITS.priorityMax} to ${LIMITS.priorityMax}`,
    );
  return priority;
}

/** How long the run may take. @throws INPUT_INVALID */
export function deadlineMsOf(duration: Duration | undefined, defaultMs: number): number {
  if (duration === undefined) return defaultMs;
  const ms = Number(duration.seconds) * 1_000 + Math.trunc(duration.nanos / 1e6);
  if (ms < 1 || ms > LIMITS.runDeadlineMsMax)
    throw invalidField(
      "deadline",
      "OUT_OF_RANGE",
      `must be from 1 ms to ${LIMITS.runDeadlineMsMax} ms`,
    );
  return ms;
}
