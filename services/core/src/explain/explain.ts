// Explains why a node does not run, or why it ended as it did. It is a pure function of the log and of the run's surroundings. The cited
// events, or the given queue, leases and executors, prove every sentence.

import { unreachable } from "../fault/invariant.ts";
import { isFinal, TERMINAL_TYPES } from "../log/event.ts";
import { executionAt, executionDefinition, isItem } from "../log/execution.ts";
import { newExecutionState, type RunState } from "../log/state.ts";
import { isUndo } from "../log/undo-iteration.ts";
import { graphNodeAt, nodeStateAt } from "../plan/place.ts";
import type { PriceOf } from "../policy/price.ts";
import { cite, type Answer, type Case } from "./case.ts";
import { explainRunning, explainWaiting } from "./held.ts";
import { pausedText, resumptionOf } from "./paused.ts";
import { explainPending } from "./pending.ts";
import type { Proofs } from "./proofs.ts";
import { explainQueued } from "./queued.ts";
import type { Explanation } from "./reason.ts";
import type { WaitingRoom } from "./room.ts";
import { pendingAnswer } from "./thread-wait.ts";
import {
  explainCancelled,
  explainCompleted,
  explainFailed,
  explainSkipped,
  explainTimedOut,
  handledFailure,
} from "./settled.ts";

interface ExplainQuestion {
  readonly state: RunState;
  readonly proofs: Proofs;
  readonly room: WaitingRoom;
  readonly priceOf?: PriceOf;
  readonly nodeIndex: number;
  readonly iteration: number;
  /** Absent for a run of an unsaved graph. */
  readonly workflowId?: string | undefined;
}

/** The cause of a node's state. */
export function explainNode(question: ExplainQuestion): Explanation {
  const { state, nodeIndex, iteration } = question;
  const asked: Case = isItem(state, nodeIndex, iteration)
    ? iterationCase(question)
    : nodeCase(question);
  const { evidence = [], since, ...answer } = answerTo(asked);
  return {
    ...answer,
    ...(since && { sinceAt: since.at }),
    ...failureField(asked),
    status: asked.nodeState.status,
    evidence: cite([...evidence, since]),
  };
}

function failureField({ nodeState }: Case): Pick<Explanation, "failure"> {
  const failure = nodeState.failure ?? handledFailure(nodeState);
  return failure === undefined ? {} : { failure };
}

const nodeCase = (question: ExplainQuestion): Case => ({
  ...question,
  node: graphNodeAt(question.state, question.nodeIndex),
  nodeState: nodeStateAt(question.state, question.nodeIndex),
});

/** An iteration is its node with the type and retries of the body or of the compensation, and with its own state. */
function iterationCase(question: ExplainQuestion): Case {
  const { state, nodeIndex, iteration } = question;
  const node = graphNodeAt(state, nodeIndex);
  const { definition } = node;
  const own = executionAt(state, nodeIndex, iteration) ?? newExecutionState();
  return {
    ...question,
    node: {
      ...node,
      definition: { ...definition, ...executionDefinition(state, nodeIndex, iteration) },
    },
    nodeState: { ...nodeStateAt(state, nodeIndex), ...own, handle: undefined, scope: undefined },
  };
}

function answerTo(asked: Case): Answer {
  const { state, nodeState } = asked;
  const { status } = nodeState;
  switch (status) {
    case "pending":
      return (
        ofTheRun(asked) ?? (isUndo(asked.iteration) ? notUndone(asked) : explainPending(asked))
      );
    case "queued":
    case "retrying":
      return ofTheRun(asked) ?? explainQueued(asked);
    case "running":
      return isFinal(state.status) ? ended(asked) : explainRunning(asked);
    case "waiting":
      return ofTheRun(asked) ?? explainWaiting(asked);
    case "completed":
    case "invalidated": // only events about earlier rounds give it
      return explainCompleted(asked);
    case "failed":
      return explainFailed(asked);
    case "timed_out":
      return explainTimedOut(asked);
    case "cancelled":
      return explainCancelled(asked);
    case "skipped":
      return explainSkipped(asked);
    default:
      return unreachable(status, "node status");
  }
}

/** The reason that holds back every node of the run that has not started. */
function ofTheRun(asked: Case): Answer | undefined {
  if (isFinal(asked.state.status)) return ended(asked);
  const summary = pausedText(asked.state);
  if (summary === undefined) return asked.state.isAdmitted ? undefined : notBegun(asked);
  const paused = asked.proofs.newest("", 0, "run.status.changed");
  return {
    reason: "RUN_PAUSED",
    summary,
    next: resumptionOf(asked.state, asked.workflowId),
    since: paused,
  };
}

/** The run was accepted and waits for its turn among the runs of its workflow. */
function notBegun({ state, proofs, room }: Case): Answer {
  const started = proofs.newest("", 0, "run.started");
  const limited = pendingAnswer(room, state);
  if (limited !== undefined)
    return { ...limited, since: started, summary: `The run is pending. ${limited.summary}` };
  if (state.daily !== undefined)
    return {
      reason: "WAITING_BUDGET",
      summary:
        "The run is pending. It waits for other runs of its workflow, which have reserved the rest of the daily budget.",
      next: "Wait until one of them ends; or raise per_day in the workflow.",
      since: started,
    };
  return {
    since: started,
    reason: "QUEUED",
    summary: "The run was accepted and begins next.",
    next: "Ask again in a moment; if it stays so, see whether a scheduler is running.",
  };
}

/** A compensation that is not queued yet. */
const notUndone = ({ state, proofs }: Case): Answer =>
  state.ending === undefined
    ? {
        reason: "DECIDING",
        summary: "The node completed, and is undone if the run fails, is cancelled or times out.",
        next: "Nothing: the run goes forward.",
      }
    : {
        reason: "WAITING_PARENTS",
        summary: "It is undone after the nodes that ran behind it, in reverse order.",
        next: "Explain the compensations of those nodes.",
        since: proofs.newest("", 0, "run.status.changed"),
      };

function ended({ state, proofs }: Case): Answer {
  const terminal = proofs.newest("", 0, ...TERMINAL_TYPES);
  return {
    reason: "RUN_ENDED",
    summary: `The run is over (${state.status}); it will not run any more.`,
    next: "Start the run again if its result is still wanted.",
    since: terminal,
  };
}
