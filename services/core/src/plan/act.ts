// The facts of the actions of an outcome: what the memory gets, and how the run ends or pauses. They follow the fact that ends the claim,
// in the same commit. All actions of an outcome are possible, or the outcome is refused whole.

import { type ActionFault, refusedAction } from "../action/action.ts";
import type { Action, ActionOf } from "../action/kinds.ts";
import { LIMITS } from "../data/limits.ts";
import { hasReference } from "../data/reference.ts";
import { joinObject, splitObject } from "../data/split-array.ts";
import { exceedsUtf8 } from "../data/utf8.ts";
import type { Ending, Fact, RunStatus } from "../log/event.ts";
import { executionDefinition, isItem, partOf } from "../log/execution.ts";
import { runStatus } from "../log/fold.ts";
import {
  type Before,
  isMerged,
  mergedJson,
  mergeJsons,
  type MemoryWrite,
  outputWrites,
} from "../log/memory.ts";
import { mayBecome } from "../log/run-status.ts";
import type { RunState } from "../log/state.ts";
import { type NodeId, nodeId } from "../name/ids.ts";
import { joinTaint, type Taint } from "../policy/taint.ts";
import { type Labelled, madeTaint, taintField } from "./label.ts";
import { memoryFault, unjoinable } from "./memory-bounds.ts";
import { onPause } from "./pause.ts";
import { graphNodeAt, nodeIdAt, placeAt, RUN_PLACE } from "./place.ts";
import { cancelUnsettled } from "./cancel.ts";
import { endRun } from "./undo.ts";

type Acted = { readonly ok: true; readonly facts: readonly Fact[] } | ActionFault;

/** The execution that acts, and its claim. */
interface At {
  readonly nodeIndex: number;
  readonly iteration: number;
  readonly epoch: number;
  readonly now: number;
}

