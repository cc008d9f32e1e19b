// The key of an input: by it the same input starts nothing again, for callers who ask for that. It is opt-in: a
// hash alone would forbid every deliberate second run of the same input.

import { LIMITS } from "@pawl/core/data/limits";
import { canonicalJson } from "@pawl/core/definition/canonical";
import { invalidField } from "@pawl/core/fault/engine-error";
import { type Idempotency, IdempotencyScope } from "@pawl/proto/pawl/v1/run_service_pb";
import type { StartInput } from "../inputs/input.ts";
import { sha256 } from "./digest.ts";

/**
 * sha256 of the workflow's id, a line break (no id holds one, so no two pairs read the same) and the input as canonical JSON.
 * @throws INPUT_INVALID
 */
export function inputKeyOf(
  asked: Idempotency | undefined,
  workflowId: string,
  input: string,
): StartInput["inputKey"] {
  if (asked === undefined) return undefined;
  if (asked.scope !== IdempotencyScope.INPUT_HASH)
    throw invalidField("idempotency.scope", "UNKNOWN_ENUM", "must be INPUT_HASH");
  const value: unknown = JSON.parse(input);
  return { key: sha256(`${workflowId}\n${canonicalJson(value)}`), ttlMs: ttlMsOf(asked) };
}

function ttlMsOf({ ttl }: Idempotency): number {
  if (ttl === undefined) return LIMITS.inputKeyMs;
  const ms = Number(ttl.seconds) * 1_000 + Math.trunc(ttl.nanos / 1e6);
  if (ms < 1 || ms > LIMITS.inputKeyMsMax)
    throw invalidField(
      "idempotency.ttl",
      "OUT_OF_RANGE",
      `must be from 1 ms to ${LIMITS.inputKeyMsMax} ms`,
    );
  return ms;
}
