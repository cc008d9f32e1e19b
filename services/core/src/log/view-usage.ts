// Usage and budgets in the view of a run.

import { type Budget, raisedBudget } from "../policy/budget.ts";
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
}

export const NO_SPENDING: Spending = { usage: undefined, executions: 0, budget: undefined };

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

/** A node execution before the event. */
interface Execution {
  readonly status: NodeStatus;
  readonly childRunId: string;
  usage: Usage | undefined;
}

/** Counts what the end of a claim, or of a child run, reports. The usage of an output that a person approves counted before. */
export function countUsage(run: Spender, node: Execution, event: RunEvent): void {
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
