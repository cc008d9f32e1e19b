// The plan of a repair: what the new run reuses of the finished one, with the events that prove it, and what it runs again and why. A user
// reads the plan before the run starts. The same log and the same request give the same plan, so its digest names it.

import { exceedsUtf8 } from "../data/utf8.ts";
import { LIMITS } from "../data/limits.ts";
import type { Graph } from "../definition/graph.ts";
import { isSettled, type Fact, type SetNote, type Usage } from "../log/event.ts";
import { apply } from "../log/fold.ts";
import type { NodeState, RunState } from "../log/state.ts";
import { addUsage, usageIn } from "../log/usage.ts";
import type { NodeId } from "../name/ids.ts";
import { graphNodeAt, nodeStateAt } from "../plan/place.ts";
import { outcomeFacts } from "../plan/result.ts";
import type { SomeAmounts } from "../policy/budget.ts";
import { NO_PRICES } from "../policy/price.ts";
import { changedFields } from "./changes.ts";
import { reservedByNew } from "./reserved.ts";
import { type Origin, replay, type Replayed, type Reuse, type Why } from "./replay.ts";

/** `run_items`: completed items of a map or a loop are reused, and the others run. `set`: a user sets the output. */
type RepairAction = "reuse" | "run" | "run_items" | "set" | "remove";

export interface PlannedNode {
  readonly nodeId: NodeId;
  readonly action: RepairAction;
  /** Why, for people. */
  readonly reason: string;
  /** The event of the finished run that proves the reused result. 0 if nothing of the node itself is reused. */
  readonly eventId: number;
  /** How the definition of the node differs from that of the finished run. */
  readonly change: "none" | "new" | "changed" | "removed";
  readonly changedFields: readonly string[];
  readonly itemsReused: number;
  readonly itemsAgain: number;
  /** What the finished run used for what runs again, with every attempt. */
  readonly usage: Usage;
  /** The iterations that run again: those of the finished run from `from` on, without `reused`. In the new run they begin at `to`. */
  readonly again?: {
    readonly from: number;
    readonly to: number;
    readonly reused: ReadonlySet<number>;
  };
}

/** An output that a user sets by hand. */
export interface SetOutput {
  readonly nodeId: string;
  /** JSON text. */
  readonly json: string;
  /** Undefined if the node leaves by no handle. */
  readonly handle: string | undefined;
}

export interface RepairPlan {
  readonly nodes: readonly PlannedNode[];
  /** The facts that the new run begins with. */
  readonly facts: readonly Fact[];
  readonly warnings: readonly string[];
  /** What the finished run used for everything that runs again. */
  readonly usage: Usage;
  /** What one execution of each node reserves that the finished run never started. */
  readonly reserved: SomeAmounts;
  /** Whether the run repeated more often than the definition of the new run allows, so that it would fail at once. */
  readonly repeatsTooOften: boolean;
}

export interface RepairRequest extends Omit<Reuse, "setNodes"> {
  readonly outputs: readonly SetOutput[];
  readonly note: SetNote;
}

type Planned =
  | { readonly ok: true; readonly plan: RepairPlan }
  | { readonly ok: false; readonly nodeId: string; readonly message: string };

/** The plan, or the output of the request that its node cannot have. @throws EVENT_LOG_CORRUPTION */
export function planRepair(
  origin: Origin,
  request: RepairRequest,
  now: number,
  priceOf = NO_PRICES,
): Planned {
  const { outputs, note, ...reuse } = request;
  const setNodes = new Set(outputs.map(({ nodeId }) => nodeId));
  const replayed = replay(origin, { ...reuse, setNodes }, now);
  const facts = [...replayed.facts];
  for (const output of outputs) {
    const made = setFacts(replayed.after, output, note, now);
    if (typeof made === "string") return { ok: false, nodeId: output.nodeId, message: made };
    facts.push(...made);
  }
  const nodes = withUsage(origin, [
    ...replayed.after.graph.nodes.map(({ index }) => plannedNode(replayed, index)),
    ...removedNodes(replayed),
  ]);
  const usage = nodes.reduce((sum, node) => addUsage(sum, node.usage) ?? sum, NO_USAGE);
  const reserved = reservedByNew(replayed.after, nodes, origin.events, priceOf);
  const { iterationCount, maxIterations } = replayed.after;
  const warnings = warningsOf(replayed, nodes);
  const repeatsTooOften = iterationCount > maxIterations;
  return { ok: true, plan: { nodes, facts, warnings, usage, reserved, repeatsTooOften } };
}

