// Explains a node that is neither queued nor settled. It waits for an executor with its lease, a person, a signal, a child run, or its
// own iterations.

import { TAINT_HOLD } from "../log/event.ts";
import { executionAt } from "../log/execution.ts";
import type { WaitState } from "../log/wait-state.ts";
import { budgetAnswer } from "./budget-wait.ts";
import { own, textOf, type Answer, type Case } from "./case.ts";
import { isSilent, processText } from "./process.ts";
import { durationText } from "./words.ts";

/** A node that an executor claimed. */
export function explainRunning(asked: Case): Answer {
  const { room, node, iteration, nodeState } = asked;
  const started = own(asked, "node.started");
  const isOwn = (each: { readonly nodeId: string; readonly iteration: number }): boolean =>
    each.nodeId === node.definition.id && each.iteration === iteration;
  const lease = room.leases.find(isOwn);
  const executorId = lease?.executorId ?? textOf(started, "executorId");
  const executor = room.executors.find((each) => each.executorId === executorId);
  const epoch = lease?.epoch ?? nodeState.epoch;
  const unstored = room.unstored?.find((each) => isOwn(each) && each.epoch === epoch);
  if (unstored !== undefined)
    return {
      reason: "RESULT_UNSTORED",
      summary: `Executor ${executorId} has finished it; the scheduler cannot store the result yet: ${unstored.reason}`,
      next: "Repair the database as the message describes. The scheduler keeps the result and stores it then; the run continues by itself.",
      since: started,
    };
  if (lease === undefined || lease.untilAt <= room.now)
    return {
      reason: "LEASE_LOST",
      summary: `Executor ${executorId} claimed it with epoch ${epoch} and is silent; the scheduler is about to take the claim back and queue the node again.`,
      next: "Wait for the next sweep; see whether that executor is still there.",
      since: started,
    };
  return {
    reason: "RUNNING",
    summary: `Executor ${executorId} runs attempt ${nodeState.attempt} under epoch ${epoch}; its lease lasts ${durationText(lease.untilAt - room.now)} more and is renewed while it lives.${processText(executor)}`,
    next: isSilent(executor)
      ? "See whether that process is stopped or overloaded; if it stays silent, the executor gives it up and the node runs elsewhere."
      : "Wait; watch its output, or cancel the run.",
    since: started,
    untilAt: lease.untilAt,
  };
}

/** A node that waits for a signal. */
function explainSignal({ state, room }: Case, wait: WaitState): Answer {
  const { name, since, deadlineAt } = wait;
  const until =
    deadlineAt === undefined
      ? "it has no deadline"
      : `its deadline passes in ${durationText(deadlineAt - room.now)}`;
  return {
    reason: "WAITING_SIGNAL",
    summary: `It has waited for signal ${name} for ${durationText(room.now - since)}; ${until}.`,
    next: `Send it: pawl run signal ${state.runId} ${name} --payload JSON; until then the node costs nothing.`,
    ...(deadlineAt === undefined ? {} : { untilAt: deadlineAt }),
  };
}

const PERSON: ReadonlySet<string> = new Set(["approval", "human", "moderation", "moderation_hold"]);

/** A node that waits for something outside. */
export function explainWaiting(asked: Case): Answer {
  const { scope } = asked.nodeState;
  if (scope !== undefined) {
    const expanded = own(asked, "node.expanded");
    return {
      reason: "WAITING_ITERATIONS",
      summary: `It waits for its iterations: ${scope.settledCount} of ${scope.width} are settled, ${scope.openCount} are under way.`,
      evidence: [own(asked, "node.started")],
      next: "Ask about one of its iterations.",
      since: expanded,
    };
  }
  const blocked = own(asked, "node.blocked");
  const why = textOf(blocked, "reason", asked.nodeState.message);
  const common = { evidence: [own(asked, "node.started")], since: blocked };
  if (why === "child_run") {
    const child = textOf(blocked, "childRunId");
    const named = child === "" ? "" : ` ${child}`;
    return {
      ...common,
      reason: "WAITING_CHILD_RUN",
      summary: `It waits for its child run${named} to end.`,
      next: `See how the child run${named} is doing.`,
    };
  }
  // A person released it, and the scheduler has not queued it yet.
  const short = budgetAnswer(asked);
  if (short !== undefined) return short;
  const { hold, wait } = executionAt(asked.state, asked.node.index, asked.iteration) ?? {};
  if (wait !== undefined) return { ...common, ...explainSignal(asked, wait) };
  if (hold?.approval !== undefined) {
    const { approvalId, assignees } = hold.approval;
    const whose = assignees.length === 0 ? "" : ` of ${assignees.join(", ")}`;
    const until =
      hold.deadlineAt === undefined
        ? "it has no deadline"
        : `its deadline passes in ${durationText(hold.deadlineAt - asked.room.now)}`;
    return {
      ...common,
      reason: "WAITING_PERSON",
      summary: `It waits for a person${whose} to answer approval ${approvalId} (${why}); ${until}.`,
      next: `Answer it: pawl approval approve ${approvalId}${why === TAINT_HOLD ? " --comment REASON" : ""}, or reject; until then the node does not run and costs nothing.`,
      ...(hold.deadlineAt === undefined ? {} : { untilAt: hold.deadlineAt }),
    };
  }
  if (PERSON.has(why))
    return {
      ...common,
      reason: "WAITING_PERSON",
      summary: `It waits for a person to decide (${why}).`,
      next: "Decide it; until then the node does not run and costs nothing.",
    };
  return {
    ...common,
    reason: "BLOCKED",
    summary: `It waits for something outside of it (${why}).`,
    next: "Do what the reason asks for.",
  };
}
