// Usage and budgets in the view of a run.

import {
  type Amounts,
  type Budget,
  minus,
  NOTHING,
  plus,
  raisedBudget,
  type SomeAmounts,
} from "../policy/budget.ts";
import { isStreamedType, type NodeStatus, type RunEvent, type Usage } from "./event.ts";
import { addUsage, usageIn } from "./usage.ts";
import { nodeStatusAfter } from "./meaning.ts";

export interface Spending {
  /** What all attempts used, with those that failed. */
  readonly usage: Usage | undefined;
  /** How often executors ran a node to the end of a claim. */
  readonly executions: number;
  /** How much the run may use, with every raise. */
  readonly budget: Budget | undefined;
  /** What queued and running executions may still use. */
  readonly reserved: Amounts;
}

export const NO_SPENDING: Spending = {
  ...{ usage: undefined, executions: 0, budget: undefined, reserved: NOTHING },
};

interface Spender {
  spending: Spending;
}

/** Takes the budget of the run from its events. */
export function viewBudget(run: Spender, event: RunEvent): void {
  const { spending } = run;
  if (event.type === "run.started" && event.payload.budget !== undefined)
    run.spending = { ...spending, budget: event.payload.budget };
  if (event.type === "run.budget.raised" && spending.budget !== undefined)
    run.spending = { ...spending, budget: raisedBudget(spending.budget, event.payload) };
}

/** The usage of a node execution. */
export class Account {
  /** What its attempts used, with those that failed. */
  usage: Usage | undefined;
  /** What it reserves of the budgets. */
  reserved: SomeAmounts | undefined;
}

/** A node execution before the event. */
interface Execution extends Account {
  readonly status: NodeStatus;
  readonly childRunId: string;
}

/** Moves the reservation of an execution. The rules are those of the ledger (`ledger.ts`). */
function viewReserved(run: Spender, node: Execution, event: RunEvent): void {
  const next = reservedAfter(node, event);
  if (next === node.reserved) return;
  const { spending } = run;
  const reserved = plus(minus(spending.reserved, node.reserved ?? NOTHING), next ?? NOTHING);
  run.spending = { ...spending, reserved };
  node.reserved = next;
}

function reservedAfter({ reserved }: Execution, event: RunEvent): SomeAmounts | undefined {
  const { type } = event;
  if (type === "node.queued") return event.payload.reserved;
  if (type === "node.blocked")
    return event.payload.reserved ?? (event.payload.phase === "input" ? reserved : undefined);
  if (type === "run.budget.raised") return reserved && plus(plus(NOTHING, reserved), event.payload);
  return nodeStatusAfter(type) === undefined || isKept(type) ? reserved : undefined;
}

const isKept = (type: RunEvent["type"]): boolean =>
  type === "node.started" || type === "node.decided" || isStreamedType(type);

/** Counts what the end of a claim, or of a child run, reports. The usage of an output that a person approves counted before. */
export function countUsage(run: Spender, node: Execution, event: RunEvent): void {
  viewReserved(run, node, event);
  const wasRunning = node.status === "running";
  const hadChild = node.status === "waiting" && node.childRunId !== "";
  if ((!wasRunning && !hadChild) || isStreamedType(event.type)) return;
  const { spending } = run;
  const ended = wasRunning && nodeStatusAfter(event.type) !== undefined ? 1 : 0;
  const usage = usageIn(event);
  const executions = spending.executions + ended + (usage?.executions ?? 0);
  run.spending = { ...spending, executions, usage: addUsage(spending.usage, usage) };
  if (usage !== undefined) node.usage = addUsage(node.usage, usage);
}
