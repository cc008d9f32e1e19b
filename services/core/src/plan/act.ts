// The facts of the actions of an outcome: what the memory gets, and how the run ends or pauses. They follow the fact that ends the claim,
// in the same commit. All actions of an outcome are possible, or the outcome is refused whole.

import { type ActionFault, refusedAction } from "../action/action.ts";
import type { Action, ActionOf } from "../action/kinds.ts";
import { LIMITS } from "../data/limits.ts";
import { joinObject, splitObject } from "../data/split-array.ts";
import { exceedsUtf8, utf8Bytes } from "../data/utf8.ts";
import type { Fact, RunStatus } from "../log/event.ts";
import { isItem } from "../log/execution.ts";
import { mergedJson, mergeJsons, type MemoryWrite, outputWrites, sizeOf } from "../log/memory.ts";
import type { RunState } from "../log/state.ts";
import { nodeId } from "../name/ids.ts";
import { onPause } from "./pause.ts";
import { graphNodeAt, nodeIdAt, placeAt, RUN_PLACE } from "./place.ts";
import { cancelUnsettled } from "./stop.ts";

type Acted = { readonly ok: true; readonly facts: readonly Fact[] } | ActionFault;

/** The execution that acts, and its claim. */
interface At {
  readonly nodeIndex: number;
  readonly iteration: number;
  readonly epoch: number;
}

/** The part of an outcome that acts. */
interface Acting {
  readonly kind: string;
  readonly actions?: readonly Action[];
  readonly handle?: string;
  readonly outputJson?: string;
}

const NOTHING: Acted = { ok: true, facts: [] };

/** The facts of the actions that came with an outcome, or the fault of the first that cannot be done. */
export function actionFacts(state: RunState, at: At, outcome: Acting): Acted {
  const { actions = [] } = outcome;
  const own = ownWrites(state, at, outcome);
  if (actions.length === 0 && own.length === 0) return NOTHING;
  const asked = askedWrites(state, actions);
  if ("ok" in asked) return asked;
  const fault = memoryFault(state, at, [...own, ...asked]);
  if (fault !== undefined) return fault;
  const facts = asked.length === 0 ? [] : [memoryFact(state, at, asked)];
  if (exceedsUtf8(facts[0]?.value ?? "", LIMITS.valueBytes))
    return refusedAction(
      `the actions would write more than ${LIMITS.valueBytes} bytes to the memory at once`,
      "memory_too_large",
    );
  for (const action of actions) {
    const more = statusFacts(state, at, outcome, action);
    if ("ok" in more) return more;
    facts.push(...more);
  }
  return { ok: true, facts };
}

/** What the output itself writes. The fold takes it from node.completed. */
function ownWrites(state: RunState, at: At, outcome: Acting): readonly MemoryWrite[] {
  const { kind, handle, outputJson = "null" } = outcome;
  if (kind !== "completed" || isItem(state, at.nodeIndex, at.iteration)) return [];
  return outputWrites(graphNodeAt(state, at.nodeIndex), { handle, outputJson });
}

/** What the actions write, in their order: a later write of a key replaces an earlier one. */
function askedWrites(
  state: RunState,
  actions: readonly Action[],
): readonly MemoryWrite[] | ActionFault {
  const writes = new Map<string, MemoryWrite>();
  for (const action of actions) {
    if (action.type === "update_memory")
      for (const [key, json] of splitObject(action.valuesJson)) writes.set(key, { key, json });
    if (action.type !== "merge_parallel_results") continue;
    const json = mergedResults(state, action, writes);
    if (typeof json !== "string") return json;
    writes.set(action.into, { key: action.into, json, isReplaced: true });
  }
  return [...writes.values()];
}

type Result = readonly [label: string, json: string, seq: number];