/** The part of an outcome that acts. */
interface Acting extends Labelled {
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
  const isRemembering = isRememberingItem(state, at, outcome);
  if (actions.length === 0 && own.length === 0 && !isRemembering) return NOTHING;
  const acts = actions.length > 0 || isRemembering;
  const made = acts ? madeTaint(state, at, outcome) : undefined;
  const asked = askedWrites(state, at, { actions, own, taint: made });
  if ("ok" in asked) return asked;
  if (isRemembering)
    asked.push(
      ...[...splitObject(outcome.outputJson ?? "{}")].map(([key, json]) => ({
        key,
        json,
        taint: made,
      })),
    );
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

/** A tool call of an agent that remembers. The fold takes the writes of an iteration only from `memory.updated`. */
const isRememberingItem = (state: RunState, at: At, { kind }: Acting): boolean =>
  kind === "completed" &&
  typeof partOf(state, at.nodeIndex, at.iteration) === "number" &&
  executionDefinition(state, at.nodeIndex, at.iteration).type === "remember";

interface Asking {
  readonly actions: readonly Action[];
  /** What the output of the node writes, before its actions. */
  readonly own: readonly MemoryWrite[];
  readonly taint: Taint | undefined;
}

/** What the actions write, in their order: a later write of a key replaces an earlier one. */
function askedWrites(
  state: RunState,
  { nodeIndex }: At,
  { actions, own, taint }: Asking,
): MemoryWrite[] | ActionFault {
  const writes = new Map<string, MemoryWrite>();
  const by = nodeIdAt(state, nodeIndex);
  const valueOf = (key: string): Result | undefined => {
    const made = own.filter((write) => write.key === key).map((write) => ({ ...write, taint }));
    const asked = writes.get(key);
    return valueAfter(state, key, { by, writes: asked === undefined ? made : [...made, asked] });
  };
  for (const action of actions) {
    if (action.type === "update_memory")
      for (const [key, json] of splitObject(action.valuesJson))
        writes.set(key, { key, json, taint });
    if (action.type !== "merge_parallel_results") continue;
    const merged = mergedResults(state, action, valueOf);
    if ("ok" in merged) return merged;
    const all = joinTaint(taint, merged.taint);
    writes.set(action.into, { key: action.into, json: merged.json, isReplaced: true, taint: all });
  }
  return [...writes.values()];
}

type Result = readonly [label: string, json: string, seq: number, taint: Taint | undefined];

/** The value that a key has after these writes. A write is newer than every event of the log. */
function valueAfter(
  { graph, memory }: RunState,
  key: string,
  { by, writes }: { readonly by: NodeId; readonly writes: readonly MemoryWrite[] },
): Result | undefined {
  const entry = memory.get(key);
  let value: Result | undefined = entry && [key, entry.json, entry.seq, entry.taint];
  let before: Before | undefined = entry;
  for (const write of writes) {
    const json = mergedJson(graph, before, write, by);
    const kept = isMerged(graph, write) ? value?.[3] : undefined;
    value = [key, json, Infinity, joinTaint(write.taint, kept)];
    before = { json, nodeId: by };
  }
  return value;
}

/** The merged value of keys or nodes. `last_write_wins` takes the newest by event id, the others keep the order of the list. */
function mergedResults(
  state: RunState,
  { keys, nodes, strategy }: ActionOf<"merge_parallel_results">,
  valueOf: (key: string) => Result | undefined,
): { readonly json: string; readonly taint: Taint | undefined } | ActionFault {
  const unknown = nodes.find((id) => !state.graph.indexOf.has(nodeId(id)));
  if (unknown !== undefined)
    return refusedAction(`merge_parallel_results: there is no node ${unknown}`);
  const ofKeys = keys.map(valueOf).filter((found) => found !== undefined);
  const ofNodes = nodes.flatMap((id): Result[] => {
    const node = state.nodes[state.graph.indexOf.get(nodeId(id)) ?? -1];
    if (node?.status !== "completed" || node.output === undefined) return [];
    return [[id, node.output, node.causeSeq, node.taint]];
  });
  const results = [...ofKeys, ...ofNodes];
  if (strategy === "concat" && results.some(([, json]) => hasReference(json)))
    return unjoinable("merge_parallel_results");
  if (strategy === "last_write_wins") results.sort(([, , a], [, , b]) => a - b);
  const json = mergeJsons(
    strategy,
    results.map(([label, each]) => [label, each]),
  );
  const used = strategy === "last_write_wins" ? results.slice(-1) : results;
  return { json, taint: joinTaint(...used.map(([, , , taint]) => taint)) };
}

function memoryFact(state: RunState, at: At, writes: readonly MemoryWrite[]): Fact {
  const replaced = writes.flatMap(({ key, isReplaced = false }) => (isReplaced ? [key] : []));
  const keys = writes.map(({ key }) => key);
  const labelled = writes.flatMap(({ key, taint }) => (taint === undefined ? [] : [[key, taint]]));
  return {
    ...placeAt(state, at.nodeIndex, at.iteration, at.epoch),
    type: "memory.updated",
    payload: {
      keys,
      ...(replaced.length === 0 ? {} : { replaced }),
      ...(labelled.length === 0 ? {} : { taint: Object.fromEntries(labelled) }),
    },
    value: joinObject(writes.map(({ key, json }) => [key, json])),
  };
}

type Target = "completed" | "failed" | "cancelled" | "paused";

const TARGETS: readonly Target[] = ["completed", "failed", "cancelled", "paused"];

/** The statuses that a handler may give a run. A run that is being compensated gets none: its end is decided already. */
const settable = (from: RunStatus): readonly Target[] =>
  from === "compensating" ? [] : TARGETS.filter((to) => mayBecome(from, to));

/** Whether a handler may change the status of a run in this way. */
export const maySet = (from: RunStatus, to: string): to is Target =>
  settable(from).some((target) => target === to);

function statusFacts(
  state: RunState,
  at: At,
  outcome: Acting,
  action: Action,
): readonly Fact[] | ActionFault {
  if (action.type !== "set_status") return [];
  const { status, message } = action;
  // A run that is compensated may be paused meanwhile.
  const from = state.ending === undefined ? runStatus(state) : "compensating";
  if (!maySet(from, status)) {
    const may = settable(from).join(", ") || "none";
    return refusedAction(
      `a run that is ${from} cannot become ${JSON.stringify(status)}; possible: ${may}`,
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
  if (status === "completed") {
    const made = madeTaint(state, at, outcome);
    const payload = { hasFailures: state.hasFailures, ...taintField(made) };
    const value = action.outputJson === "" ? (outcome.outputJson ?? "null") : action.outputJson;
    const cancelled = cancelUnsettled(state, why).filter((fact) => !isOwn(fact));
    return [...cancelled, { ...RUN_PLACE, type: "run.completed", payload, value }];
  }
  const ending: Ending =
    status === "failed"
      ? { end: "failed", failedNodeId: own, message: why, cause: "set_failed" }
      : { end: "cancelled", reason: why, requestId: "" };
  const { now, nodeIndex } = at;
  const completing = outcome.kind === "completed" ? { completing: nodeIndex } : {};
  return endRun(state, { ending, reason: why, now, ...completing }).filter((fact) => !isOwn(fact));
}
