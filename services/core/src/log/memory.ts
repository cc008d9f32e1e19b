// The memory of a run: values by key that outlive the node that wrote them. The log is its only store. A write is a `memory.updated`, or
// the `node.completed` of a node with a write_key, or of a `remember` node. Parallel writers of one key resolve by the order of the log:
// the last write wins, unless the workflow has another merge for the key.
// Values are JSON texts, and the fold does not parse them, except for texts that `concat` joins and for the text of a model's answer.

import { merge, type MergeStrategy } from "../data/merge.ts";
import { isReference } from "../data/reference.ts";
import { joinObject, splitArray, splitObject } from "../data/split-array.ts";
import { utf8Bytes } from "../data/utf8.ts";
import type { Graph, GraphNode } from "../definition/graph.ts";
import type { MemoryReads } from "../definition/shape.ts";
import { unreachable } from "../fault/invariant.ts";
import { joinTaint, type Taint } from "../policy/taint.ts";
import type { Fact, FactOf, LoggedFact } from "./event.ts";
import { isItem } from "./execution.ts";
import type { MemoryEntry } from "./memory-entry.ts";
import type { RunState } from "./state.ts";

/** What one write does to a key. */
export interface MemoryWrite {
  readonly key: string;
  /** JSON text. */
  readonly json: string;
  /** Replaces the value, whatever merge the workflow has for the key. */
  readonly isReplaced?: boolean;
  readonly taint?: Taint | undefined;
}

type Writing = FactOf<"node.completed"> | FactOf<"memory.updated">;

/** Types whose output is the answer of a model: its text goes into the memory. */
const ANSWERS: ReadonlySet<string> = new Set(["llm", "agent"]);

/** Whether the output of a whole node may write the memory. */
export const mayWrite = ({
  definition: { type, writeKey },
}: Pick<GraphNode, "definition">): boolean => writeKey !== null || type === "remember";

/** What the output of a whole node writes. A node that failed and leaves by `error` writes nothing. */
export function outputWrites(
  node: Pick<GraphNode, "definition">,
  { handle, outputJson }: { readonly handle: string | undefined; readonly outputJson: string },
): readonly MemoryWrite[] {
  if (!mayWrite(node) || handle === "error") return NONE;
  const { type, writeKey } = node.definition;
  const written =
    type === "remember" ? [...splitObject(outputJson)].map(([key, json]) => ({ key, json })) : [];
  if (writeKey === null) return written;
  return [...written, { key: writeKey, json: textOf(type, outputJson) }];
}

const NONE: readonly MemoryWrite[] = [];

function textOf(type: string, outputJson: string): string {
  if (!ANSWERS.has(type) || !outputJson.trimStart().startsWith("{")) return outputJson;
  return splitObject(outputJson).get("text") ?? outputJson;
}

/** The keys that a fact may have written, also if its round has ended since. An item is taken for its node. */
export function writtenKeys(graph: Graph, fact: Fact): readonly string[] {
  if (fact.type === "memory.updated") return fact.payload.keys;
  if (fact.type === "run.thread.taken") return [...splitObject(fact.value ?? "{}").keys()];
  return writesOf(graph, fact).map(({ key }) => key);
}

/** The writes of a fact about a whole node. Most facts write nothing. */
function writesOf(graph: Graph, event: Fact): readonly MemoryWrite[] {
  if (!isWriting(event)) return NONE;
  if (event.type === "memory.updated") {
    const { replaced = [], taint = {} } = event.payload;
    return [...splitObject(event.value ?? "{}")].map(([key, json]) => ({
      key,
      json,
      isReplaced: replaced.includes(key),
      taint: Object.hasOwn(taint, key) ? taint[key] : undefined,
    }));
  }
  const index = event.nodeId === "" ? undefined : graph.indexOf.get(event.nodeId);
  const node = index === undefined ? undefined : graph.nodes[index];
  if (node === undefined) return NONE;
  const { handle, taint } = event.payload;
  const writes = outputWrites(node, { handle, outputJson: event.value ?? "null" });
  return taint === undefined ? writes : writes.map((write) => ({ ...write, taint }));
}

const isWriting = (event: Fact): event is Writing =>
  event.type === "node.completed" || event.type === "memory.updated";

/** Folds the writes of an event. */
export function remember(state: RunState, event: LoggedFact): void {
  if (event.nodeId === "") return;
  // An item and a compensation write by actions only: the write_key is for the joined output of its node.
  if (event.type === "node.completed" && isItemEvent(state, event)) return;
  for (const write of writesOf(state.graph, event)) {
    const before = state.memory.get(write.key);
    const json = mergedJson(state.graph, before, write, event.nodeId);
    const taint = joinTaint(write.taint, isMerged(state.graph, write) ? before?.taint : undefined);
    const made = { json, bytes: utf8Bytes(json), seq: event.seq, nodeId: event.nodeId };
    const entry = taint === undefined ? made : { ...made, taint };
    state.memoryBytes +=
      sizeOf(write.key, entry) - (before === undefined ? 0 : sizeOf(write.key, before));
    state.memory.set(write.key, entry);
  }
}

