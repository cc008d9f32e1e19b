// The ledger of a run and of each node: what its executions used, and what is reserved for those that are queued or running. The fold of
// the log keeps it, so the version of the run protects every reservation.
//
// `node.queued` reserves. The event that ends the claim settles: it releases the reservation and counts what the executor reported. A
// claim may end without a report: its executor is lost, or the scheduler ends it. Then no service knows what the handler used, and the
// ledger assumes the whole reservation. So a budget holds at any kill of an executor. A timeout without usage counts like that too: the model
// may have read the prompt before the executor ended the call.

import {
  type Amounts,
  METERS,
  minus,
  NOTHING,
  plus,
  raisedBudget,
  type SomeAmounts,
  whole,
} from "../policy/budget.ts";
import type { FactOf, Usage } from "./event.ts";
import { executionAt } from "./execution.ts";
import type { NodeFact } from "./fact-kind.ts";
import type { ExecutionState, RunState } from "./state.ts";
import { usageIn } from "./usage.ts";

/** What executors reported. */
interface Used {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costMicros: number;
  /** How many claims have ended. */
  readonly executions: number;
}

export interface Ledger {
  readonly used: Used;
  /** What lost claims may have used: their reservations. */
  readonly assumed: Amounts;
  /** What queued and running executions may still use. */
  readonly reserved: Amounts;
}

export const EMPTY_LEDGER: Ledger = {
  used: { inputTokens: 0, outputTokens: 0, costMicros: 0, executions: 0 },
  assumed: NOTHING,
  reserved: NOTHING,
};

/** A retry, a lost execution or one that a person released, which the planner has not queued, because its budget had no room. */
export interface UnfundedState {
  readonly nodeIndex: number;
  readonly iteration: number;
  /** The attempt that follows. */
  readonly attempt: number;
  readonly notBefore: number;
}

/** What counts against a budget. */
export const spentOf = ({ used, assumed }: Ledger): Amounts => ({
  tokens: used.inputTokens + used.outputTokens + assumed.tokens,
  costMicros: used.costMicros + assumed.costMicros,
  executions: used.executions + assumed.executions,
});

/** The whole of what a run used, as the usage of the node that waited for it. */
export const usageOfRun = ({ ledger: { used, assumed } }: Pick<RunState, "ledger">): Usage => ({
  inputTokens: used.inputTokens + assumed.tokens,
  outputTokens: used.outputTokens,
  costMicros: used.costMicros + assumed.costMicros,
  executions: used.executions,
});

/** The amounts of a raise as text: the same request id with another text is another request. */
export const raiseText = (raise: SomeAmounts): string =>
  METERS.map((meter) => raise[meter] ?? 0).join();

/** Settles what an execution reserved, before `event` moves the execution. */
export function settleFunds(state: RunState, index: number, event: NodeFact): void {
  const { type, iteration } = event;
  if (type === "node.queued" || type === "node.started" || type === "node.decided") return;
  const execution = executionAt(state, index, iteration);
  if (execution === undefined) return;
  if (state.unfunded.length > 0) dropUnfunded(state, index, iteration);
  const wasRunning = execution.status === "running";
  const hadChild = execution.status === "waiting" && execution.childRunId !== undefined;
  if (!wasRunning && !hadChild && execution.reserved === undefined) return;
  // The usage of an output that a person approves counted when its claim ended.
  const usage = wasRunning || hadChild ? usageIn(event) : undefined;
  const isLost = wasRunning
    ? isUnreported(event) || isTimeout(event)
    : hadChild && usage === undefined;
  const kept = event.type === "node.blocked" ? keptBy(event.payload, execution) : undefined;
  const entry = {
    usage,
    executions: wasRunning ? 1 : 0,
    assumed: assumedOf(usage, isLost, execution.reserved ?? NOTHING),
    ...(execution.reserved === kept
      ? {}
      : { freed: minus(execution.reserved ?? NOTHING, kept ?? NOTHING) }),
  };
  post(state, index, entry);
  execution.reserved = kept;
}

/** Counts what `node.queued` reserves. A retry without a reservation of its own keeps none. */
export function takeFunds(state: RunState, index: number, event: NodeFact): void {
  if (event.type !== "node.queued") return;
  if (state.unfunded.length > 0) dropUnfunded(state, index, event.iteration);
  const { reserved } = event.payload;
  const execution = executionAt(state, index, event.iteration);
  if (reserved === undefined || execution === undefined) return;
  execution.reserved = whole(reserved);
  post(state, index, { freed: minus(NOTHING, reserved) });
}

