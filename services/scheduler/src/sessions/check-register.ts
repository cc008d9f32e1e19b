// Checks the fields of a Register, and whether the executor may serve the built-in node types. An executor of built-in types sees every
// input of the product's own nodes and makes their outputs. So it must present the token if the scheduler has one.

import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import { isUuid } from "@pawl/core/name/ids";
import { isTypeName, TYPE_RULE } from "@pawl/core/name/type-name";
import type { Secret } from "@pawl/platform/config/secret";
import { isSameSecret } from "@pawl/platform/rpc/same-secret";
import type { Register } from "@pawl/proto/pawl/worker/v1/worker_service_pb";

export const SLOTS_MAX = 10_000;
const TYPES_MAX = 1_000;

export interface BuiltIns {
  readonly types: ReadonlySet<string>;
  /** The token that an executor must present to serve built-in types. Without a token every executor may serve them. */
  readonly token: Pick<Secret, "reveal"> | undefined;
}

/** @throws INPUT_INVALID or FORBIDDEN */
export function checkRegister(hello: Register, { types, token }: BuiltIns): void {
  if (!isUuid(hello.executorId))
    throw invalidField("register.executor_id", "BAD_ID", "must be a UUID");
  if (hello.instanceId !== "" && !isUuid(hello.instanceId))
    throw invalidField("register.instance_id", "BAD_ID", "must be a UUID, or empty");
  if (hello.slots > SLOTS_MAX)
    throw invalidField("register.slots", "OUT_OF_RANGE", `must be at most ${SLOTS_MAX}`);
  if (hello.nodeTypes.length === 0 || hello.nodeTypes.length > TYPES_MAX)
    throw invalidField("register.node_types", "OUT_OF_RANGE", `must name 1 to ${TYPES_MAX} types`);
  const bad = hello.nodeTypes.findIndex((type) => !isTypeName(type));
  if (bad >= 0) throw invalidField(`register.node_types[${bad}]`, "BAD_ID", `must be ${TYPE_RULE}`);
  if (hello.webhookSlots > SLOTS_MAX)
    throw invalidField("register.webhook_slots", "OUT_OF_RANGE", `must be at most ${SLOTS_MAX}`);
  const reserved = hello.nodeTypes.filter((type) => types.has(type));
  if (hello.webhookSlots > 0) reserved.push("webhooks");
  if (reserved.length > 0 && token !== undefined && !isSameSecret(hello.token, token.reveal()))
    throw new EngineError(
      "FORBIDDEN",
      `The node types ${reserved.join(", ")} are built in and reserved. Set PAWL_EXECUTOR_TOKEN of this executor to the scheduler's, or serve node types with names of your own.`,
    );
}