/** Whether an execution of the finished run runs again. */
export const isAgain = ({ again }: PlannedNode, iteration: number): boolean =>
  again !== undefined && iteration >= again.from && !again.reused.has(iteration);

/** Whether the plan runs anything. */
export const runsAnything = ({ nodes }: RepairPlan): boolean =>
  nodes.some(({ action }) => action !== "reuse" && action !== "remove");

/** The parts of a plan that a user agrees to, as one text. */
export const planText = ({ nodes, facts }: RepairPlan): string =>
  JSON.stringify([
    nodes.map(({ nodeId, action, eventId, change }) => [nodeId, action, eventId, change]),
    facts.map(({ type, nodeId, iteration, payload: { reused = 0 } }) => [
      type,
      nodeId,
      iteration,
      reused,
    ]),
  ]);

/** The facts of an output that a user sets, folded into `after`; or why the node cannot have it. */
function setFacts(
  after: RunState,
  { nodeId, json, handle }: SetOutput,
  note: SetNote,
  now: number,
): readonly Fact[] | string {
  const nodeIndex = after.graph.nodes.findIndex(({ definition: { id } }) => id === nodeId);
  const { definition, outgoing } = graphNodeAt(after, nodeIndex);
  const handles = [...new Set(outgoing.map((edge) => edge.handle))];
  const left = handle ?? (definition.scope === null ? undefined : json === "[]" ? "done" : "loop");
  if (exceedsUtf8(json, LIMITS.valueBytes)) return `is larger than ${LIMITS.valueBytes} bytes`;
  if (left !== undefined && !handles.includes(left) && definition.scope === null)
    return `no edge leaves the node by handle "${left}"`;
  if (left === undefined && handles.length > 0 && !handles.includes(null))
    return `needs a handle: its edges leave by ${handles.map((each) => `"${String(each)}"`).join(", ")}`;
  const { base } = nodeStateAt(after, nodeIndex);
  const landing = { nodeIndex, iteration: base, epoch: 0, jitter: 1, now };
  const ending = { durationMs: 0, ...(left === undefined ? {} : { handle: left }) };
  const outcome = { kind: "completed", outputJson: json, ...ending } as const;
  const [fact] = outcomeFacts(after, { ...landing, outcome });
  if (fact?.type !== "node.completed")
    return fact !== undefined && "message" in fact.payload ? fact.payload.message : "is refused";
  const set: Fact = { ...fact, attempt: 1, payload: { ...fact.payload, set: note } };
  apply(after, { ...set, seq: after.lastSeq + 1, at: now });
  return [set];
}

function plannedNode(replayed: Replayed, index: number): PlannedNode {
  const { before, after, facts, whys } = replayed;
  const { id } = graphNodeAt(after, index).definition;
  const node = nodeStateAt(after, index);
  const old = before.graph.indexOf.get(id);
  const fields = old === undefined ? [] : changedFields([before.graph, old], [after.graph, index]);
  const change = old === undefined ? "new" : fields.length > 0 ? "changed" : "none";
  const items = node.scope?.items ?? [];
  const itemsReused = items.filter((item) => isSettled(item.status)).length;
  const about = { nodeId: id, change, changedFields: fields, itemsReused } as const;
  const rounds = old === undefined ? {} : { again: againOf(nodeStateAt(before, old), node) };
  const again = { ...about, eventId: 0, itemsAgain: 0, usage: NO_USAGE };
  if (whys.get(id) === "set" || (old === undefined && isSettled(node.status)))
    return { ...again, action: "set", reason: "a user sets its output" };
  if (isSettled(node.status)) {
    const own = ({ nodeId, type }: Fact) => nodeId === id && type !== "memory.updated";
    const proof = facts.findLast(own)?.payload.reused ?? 0;
    const reason = node.status === "skipped" ? "skipped" : "completed";
    return { ...again, action: "reuse", reason, eventId: proof };
  }
  if (node.scope !== undefined) {
    const itemsAgain = node.scope.width - itemsReused;
    const reason = `${itemsReused} of ${node.scope.width} items completed`;
    return { ...again, ...rounds, action: "run_items", reason, itemsAgain };
  }
  return { ...again, ...rounds, action: "run", reason: reasonOf(before, id, whys.get(id), change) };
}

