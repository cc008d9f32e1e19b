// NodeTypeService at the gateway reads the built-in types, the catalogue and the connected executors from the store. Schedulers write there
// when an executor registers, and with every renewal. So the lists cover every scheduler and need no call to one.

import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { NODE_DOCS } from "@pawl/core/definition/node-docs";
import { type BuiltInType, isBuiltIn, NODE_CONFIGS } from "@pawl/core/definition/node-types";
import { EngineError } from "@pawl/core/fault/engine-error";
import { nearestName } from "@pawl/core/name/nearest";
import { type AliveExecutor, readAliveExecutors } from "@pawl/platform/store/leases/reads";
import type { NodeTypeRecord } from "@pawl/platform/store/node-types/node-types";
import {
  getNodeType,
  listNodeTypes,
  readNodeTypeNames,
} from "@pawl/platform/store/node-types/reads";
import { toTimestampOrNone } from "@pawl/platform/wire/scalar";
import {
  GetNodeTypeResponseSchema,
  ListExecutorsResponseSchema,
  ListNodeTypesResponseSchema,
  type NodeTypeService,
} from "@pawl/proto/pawl/v1/node_type_service_pb";
import { z } from "zod";
import type { ServiceParts } from "./service-parts.ts";

/** A built-in type, as an entry of the list. */
interface BuiltInEntry {
  readonly nodeType: BuiltInType;
  readonly description: string;
}

const BUILT_IN: readonly BuiltInEntry[] = Object.keys(NODE_CONFIGS)
  .filter(isBuiltIn)
  .map((nodeType) => ({ nodeType, description: withoutLinks(NODE_DOCS[nodeType].purpose) }));

/** Removes links, which make sense on the pages of the documentation only. */
function withoutLinks(markdown: string): string {
  return markdown.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1");
}

export const createNodeTypeService = ({
  pool,
  pages,
}: Pick<ServiceParts, "pool" | "pages">): ServiceImpl<typeof NodeTypeService> => ({
  listNodeTypes: async (request) => {
    const [{ rows, nextPageToken }, executors] = await Promise.all([
      pages.page(request, (page) => listNodeTypes(pool, page, BUILT_IN)),
      readConnected(pool),
    ]);
    const nodeTypes = rows.map((row) => summaryOf(row, executors));
    return create(ListNodeTypesResponseSchema, { nodeTypes, nextPageToken });
  },
  getNodeType: async ({ type }) => {
    const [own, executors] = await Promise.all([
      isBuiltIn(type) ? undefined : getNodeType(pool, type),
      readConnected(pool),
    ]);
    const found = own ?? BUILT_IN.find(({ nodeType }) => nodeType === type);
    if (found === undefined) throw await typeNotFound(pool, type);
    return create(GetNodeTypeResponseSchema, { nodeType: wholeOf(found, executors) });
  },
  listExecutors: async () => {
    const executors = (await readConnected(pool)).map(wireExecutor);
    const byName = executors.toSorted((a, b) =>
      `${a.description}\n${a.executorId}` < `${b.description}\n${b.executorId}` ? -1 : 1,
    );
    return create(ListExecutorsResponseSchema, { executors: byName });
  },
});

/** Executors that are alive. An executor whose connection just ended is not connected. */
const readConnected = async (pool: ServiceParts["pool"]): Promise<AliveExecutor[]> =>
  (await readAliveExecutors(pool)).filter(({ hasLeft }) => !hasLeft);

type Entry = NodeTypeRecord | BuiltInEntry;

function summaryOf(entry: Entry, executors: readonly AliveExecutor[]) {
  const { nodeType: type, description } = entry;
  const serving = executors.filter(({ nodeTypes }) => nodeTypes.includes(type)).length;
  const updateTime = "updatedAt" in entry ? toTimestampOrNone(entry.updatedAt) : undefined;
  const external = "external" in entry && entry.external;
  const builtIn = !("updatedAt" in entry);
  return { type, description, builtIn, executors: serving, updateTime, external };
}

function wholeOf(entry: Entry, executors: readonly AliveExecutor[]) {
  const summary = summaryOf(entry, executors);
  if (!("updatedAt" in entry)) return { ...summary, configSchema: configSchemaOf(entry) };
  const { inputSchema, outputSchema, configSchema } = entry;
  return { ...summary, inputSchema, outputSchema, configSchema };
}

/** The config of a built-in type. Rules that JSON Schema cannot express are left out. */
const configSchemaOf = ({ nodeType }: BuiltInEntry): string =>
  JSON.stringify(z.toJSONSchema(NODE_CONFIGS[nodeType], { io: "input", unrepresentable: "any" }));

const wireExecutor = ({
  heldCount,
  silentMs,
  giveUpMs,
  schedulerId,
  connectedAt,
  ...row
}: AliveExecutor) => ({
  executorId: row.executorId,
  description: row.description,
  processName: row.processName,
  language: row.language,
  sdk: row.sdk,
  build: row.build,
  nodeTypes: row.nodeTypes.toSorted(),
  slots: row.slots,
  busy: heldCount,
  silentMs: BigInt(Math.round(silentMs)),
  giveUpMs: BigInt(Math.round(giveUpMs)),
  schedulerId: schedulerId ?? "",
  connectTime: toTimestampOrNone(connectedAt ?? undefined),
});

async function typeNotFound(pool: ServiceParts["pool"], type: string): Promise<EngineError> {
  const known = [...Object.keys(NODE_CONFIGS), ...(await readNodeTypeNames(pool))];
  const meant = nearestName(type, known);
  const hint = meant === undefined ? "no executor ever registered it" : `did you mean ${meant}?`;
  return new EngineError("NODE_TYPE_NOT_FOUND", `There is no node type ${type}; ${hint}`, {
    metadata: { node_type: type },
  });
}
