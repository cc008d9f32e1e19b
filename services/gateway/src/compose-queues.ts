// QueueService over the stores: depths by node type, dead letters and pauses.

import { executionDefinition } from "@pawl/core/log/execution";
import type { Pool } from "@pawl/platform/db/pool";
import { createDeadLetters } from "@pawl/platform/store/dead-letters-postgres";
import { readBook } from "@pawl/platform/store/pauses-postgres";
import { readDepths, type TypeOf } from "@pawl/platform/store/queue-depth";
import { DEFAULT_TENANT } from "@pawl/platform/store/tenant";
import type { DefinitionCache } from "./read/definition-cache.ts";
import type { createLists } from "./read/lists.ts";
import type { Scheduler } from "./rpc/forward.ts";
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
  const deadLetters = createDeadLetters(pool);
  return createQueueService({
    scheduler,
    readDepths: () => readDepths(pool, DEFAULT_TENANT, typeOf),
    listDeadLetters: lists.deadLetters,
    readPauses: () => readBook(pool),
    openDeadLetters: (filter, limit) => deadLetters.open(DEFAULT_TENANT, filter, limit),
  });
}
