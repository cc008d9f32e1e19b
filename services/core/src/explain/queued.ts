// Explains why a ready node does not run. Its time has not come, or its limits hold it back, or its queue is paused. Or no executor serves
// its type, all executors are full, or it is simply next.

import type { Answer, Case } from "./case.ts";
import { own, since, textOf } from "./case.ts";
import type { Cited } from "./proofs.ts";
import { queuePausedText } from "./paused.ts";
import type { ExecutorSeen, QueuePauseSeen } from "./room.ts";
import { slotAnswer } from "./slot-wait.ts";
import { countText, durationText, listText } from "./words.ts";

/** A node that is queued, or about to be queued again. */
export function explainQueued(asked: Case): Answer {
  const { nodeState, room } = asked;
  const queued = own(asked, "node.queued");
  if (nodeState.notBefore !== undefined && nodeState.notBefore > room.now)
    return notYet(asked, nodeState.notBefore, queued);
  const place = { nodeId: asked.node.definition.id, iteration: asked.iteration };
  const limited = slotAnswer(room, nodeState, place);
  if (limited !== undefined) return { ...limited, evidence: [queued], ...since(queued) };
  const { type } = asked.node.definition;
  const pause = room.queuePauses?.find(({ nodeType }) => nodeType === type);
  if (pause !== undefined) return paused(pause, queued);
  const serving = room.executors.filter((executor) => executor.nodeTypes.includes(type));
  if (serving.length === 0) return unserved(asked, queued);
  const free = serving.filter((executor) => executor.heldCount < executor.slots);
  return free.length === 0 ? full(asked, serving, queued) : next(asked, free, queued);
}

function notYet(asked: Case, untilAt: number, queued: Cited | undefined): Answer {
  const retried = own(asked, "node.retried");
  const leftText = durationText(untilAt - asked.room.now);
  const isRetry = retried !== undefined && (queued === undefined || retried.seq < queued.seq);
  if (isRetry && asked.nodeState.attempt > 1) {
    const attempts = asked.node.definition.retry.attempts;
    const cause = textOf(retried, "cause", "a failure");
    return {
      reason: "BACKOFF",
      summary: `Attempt ${asked.nodeState.attempt - 1} ended with ${cause}; attempt ${asked.nodeState.attempt} of ${attempts} begins in ${leftText}.`,
      evidence: [retried, queued],
      next: "Wait; or cancel the run if another attempt cannot help.",
      ...since(retried),
      untilAt,
    };
  }
  const delaying = asked.node.incoming.map((edge) =>
    asked.proofs.newest(edge.definition.source, asked.iteration, "node.completed"),
  );
  return {
    reason: "DELAYED",
    summary: `A delay before it runs for ${leftText} more.`,
    evidence: [
      ...delaying.filter((event) => Number(event?.payload["queueDelayMs"] ?? 0) > 0),
      queued,
    ],
    next: "Wait; the delay is what the definition asks for.",
    ...since(queued),
    untilAt,
  };
}

function paused(pause: QueuePauseSeen, queued: Cited | undefined): Answer {
  return {
    reason: "QUEUE_PAUSED",
    summary: queuePausedText(pause),
    evidence: [queued],
    next: `Resume it with \`pawl queue resume ${pause.nodeType}\`.`,
    ...since(queued),
  };
}

function unserved({ node, room }: Case, queued: Cited | undefined): Answer {
  const { type } = node.definition;
  const served = [...new Set(room.executors.flatMap((executor) => executor.nodeTypes))].toSorted();
  const who =
    room.executors.length === 0
      ? "no executor is connected at all"
      : `${countText(room.executors.length, "executor")} connected, serving ${listText(served)}`;
  return {
    reason: "NO_EXECUTOR",
    summary: `No connected executor serves type ${type} (${who}).`,
    evidence: [queued],
    next: `Start an executor that serves ${type}; the node is claimed as soon as one connects.`,
    ...since(queued),
  };
}

function full(
  { node, room }: Case,
  serving: readonly ExecutorSeen[],
  queued: Cited | undefined,
): Answer {
  const capacity = serving.reduce((sum, executor) => sum + executor.slots, 0);
  return {
    reason: "EXECUTORS_FULL",
    summary: `${countText(serving.length, "executor")} of type ${node.definition.type} ${serving.length === 1 ? "is" : "are"} alive, but their capacity of ${countText(capacity, "attempt")} is in use${aheadText(room.aheadCount)}.`,
    evidence: [queued],
    next: "Wait until an attempt ends, or start another executor.",
    ...since(queued),
  };
}

function next(
  { node, room }: Case,
  free: readonly ExecutorSeen[],
  queued: Cited | undefined,
): Answer {
  return {
    reason: "QUEUED",
    summary: `It is in the queue of type ${node.definition.type}${aheadText(room.aheadCount)}; ${countText(free.length, "executor")} ${free.length === 1 ? "has" : "have"} room.`,
    evidence: [queued],
    next: "Ask again in a moment; if it stays so, see whether a scheduler is running.",
    ...since(queued),
  };
}

function aheadText(aheadCount: number | undefined): string {
  if (aheadCount === undefined) return "";
  return aheadCount === 0 ? ", next in line" : `, behind ${countText(aheadCount, "job")}`;
}
