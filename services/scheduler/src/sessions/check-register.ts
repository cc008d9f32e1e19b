// Whether a Register can be taken at all: its fields, and who may serve the built-in node types. An executor of the built-in types
// sees every input of the product's own nodes and makes up their outputs, so it has to present the token where the scheduler has one.

import { createHash, timingSafeEqual } from "node:crypto";
import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import { isName, isUuid } from "@pawl/core/name/ids";
import type { Secret } from "@pawl/platform/config/secret";
import type { Register } from "@pawl/proto/pawl/worker/v1/worker_service_pb";

export const SLOTS_MAX = 10_000;
const TYPES_MAX = 1_000;

export interface BuiltIns {
  readonly types: ReadonlySet<string>;
  /** What an executor has to present to serve them; every executor may where there is none. */
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
  const bad = hello.nodeTypes.findIndex((type) => !isName(type));
  if (bad >= 0)
    throw invalidField(`register.node_types[${bad}]`, "BAD_ID", "must be a name of [A-Za-z0-9._-]");
  const reserved = hello.nodeTypes.filter((type) => types.has(type));
  if (reserved.length > 0 && token !== undefined && !isSame(hello.token, token))
    throw new EngineError(
      "FORBIDDEN",
      `The node types ${reserved.join(", ")} are built in and reserved. Set PAWL_EXECUTOR_TOKEN of this executor to the scheduler's, or serve node types with names of your own.`,
    );
}

/** Compares digests in constant time, so that an answer's delay tells nothing of the token. */
function isSame(given: string, token: Pick<Secret, "reveal">): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(token.reveal()));
}