/** The merged value of keys or nodes. `last_write_wins` takes the newest by event id, the others keep the order of the list. */
function mergedResults(
  state: RunState,
  { keys, nodes, strategy }: ActionOf<"merge_parallel_results">,
  writes: ReadonlyMap<string, MemoryWrite>,
): string | ActionFault {
  const unknown = nodes.find((id) => !state.graph.indexOf.has(nodeId(id)));
  if (unknown !== undefined)
    return refusedAction(`merge_parallel_results: there is no node ${unknown}`);
  const ofKeys = keys.flatMap((key): Result[] => {
    const own = writes.get(key);
    if (own !== undefined) return [[key, own.json, Infinity]];
    const entry = state.memory.get(key);
    return entry === undefined ? [] : [[key, entry.json, entry.seq]];
  });
  const ofNodes = nodes.flatMap((id): Result[] => {
    const node = state.nodes[state.graph.indexOf.get(nodeId(id)) ?? -1];
    if (node?.status !== "completed" || node.output === undefined) return [];
    return [[id, node.output, node.causeSeq]];
  });
  const results = [...ofKeys, ...ofNodes];
  if (strategy === "last_write_wins") results.sort(([, , a], [, , b]) => a - b);
  return mergeJsons(
    strategy,
    results.map(([label, json]) => [label, json]),
  );
}

/** Why the memory has no room for these writes, or undefined. It looks only at the keys that are written. */
function memoryFault(
  state: RunState,
  { nodeIndex }: At,
  writes: readonly MemoryWrite[],
): ActionFault | undefined {
  const tooLarge = (message: string): ActionFault => refusedAction(message, "memory_too_large");
  const own = nodeIdAt(state, nodeIndex);
  const after = new Map<string, string>();
  for (const write of writes) {
    const before = after.get(write.key) ?? state.memory.get(write.key)?.json;
    after.set(write.key, mergedJson(state.graph, before, write, own));
  }
  let bytes = state.memoryBytes;
  let keys = state.memory.size;
  for (const [key, json] of after) {
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

function memoryFact(state: RunState, at: At, writes: readonly MemoryWrite[]): Fact {
  const replaced = writes.flatMap(({ key, isReplaced = false }) => (isReplaced ? [key] : []));
  const keys = writes.map(({ key }) => key);
  return {
    ...placeAt(state, at.nodeIndex, at.iteration, at.epoch),
    type: "memory.updated",
    payload: replaced.length === 0 ? { keys } : { keys, replaced },
    value: joinObject(writes.map(({ key, json }) => [key, json])),
  };
}

type Target = "completed" | "failed" | "cancelled" | "paused";

/** The one table of status changes that a handler may ask for. A run that is being compensated or has ended gets none. */
const TRANSITIONS: Readonly<Partial<Record<RunStatus, ReadonlySet<string>>>> = {
  running: new Set<Target>(["completed", "failed", "cancelled", "paused"]),
  waiting: new Set<Target>(["completed", "failed", "cancelled", "paused"]),
  paused: new Set<Target>(["completed", "failed", "cancelled", "paused"]),
};

/** Whether a handler may change the status of a run in this way. */
export const maySet = (from: RunStatus, to: string): to is Target =>
  TRANSITIONS[from]?.has(to) === true;

function statusFacts(
  state: RunState,
  at: At,
  outcome: Acting,
  action: Action,
): readonly Fact[] | ActionFault {
  if (action.type !== "set_status") return [];
  const { status, message } = action;
  if (!maySet(state.status, status)) {
    const may = [...(TRANSITIONS[state.status] ?? [])].join(", ") || "none";
    return refusedAction(
      `a run that is ${state.status} cannot become ${JSON.stringify(status)}; possible: ${may}`,
      "illegal_transition",
    );
  }
  const own = nodeIdAt(state, at.nodeIndex);
  if (status === "paused") {
    const paused = onPause(state, { scope: "run", who: `node ${own}`, reason: message });
    return paused.kind === "accepted" ? paused.facts : [];
  }
  const why = `node ${own} set the run to ${status}${message === "" ? "" : `: ${message}`}`;
  const isOwn = ({ nodeId: id, iteration }: Fact): boolean =>
    id === own && iteration === at.iteration;
  return [
    ...cancelUnsettled(state, why).filter((fact) => !isOwn(fact)),
    endFact(state, outcome, action, { own, why }),
  ];
}

function endFact(
  state: RunState,
  outcome: Acting,
  { status, outputJson }: ActionOf<"set_status">,
  { own, why }: { readonly own: string; readonly why: string },
): Fact {
  if (status === "failed")
    return { ...RUN_PLACE, type: "run.failed", payload: { failedNodeId: own, message: why } };
  if (status === "cancelled")
    return { ...RUN_PLACE, type: "run.cancelled", payload: { reason: why, requestId: "" } };
  const payload = { hasFailures: state.hasFailures };
  const value = outputJson === "" ? (outcome.outputJson ?? "null") : outputJson;
  return { ...RUN_PLACE, type: "run.completed", payload, value };
}