/** Raises the budget of a run. The node that waits for a child run reserves a raise for it at once. Any other raise names no node. */
export function raiseBudget(state: RunState, event: FactOf<"run.budget.raised">): void {
  const { nodeId, iteration, payload } = event;
  state.raises.set(payload.requestId, raiseText(payload));
  state.budget = state.budget && raisedBudget(state.budget, payload);
  const index = nodeId === "" ? undefined : state.graph.indexOf.get(nodeId);
  const execution = index === undefined ? undefined : executionAt(state, index, iteration);
  if (index === undefined || execution?.reserved === undefined) return;
  execution.reserved = plus(execution.reserved, payload);
  post(state, index, { freed: minus(NOTHING, payload) });
}

/** Notes an execution that waits for its budget before it is queued again. */
export function noteUnfunded(state: RunState, index: number, event: NodeFact): void {
  if (!("awaitsBudget" in event.payload)) return;
  const { iteration, attempt, at } = event;
  const isRetry = event.type === "node.retried";
  const notBefore = isRetry ? at + event.payload.delayMs : 0;
  const next = { nodeIndex: index, iteration, attempt: isRetry ? attempt + 1 : attempt, notBefore };
  state.unfunded = [...state.unfunded, next];
}

function dropUnfunded(state: RunState, index: number, iteration: number): void {
  state.unfunded = state.unfunded.filter(
    (each) => each.nodeIndex !== index || each.iteration !== iteration,
  );
}

/** Whether the claim ended without a report of its executor. An executor that never got the claim used nothing. */
const isUnreported = (event: NodeFact): boolean =>
  event.type === "run.recovered" ? event.payload.reason !== "not_held" : event.epoch === 0;

/** Whether the attempt ended by its timeout. With error handling `continue` the node completed, and its output has the cause. */
function isTimeout(event: NodeFact): boolean {
  if (event.type === "node.completed")
    return event.payload.handle === "error" && event.value?.startsWith(TIMEOUT_OUTPUT) === true;
  return (
    event.type === "node.timed_out" ||
    (event.type === "node.retried" && event.payload.cause === "timeout")
  );
}

const TIMEOUT_OUTPUT = '{"error":{"cause":"timeout"';

/** A node that waits for a child run reserves for it. A node whose input waits for a person keeps its reservation. */
function keptBy(
  { reserved, phase }: { readonly reserved?: SomeAmounts; readonly phase?: string },
  execution: ExecutionState,
): Amounts | undefined {
  if (reserved !== undefined) return whole(reserved);
  return phase === "input" ? execution.reserved : undefined;
}

/** A model without a price reports tokens and no cost. Then the reserved cost counts. */
function assumedOf(
  usage: Usage | undefined,
  isLost: boolean,
  reserved: Amounts,
): SomeAmounts | undefined {
  if (isLost && usage === undefined) return { ...reserved, executions: 0 };
  const isUnpriced = usage !== undefined && usage.costMicros === undefined;
  return isUnpriced ? { costMicros: reserved.costMicros } : undefined;
}

interface Entry {
  readonly usage?: Usage | undefined;
  readonly executions?: number;
  readonly assumed?: SomeAmounts | undefined;
  readonly freed?: SomeAmounts;
}

function post(state: RunState, index: number, entry: Entry): void {
  state.ledger = posted(state.ledger, entry);
  const node = state.nodes[index];
  if (node !== undefined) node.ledger = posted(node.ledger, entry);
}

function posted({ used, assumed, reserved }: Ledger, entry: Entry): Ledger {
  const { usage, executions = 0, assumed: lost, freed } = entry;
  return {
    used: {
      inputTokens: used.inputTokens + (usage?.inputTokens ?? 0),
      outputTokens: used.outputTokens + (usage?.outputTokens ?? 0),
      costMicros: used.costMicros + (usage?.costMicros ?? 0),
      executions: used.executions + executions + (usage?.executions ?? 0),
    },
    assumed: lost === undefined ? assumed : plus(assumed, lost),
    reserved: freed === undefined ? reserved : minus(reserved, freed),
  };
}
