// The bounds of the memory: the bytes of one key, the number of keys, and the bytes of all of them. An outcome whose writes have no room is
// refused whole.

import { type ActionFault, refusedAction } from "../action/action.ts";
import { LIMITS } from "../data/limits.ts";
import { hasReference } from "../data/reference.ts";
import { utf8Bytes } from "../data/utf8.ts";
import {
  type Before,
  isMerged,
  mergedJson,
  type MemoryWrite,
  outputWrites,
  sizeOf,
} from "../log/memory.ts";
import type { RunState } from "../log/state.ts";
import { graphNodeAt, nodeIdAt } from "./place.ts";

/** Whether a key joins texts of which one is stored outside of the log. */
const joinsTexts = ({ graph }: RunState, key: string, texts: readonly string[]): boolean =>
  graph.definition.memory.get(key) === "concat" && texts.some(hasReference);

/** The scheduler has no value that is outside of the log, so it cannot join it with others. */
export const unjoinable = (what: string): ActionFault =>
  refusedAction(
    `${what} joins texts by concat, and one of them is too large for the log; use array, or write less`,
    "memory_too_large",
  );

/** Why the memory has no room for what the output of a whole node writes, or undefined. */
export function outputFault(
  state: RunState,
  nodeIndex: number,
  output: { readonly handle: string | undefined; readonly outputJson: string },
): ActionFault | undefined {
  const writes = outputWrites(graphNodeAt(state, nodeIndex), output);
  return writes.length === 0 ? undefined : memoryFault(state, { nodeIndex }, writes);
}

/** Why the memory has no room for these writes, or undefined. It looks only at the keys that are written. */
export function memoryFault(
  state: RunState,
  { nodeIndex }: { readonly nodeIndex: number },
  writes: readonly MemoryWrite[],
): ActionFault | undefined {
  const tooLarge = (message: string): ActionFault => refusedAction(message, "memory_too_large");
  const own = nodeIdAt(state, nodeIndex);
  const after = new Map<string, Before>();
  for (const write of writes) {
    const before = after.get(write.key) ?? state.memory.get(write.key);
    const texts = [before?.json ?? "", write.json];
    if (isMerged(state.graph, write) && joinsTexts(state, write.key, texts))
      return unjoinable(`the key ${write.key} of the memory`);
    after.set(write.key, { json: mergedJson(state.graph, before, write, own), nodeId: own });
  }
  let bytes = state.memoryBytes;
  let keys = state.memory.size;
  for (const [key, { json }] of after) {
    const entry = { bytes: utf8Bytes(json) };
    if (entry.bytes > LIMITS.valueBytes)
      return tooLarge(
        `the key ${key} of the memory would take ${entry.bytes} bytes; at most ${LIMITS.valueBytes}`,
      );
    const before = state.memory.get(key);
    bytes += sizeOf(key, entry) - (before === undefined ? 0 : sizeOf(key, before));
    if (before === undefined) keys += 1;
  }
  if (keys > LIMITS.memoryKeys)
    return tooLarge(`the memory would have ${keys} keys; at most ${LIMITS.memoryKeys}`);
  if (bytes > LIMITS.memoryBytes)
    return tooLarge(`the memory would take ${bytes} bytes; at most ${LIMITS.memoryBytes}`);
  return undefined;
}
