// pawl node-type list, get; pawl executor list.

import { plainExecutor } from "@pawl/client";
import type { Executor, NodeType } from "@pawl/proto/pawl/v1/node_type_service_pb";
import type { Command } from "commander";
import { type PageFlags, pageFlags, type Verb } from "../grammar.ts";
import { type Cell, factLines } from "../render/table.ts";
import { formatDuration, isoText } from "../render/words.ts";
import { canvasOf, print, printLines, printList, printPretty, type Session } from "../session.ts";

interface Nouns {
  readonly nodeType: Command;
  readonly executor: Command;
}

export function nodeTypeVerbs({ nodeType, executor }: Nouns, verb: Verb): void {
  pageFlags(verb(nodeType, "list", "List built-in types and types of your handlers", listTypes));
  verb(nodeType, "get <type>", "Print a node type with its schemas", getType);
  const lists = "List executors and handler processes with their slots and silence";
  verb(executor, "list", lists, listExecutors);
}

/** A page of the catalogue. */
async function listTypes(session: Session, flags: PageFlags): Promise<void> {
  const { limit: pageSize, pageToken } = flags;
  const options = { pageSize, pageToken, signal: session.interrupted };
  const { nodeTypes, nextPageToken } = await session.client.nodeTypes.list(options);
  printList(session, {
    items: nodeTypes,
    json: { nodeTypes: nodeTypes.map((type) => summaryOf(type)), nextPageToken },
    none: "No node types.",
    heads: ["TYPE", "EXECUTORS", "ORIGIN", "DESCRIPTION"],
    rowOf: ({ type, executors, builtIn, external, description }) => [
      type,
      String(executors),
      builtIn ? "built in" : external ? "external" : "handler",
      description,
    ],
    next: [`${session.self} node-type list`, nextPageToken],
  });
}

const summaryOf = ({ type, description, builtIn, executors, external, updateTime }: NodeType) => ({
  type,
  description,
  builtIn,
  executors,
  ...(external ? { external } : {}),
  ...(updateTime === undefined ? {} : { updateTime: isoText(updateTime) }),
});

const SCHEMAS = ["inputSchema", "outputSchema", "configSchema"] as const;

/** One type and its schemas. */
async function getType(session: Session, name: string): Promise<void> {
  const found = await session.client.nodeTypes.get(name, { signal: session.interrupted });
  const schemas = SCHEMAS.flatMap((key) =>
    found[key] === "" ? [] : [[key, JSON.parse(found[key]) as unknown] as const],
  );
  if (session.format === "json") {
    print(session, { ...summaryOf(found), ...Object.fromEntries(schemas) }, () => []);
    return;
  }
  const canvas = canvasOf(session);
  printLines(session, [
    ...factLines("type", { text: found.type }, canvas),
    ...factLines("what", { text: found.description }, canvas),
    ...(found.external
      ? factLines("outputs", { text: "data from outside, with the label external" }, canvas)
      : []),
    ...factLines("executors", { text: String(found.executors) }, canvas),
    ...factLines("changed", { text: isoText(found.updateTime) }, canvas),
    ...(schemas.length === 0 ? ["It publishes no schemas: its input and output may be any."] : []),
  ]);
  for (const [key, schema] of schemas) {
    printLines(session, ["", key.replace("Schema", " schema")]);
    printPretty(session, schema);
  }
}

/** Everything that is connected to a scheduler. */
async function listExecutors(session: Session): Promise<void> {
  const executors = await session.client.executors.list({ signal: session.interrupted });
  const hasBuilds = executors.some(({ build }) => build !== "");
  printList(session, {
    items: executors,
    json: { executors: executors.map(plainExecutor) },
    none: "No executor is connected.",
    heads: ["NAME", "LANGUAGE", ...(hasBuilds ? ["BUILD"] : []), "BUSY", "STATE", "TYPES"],
    rowOf: (executor) => rowOf(executor, hasBuilds),
  });
}

const rowOf = (executor: Executor, hasBuilds: boolean): readonly Cell[] => {
  const { processName, description, executorId, slots, busy } = executor;
  const named = processName === "" ? description : processName;
  return [
    named === "" ? executorId : named,
    executor.language,
    ...(hasBuilds ? [executor.build] : []),
    `${busy}/${slots}`,
    stateOf(executor),
    executor.nodeTypes.join(" "),
  ];
};

const stateOf = ({ silentMs }: Executor): Cell =>
  silentMs === 0n
    ? "answers"
    : { text: `silent ${formatDuration(Number(silentMs))}`, style: "red" };
