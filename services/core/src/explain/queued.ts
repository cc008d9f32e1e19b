// Explains why a ready node does not run. Its time has not come, its limits hold it back, or its queue is paused. Or no executor serves its
// type, all executors are full, or it is next.

import type { RunState } from "../log/state.ts";
import { fitsInline } from "../plan/inline.ts";
import { budgetAnswer } from "./budget-wait.ts";
import { own, textOf, type Answer, type Case, ofNode } from "./case.ts";
import type { Cited } from "./proofs.ts";
import { queuePausedText } from "./paused.ts";
import { isSilent, processText } from "./process.ts";
import type { ExecutorSeen } from "./room.ts";
import { slotAnswer } from "./slot-wait.ts";
import { countText, durationText, listText } from "./words.ts";

const LOOK_AGAIN = "Ask again in a moment; if it stays so, see whether a scheduler is running.";

/**
 * Whether the execution waits in the queue of glue nodes, which schedulers serve, unless its own queue is paused. A scheduler whose hand-off
 * is off serves no such queue; operators turn it off only to find faults.
 */
export const isForScheduler = (state: RunState, nodeIndex: number, iteration: number): boolean =>
  fitsInline(state, nodeIndex, iteration, { mayComplete: () => true });

/** A node that is queued, or about to be queued again. */
export function explainQueued(asked: Case): Answer {
  const queued = own(asked, "node.queued");
  const short = asked.nodeState.status === "retrying" ? budgetAnswer(asked) : undefined;
  if (short !== undefined) return short;
  return { since: queued, ...answerFor(asked, queued) };
}

function answerFor(asked: Case, queued: Cited | undefined): Answer {
  const { node, nodeState, room, iteration } = asked;
  if (nodeState.notBefore !== undefined && nodeState.notBefore > room.now)
    return notYet(asked, nodeState.notBefore, queued);
  const { id: nodeId, type } = node.definition;
  const limited = slotAnswer(room, nodeState, { nodeId, iteration });
  if (limited !== undefined) return limited;
  const pause = room.queuePauses?.find(({ nodeType }) => nodeType === type);
  if (pause !== undefined)
    return {
      reason: "QUEUE_PAUSED",
      summary: queuePausedText(pause),
      next: `Resume it with \`pawl queue resume ${pause.nodeType}\`.`,
    };
  if (isForScheduler(asked.state, asked.nodeIndex, iteration))
    return {
      reason: "QUEUED",
      summary: `A scheduler completes it, without an executor${aheadText(room.aheadCount)}.`,
      next: LOOK_AGAIN,
    };
  const serving = room.executors.filter((executor) => executor.nodeTypes.includes(type));
  if (serving.length === 0) return unserved(type, room.executors);
  const free = serving.filter((executor) => executor.heldCount < executor.slots);
  if (free.length === 0) return full(type, serving, room.aheadCount);
  return {
    reason: "QUEUED",
    summary: `It is in the queue of type ${type}${aheadText(room.aheadCount)}; ${countText(free.length, "executor")} ${free.length === 1 ? "has" : "have"} room.`,
    next: LOOK_AGAIN,
  };
}

function notYet(asked: Case, untilAt: number, queued: Cited | undefined): Answer {
  const retried = own(asked, "node.retried");
  const leftText = durationText(untilAt - asked.room.now);
  const { attempt } = asked.nodeState;
  const isRetry = retried !== undefined && (queued === undefined || retried.seq < queued.seq);
  if (isRetry && attempt > 1) {
    const { attempts } = asked.node.definition.retry;
    const cause = textOf(retried, "cause", "a failure");
    return {
      reason: "BACKOFF",
      summary: `Attempt ${attempt - 1} ended with ${cause}; attempt ${attempt} of ${attempts} begins in ${leftText}.`,
      evidence: [queued],
      next: "Wait; or cancel the run if another attempt cannot help.",
      since: retried,
      untilAt,
    };
  }
  const parents = asked.node.incoming.map((edge) => ofNode(asked, edge.source, "node.completed"));
  return {
    reason: "DELAYED",
    summary: `A delay before it runs for ${leftText} more.`,
    evidence: parents.filter((event) => Number(event?.payload["queueDelayMs"] ?? 0) > 0),
    next: "Wait; the definition asks for this delay.",
    untilAt,
  };
}

function unserved(type: string, executors: readonly ExecutorSeen[]): Answer {
  const served = [...new Set(executors.flatMap((executor) => executor.nodeTypes))].toSorted();
  const connected =
    executors.length === 0
      ? "no executor is connected"
      : `${countText(executors.length, "executor")} connected, serving ${listText(served)}`;
  return {
    reason: "NO_EXECUTOR",
    summary: `No connected executor serves type ${type} (${connected}).`,
    next: `Start an executor that serves ${type}; the node is claimed as soon as one connects.`,
  };
}

function full(
  type: string,
  serving: readonly ExecutorSeen[],
  aheadCount: number | undefined,
): Answer {
  const silent = serving.filter(isSilent);
  const capacity = serving.reduce((sum, executor) => sum + executor.slots, 0);
  return {
    reason: "EXECUTORS_FULL",
    summary: `${countText(serving.length, "executor")} of type ${type} ${serving.length === 1 ? "is" : "are"} alive, but their capacity of ${countText(capacity, "attempt")} is in use${aheadText(aheadCount)}.${silent.map(processText).slice(0, 1).join("")}`,
    next: "Wait until an attempt ends, or start another executor.",
  };
}

function aheadText(aheadCount: number | undefined): string {
  if (aheadCount === undefined) return "";
  return aheadCount === 0 ? ", next in line" : `, behind ${countText(aheadCount, "job")}`;
}
