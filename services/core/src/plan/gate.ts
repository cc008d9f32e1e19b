// The policies of a workflow about labels. Before the planner queues or completes an execution, it compares the labels of the data that the
// execution would read with the policies. `deny` fails the execution, `hold` asks a person. No executor sees it in either case.
//
// Race: an execution waits in the queue, and another node writes labelled data to a key or a variable that it reads. The commit that writes
// the data also compares every queued execution with the policies again, and withdraws its job. Claims follow in the same commit or later.

import { LIMITS } from "../data/limits.ts";
import type { Graph } from "../definition/graph.ts";
import { TAINT_HOLD, type Fact } from "../log/event.ts";
import { executionAt, executionDefinition, roundOf } from "../log/execution.ts";
import type { RunState } from "../log/state.ts";
import { readTaint } from "../log/taint.ts";
import { approvalId, type ApprovalId } from "../name/ids.ts";
import {
  joinTaint,
  marksOf,
  sourceLabel,
  type Taint,
  type TaintRule,
  taintText,
} from "../policy/taint.ts";
import { failureFact } from "./failure.ts";
import { nodeIdAt, placeAt } from "./place.ts";

/** The fact that stops an execution which a policy does not let read its data. Undefined if it may run. */
export function gateFact(state: RunState, nodeIndex: number, iteration: number): Fact | undefined {
  const { policies } = state.graph.definition;
  if (policies.length === 0 || state.taintLabels.size === 0) return undefined;
  const id = nodeIdAt(state, nodeIndex);
  const definition = executionDefinition(state, nodeIndex, iteration);
  const rules = policies.filter(({ nodes, types }) => nodes.has(id) || types.has(definition.type));
  const read = rules.length === 0 ? undefined : readTaint(state, nodeIndex, iteration);
  // The answers of an agent are part of its own conversation.
  const answers = isTurn(state, nodeIndex, iteration)
    ? sourceLabel(definition.type, definition.config)
    : undefined;
  const taint = read?.filter(({ nodeId, label }) => nodeId !== id || label !== answers);
  if (taint === undefined) return undefined;
  const broken = rules.flatMap((rule) => {
    const marks = marksOf(taint, rule.labels);
    return marks.length === 0 ? [] : [{ rule, marks }];
  });
  const [first] = broken;
  if (first === undefined) return undefined;
  const place = placeAt(state, nodeIndex, iteration);
  const denied = broken.find(({ rule }) => rule.action === "deny");
  if (denied !== undefined) {
    const number = policies.indexOf(denied.rule) + 1;
    const message = `taint_denied: policy ${number} of the workflow does not let ${id} read ${taintText(denied.marks)}${noteOf(denied.rule)}`;
    return failureFact(definition, place, { cause: "taint_denied", message, durationMs: 0 });
  }
  const held = joinTaint(...broken.map(({ marks }) => marks)) ?? [];
  const approval = {
    approvalId: holdId(state, nodeIndex, iteration),
    message: questionOf(id, held, first.rule),
    assignees: [],
  };
  const payload = { reason: TAINT_HOLD, phase: "input", durationMs: 0, taint: held } as const;
  return { ...place, type: "node.blocked", payload: { ...payload, approval } };
}

function isTurn({ nodes, graph }: RunState, nodeIndex: number, iteration: number): boolean {
  const { scope, base = 0 } = nodes[nodeIndex] ?? {};
  const isAgent = graph.nodes[nodeIndex]?.definition.scope?.agent !== undefined;
  return isAgent && iteration !== base && (scope?.calls[iteration - base - 1] ?? null) === null;
}

const noteOf = ({ message }: TaintRule): string => (message === "" ? "" : `: ${message}`);

const questionOf = (id: string, held: Taint, rule: TaintRule): string =>
  `May ${id} read ${taintText(held)}${noteOf(rule)}? If you approve, give the reason: it drops these labels here.`.slice(
    0,
    LIMITS.approvalMessageLength,
  );

/**
 * The id of the question, by run, node, iteration and earlier answers. The planner has no chance of its own, and two plans of one log are
 * the same. The random bits of the run's id stay, so ids of two runs differ.
 */
function holdId(state: RunState, nodeIndex: number, iteration: number): ApprovalId {
  const hex = state.runId.replaceAll("-", "");
  const dropped = executionAt(state, nodeIndex, iteration)?.dropped?.length ?? 0;
  const place = (BigInt(dropped) << 48n) | (BigInt(nodeIndex) << 32n) | BigInt(iteration);
  const tail = (BigInt(`0x${hex.slice(17)}`) ^ place).toString(16).padStart(15, "0");
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`];
  return approvalId([...parts, `${hex.slice(16, 17)}${tail.slice(0, 3)}`, tail.slice(3)].join("-"));
}

const gatedNodes = new WeakMap<Graph, readonly number[]>();

/** The nodes that a policy names, by id or by type. */
function gatedIn(graph: Graph): readonly number[] {
  let gated = gatedNodes.get(graph);
  if (gated === undefined) {
    const { policies } = graph.definition;
    const isGated = ({ definition: { id, type, scope } }: Graph["nodes"][number]): boolean =>
      policies.some(
        ({ nodes, types }) =>
          nodes.has(id) || types.has(type) || types.has(scope?.body.type ?? type),
      );
    gated = graph.nodes.flatMap((node) => (isGated(node) ? [node.index] : []));
    gatedNodes.set(graph, gated);
  }
  return gated;
}

/** Stops queued executions whose data got labels since they were queued. */
export function gateQueued(state: RunState): Fact[] {
  state.isTaintMoved = false;
  return gatedIn(state.graph).flatMap((index) => {
    const node = state.nodes[index];
    if (node === undefined) return [];
    return roundOf(node).flatMap(([iteration, { status }]) =>
      status === "queued" ? (gateFact(state, index, iteration) ?? []) : [],
    );
  });
}
