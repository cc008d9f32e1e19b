// QueueService over the stores: depths by node type, dead letters and pauses.

import { executionDefinition } from "@pawl/core/log/execution";
import type { Pool } from "@pawl/platform/db/pool";
import { openDeadLetters } from "@pawl/platform/store/dead-letters/reads";
import { readPauses } from "@pawl/platform/store/pauses/reads";
import { readDepths } from "@pawl/platform/store/survey/reads";
import type { TypeOf } from "@pawl/platform/store/survey/survey";
import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import type { DefinitionCache } from "./read/definition-cache.ts";
import type { createLists } from "./read/lists.ts";
import type { Scheduler } from "./request/forward.ts";
import { createQueueService } from "./rpc/queue-service.ts";

export function createQueues(
  pool: Pool,
  lists: ReturnType<typeof createLists>,
  { scheduler, definitions }: { scheduler: Scheduler; definitions: DefinitionCache },
) {
  const typeOf: TypeOf = async (definitionId, nodeId, iteration) => {
    const { graph } = await definitions.get(definitionId);
    const index = graph.indexOf.get(nodeId);
    return index === undefined ? undefined : executionDefinition(graph, index, iteration).type;
  };
  return createQueueService({
    scheduler,
    readDepths: () => readDepths(pool, DEFAULT_TENANT, typeOf),
    listDeadLetters: lists.deadLetters,
    readPauses: () => readPauses(pool),
    openDeadLetters: (filter, limit) => openDeadLetters(pool, DEFAULT_TENANT, filter, limit),
  });
}