/** A changed node runs all its rounds again, so its earlier rounds belong to them. */
function againOf(old: NodeState, fresh: NodeState) {
  const { base: to, scope } = fresh;
  const from = old.round === fresh.round ? old.base : to;
  const settled = (scope?.items ?? []).flatMap(({ status }, at) =>
    isSettled(status) ? [from + at + 1] : [],
  );
  return { from, to, reused: new Set(settled) };
}

function reasonOf(
  before: RunState,
  id: NodeId,
  why: Why | undefined,
  change: PlannedNode["change"],
): string {
  const index = before.graph.indexOf.get(id);
  const status = index === undefined ? "pending" : nodeStateAt(before, index).status;
  if (change === "new") return "new in the definition";
  if (why === undefined) return "was not reached";
  if (typeof why === "object")
    return why.after === id ? "an earlier round runs again" : `${why.after} runs again`;
  if (why === "asked") return "as asked";
  if (why === "changed") return "its definition changed";
  if (why === "reads_differ") return "it reads values that change";
  return isSettled(status) ? status : "was under way";
}

/** Nodes of the finished run that the new definition does not have. */
const removedNodes = ({ before, after }: Replayed): PlannedNode[] =>
  before.graph.nodes.flatMap(({ definition: { id } }) =>
    after.graph.indexOf.has(id)
      ? []
      : [
          {
            nodeId: id,
            action: "remove",
            reason: "not in the definition",
            change: "removed",
            ...{ eventId: 0, changedFields: [], itemsReused: 0, itemsAgain: 0, usage: NO_USAGE },
          },
        ],
  );

function warningsOf({ before, after }: Replayed, nodes: readonly PlannedNode[]): string[] {
  return nodes.flatMap(({ nodeId, action, change, changedFields: fields }) => {
    const told: string[] = [];
    if (action === "reuse" && change === "changed")
      told.push(`node ${nodeId}: its ${fields.join(", ")} changed, and its result is kept`);
    if (action !== "run" && action !== "run_items") return told;
    const node = stateOf(before, nodeId);
    if ((node?.round ?? 0) > 0 && stateOf(after, nodeId)?.round === node?.round)
      told.push(
        `node ${nodeId}: it ran ${(node?.round ?? 0) + 1} rounds; only the last runs again`,
      );
    if (node !== undefined && startsChild(after.graph, nodeId))
      told.push(`node ${nodeId}: it starts a child run of its own again`);
    return told;
  });
}

const stateOf = (state: RunState, id: NodeId): NodeState | undefined =>
  state.nodes[state.graph.indexOf.get(id) ?? -1];

function startsChild({ nodes, indexOf }: Graph, id: NodeId): boolean {
  const definition = nodes[indexOf.get(id) ?? -1]?.definition;
  return (definition?.scope?.body ?? definition)?.type === "subworkflow";
}

const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0 };

/** The nodes with what the finished run used for the executions that run again: every attempt counts, however it ended. */
function withUsage({ events }: Origin, nodes: readonly PlannedNode[]): readonly PlannedNode[] {
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  /** Executions whose output a person judges. The event behind the answer repeats the usage of the claim. */
  const held = new Set<string>();
  for (const event of events) {
    const node = event.nodeId === "" ? undefined : byId.get(event.nodeId);
    const usage = usageIn(event);
    if (node === undefined || usage === undefined || !isAgain(node, event.iteration)) continue;
    const place = `${event.nodeId}/${event.iteration}`;
    if (held.delete(place)) continue;
    if (event.type === "node.blocked" && event.payload.childRunId === undefined) held.add(place);
    const { model: _model, ...sum } = addUsage(node.usage, usage) ?? NO_USAGE;
    byId.set(node.nodeId, { ...node, usage: sum });
  }
  return [...byId.values()];
}