/** The run takes its thread: the memory of the thread replaces that of the run. A repaired run takes only the memory over. */
export function takeMemory(
  state: RunState,
  { payload, value = "{}", seq }: FactOf<"run.thread.taken"> & { readonly seq: number },
): void {
  const { taint = {}, reused } = payload;
  if (reused === undefined) state.isThreadTaken = true;
  state.memory.clear();
  state.memoryBytes = 0;
  for (const [key, json] of splitObject(value)) {
    const made = { json, bytes: utf8Bytes(json), seq, nodeId: "" } as const;
    const entry = Object.hasOwn(taint, key) ? { ...made, taint: taint[key] ?? [] } : made;
    state.memoryBytes += sizeOf(key, entry);
    state.memory.set(key, entry);
  }
}

/** Whether the value of a key still contains what it had before the write. */
export const isMerged = (
  { definition: { memory } }: Graph,
  { key, isReplaced = false }: Pick<MemoryWrite, "key" | "isReplaced">,
): boolean => !isReplaced && (memory.get(key) ?? "last_write_wins") !== "last_write_wins";

function isItemEvent(state: RunState, { nodeId, iteration }: LoggedFact): boolean {
  const index = nodeId === "" ? undefined : state.graph.indexOf.get(nodeId);
  return index !== undefined && isItem(state, index, iteration);
}

/** Quotes, a colon and a comma surround each key. Keys are ASCII. */
export const sizeOf = (key: string, { bytes }: Pick<MemoryEntry, "bytes">): number =>
  key.length + 4 + bytes;

/** The value of a key before a write, and the node that wrote it. */
export type Before = Pick<MemoryEntry, "json" | "nodeId">;

/** The value of a key after a write. */
export function mergedJson(
  graph: Graph,
  before: Before | undefined,
  { key, json, isReplaced = false }: MemoryWrite,
  nodeId: string,
): string {
  const strategy = (isReplaced ? undefined : graph.definition.memory.get(key)) ?? "last_write_wins";
  const items: Labelled[] = before === undefined ? [] : labelled(strategy, before);
  return mergeJsons(strategy, [...items, [nodeId, json]]);
}

type Labelled = readonly [label: string, json: string];

/**
 * What a merged value was made of, as far as its strategy needs it. A value that this strategy did not make is one item. Another merge may
 * have replaced the value, the run may have it from its thread, or it is stored outside of the log.
 */
function labelled(strategy: MergeStrategy, { json, nodeId }: Before): Labelled[] {
  const first = json.trimStart()[0];
  if (strategy === "array" && first === "[") return splitArray(json).map((each) => ["", each]);
  if (strategy === "json_object" && first === "{" && !isReference(json))
    return [...splitObject(json)];
  return [[nodeId, json]];
}

/** Several values as one, without changing the spelling of values that are not joined into a text. */
export function mergeJsons(strategy: MergeStrategy, items: readonly Labelled[]): string {
  switch (strategy) {
    case "last_write_wins":
      return items.at(-1)?.[1] ?? "null";
    case "array":
      return `[${items.map(([, json]) => json).join(",")}]`;
    case "json_object":
      return joinObject(new Map(items));
    case "concat": {
      const parsed = items.map(([label, json]) => ({ label, value: JSON.parse(json) as unknown }));
      return JSON.stringify(merge(strategy, parsed));
    }
    default:
      return unreachable(strategy, "merge strategy");
  }
}

const isRead = (reads: MemoryReads, key: string): boolean => reads === "all" || reads.has(key);

/** The keys that both lists allow and that have a value. The cost depends on the shorter list. */
export function* readEntries(
  { memory }: RunState,
  keys: MemoryReads,
  named: MemoryReads,
): Generator<readonly [string, MemoryEntry]> {
  if (memory.size === 0) return;
  const [first, other] = keys === "all" ? [named, keys] : [keys, named];
  for (const key of first === "all" ? memory.keys() : first) {
    const entry = memory.get(key);
    if (entry !== undefined && isRead(other, key)) yield [key, entry];
  }
}

/** The memory that a node gets, as a JSON object. */
export function memoryJson(state: RunState, keys: MemoryReads, named: MemoryReads): string {
  if (state.memory.size === 0) return "{}";
  const entries = readEntries(state, keys, named);
  return joinObject([...entries].map(([key, { json }]) => [key, json] as const));
}

/** An upper bound of the bytes of `memoryJson` in a context. */
export function memoryBytes(state: RunState, keys: MemoryReads, named: MemoryReads): number {
  if (state.memory.size === 0) return 0;
  // `,"memory":{}` frames the keys.
  let bytes = 12;
  if (keys === "all" && named === "all") return bytes + state.memoryBytes;
  for (const [key, entry] of readEntries(state, keys, named)) bytes += sizeOf(key, entry);
  return bytes;
}
