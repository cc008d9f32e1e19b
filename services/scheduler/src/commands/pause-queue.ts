// Pauses and resumes queues, each the queue of a node type. Once a pause is answered no scheduler commits a claim of that type any
// more: a claim proves the pauses it was decided on. What runs finishes, and what is queued stays where it is.

import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import { isName } from "@pawl/core/name/ids";
import type { PauseKey, PauseRecord, Pauses } from "@pawl/platform/store/pauses/pauses";
import { requestIdOf } from "@pawl/platform/wire/request-id";
import type { KnownPauses } from "../commit/known-pauses.ts";
import { pauseWordsOf } from "./pause-workflow.ts";

export interface PauseQueueParts {
  readonly pauses: Pauses;
  readonly known: KnownPauses;
  /** Whether anybody has ever asked for this node type. */
  readonly hasQueue: (nodeType: string) => Promise<boolean>;
}

interface PauseQueueRequest {
  readonly nodeType: string;
  readonly by: string;
  readonly reason: string;
  readonly requestId: string;
}

/** @throws NODE_TYPE_NOT_FOUND, INPUT_INVALID, STORE_UNAVAILABLE */
export async function pauseQueue(
  parts: PauseQueueParts,
  tenantId: string,
  request: PauseQueueRequest,
): Promise<PauseRecord> {
  const key = await keyOf(parts, tenantId, request);
  const pause = await parts.pauses.pause(key, pauseWordsOf(request));
  await parts.known.reload();
  return pause;
}

/** What was not paused is left as it is. @throws NODE_TYPE_NOT_FOUND, INPUT_INVALID, STORE_UNAVAILABLE */
export async function resumeQueue(
  parts: PauseQueueParts,
  tenantId: string,
  request: PauseQueueRequest,
): Promise<void> {
  const key = await keyOf(parts, tenantId, request);
  await parts.pauses.resume(key, pauseWordsOf(request));
  await parts.known.reload();
}

async function keyOf(
  { hasQueue }: PauseQueueParts,
  tenantId: string,
  { nodeType, requestId }: PauseQueueRequest,
): Promise<PauseKey> {
  requestIdOf(requestId);
  // The engine's own queues begin with an underscore, as no name does.
  if (!isName(nodeType))
    throw invalidField("node_type", "BAD_ID", "must be 1 to 128 characters of [A-Za-z0-9._-]");
  if (!(await hasQueue(nodeType)))
    throw new EngineError("NODE_TYPE_NOT_FOUND", `There is no node type ${nodeType}.`, {
      metadata: { node_type: nodeType },
    });
  return { scope: "queue", tenantId, name: nodeType };
}
