// Consequences of a fact outside the log. The scheduler closes a claim, deletes a job, frees or asks for slots, or cancels a child run. It
// opens or closes an approval or a wait for a signal. One pure function compares the run before the fact with the run after it. The scheduler writes the
// consequences in the transaction that writes the fact.

import {
  APPROVAL,
  TAINT_HOLD,
  isSettled,
  isTerminalType,
  type ApprovalRequest,
  type Fact,
  type NodeDecision,
  type NodeStatus,
} from "../log/event.ts";
import { executionAt } from "../log/execution.ts";
import { isSettlingType } from "../log/meaning.ts";
import type { ExecutionState, RunState } from "../log/state.ts";
import { mayYield } from "../log/thread.ts";
import { isUndo } from "../log/undo-iteration.ts";
import type { ApprovalId, RunId } from "../name/ids.ts";
import { isLimited, type FoldedLimits } from "../policy/limit.ts";
import { undoingChildren } from "./cancel.ts";

export type Consequence =
  /** The execution is ready: it needs an executor, a job or slots. */
  | { readonly kind: "place"; readonly nodeIndex: number }
  /** `isLost`: the scheduler took the claim from its executor, because it was lost or is past its timeout. */
  | {
      readonly kind: "close_claim";
      readonly nodeIndex: number;
      readonly epoch: number;
      readonly isLost: boolean;
    }
  /** No executor may claim the execution that the event `queuedSeq` queued. */
  | { readonly kind: "drop_job"; readonly nodeIndex: number; readonly queuedSeq: number }
  /** The run waits for its time. */
  | { readonly kind: "await_start" }
  /** The run ended before it began, so its job begins nothing. */
  | { readonly kind: "drop_run_job" }
  /** The run waits for the slots of its workflow. */
  | { readonly kind: "ask_run_slots" }
  | { readonly kind: "free_slots"; readonly limits: FoldedLimits }
  /** A start counts against the rate. */
  | { readonly kind: "count_start"; readonly limits: FoldedLimits }
  | { readonly kind: "open_approval"; readonly question: Question }
  | { readonly kind: "close_approval"; readonly answer: Answer }
  /** The execution waits for a signal from now on. */
  | { readonly kind: "open_wait"; readonly name: string; readonly timeoutMs: number | null }
  | { readonly kind: "close_wait" }
  /** `stopsUndoing`: the run gives up its own compensation, and so the child gives up its own. */
  | {
      readonly kind: "cancel_child";
      readonly runId: RunId;
      readonly reason: string;
      readonly stopsUndoing: boolean;
    }
  /** An execution could not be undone. */
  | { readonly kind: "bury"; readonly nodeIndex: number; readonly why: string }
  /** The run has ended, and belongs to a thread. */
  | { readonly kind: "leave_thread" }
  /** The run waits, and gives its thread up if another run wants it. */
  | { readonly kind: "offer_thread" }
  /** The run is a child run and has ended. */
  | { readonly kind: "tell_parent" };

interface Question extends Omit<ApprovalRequest, "deadlineMs"> {
  readonly reason: string;
  /** JSON text. */
  readonly detailsJson: string | null;
  readonly deadlineMs: number | null;
}

interface Answer {
  readonly approvalId: ApprovalId;
  readonly state: "approved" | "rejected" | "timed_out" | "cancelled";
  readonly decidedBy: string;
  readonly comment: string;
  /** JSON text. */
  readonly responseJson: string | null;
}

/** A run, and the execution that a fact names, before the fact. The fold changes both in place. */
interface Before extends Readonly<
  Pick<ExecutionState, "status" | "epoch" | "causeSeq" | "hold" | "wait" | "childRunId">
> {
  /** Undefined if the fact is about the run itself. */
  readonly nodeIndex: number | undefined;
  readonly isAdmitted: boolean;
  readonly isUndoing: boolean;
}

const NONE: readonly Consequence[] = [];

/** Records the state that `fact` may change, before the fold. */
export function beforeFact(state: RunState, { nodeId, iteration }: Fact): Before {
  const nodeIndex = nodeId === "" ? undefined : state.graph.indexOf.get(nodeId);
  const execution = nodeIndex === undefined ? undefined : executionAt(state, nodeIndex, iteration);
  return {
    nodeIndex,
    isAdmitted: state.isAdmitted,
    isUndoing: state.ending !== undefined,
    status: execution?.status ?? "pending",
    epoch: execution?.epoch ?? 0,
    causeSeq: execution?.causeSeq ?? 0,
    hold: execution?.hold,
    wait: execution?.wait,
    childRunId: execution?.childRunId,
  };
}

/** The consequences of `fact`, which turned `before` into `after`. */
export function consequences(before: Before, fact: Fact, after: RunState): readonly Consequence[] {
  const { nodeIndex, status } = before;
  if (nodeIndex === undefined) return runConsequences(before, fact, after);
  if (fact.type === "node.queued" && before.hold === undefined)
    return [{ kind: "place", nodeIndex }];
  const execution = executionAt(after, nodeIndex, fact.iteration);
  const buried = execution === undefined ? NONE : buriedBy(nodeIndex, fact, execution);
  // A glue node that the planner completes was never queued. It has no job, no claim and no slots.
  if (execution === undefined || (status === "pending" && fact.type !== "node.blocked"))
    return buried;
  const found: Consequence[] = [...buried];
  if (fact.type === "node.cancelled" && before.childRunId !== undefined)
    found.push({
      kind: "cancel_child",
      runId: before.childRunId,
      reason: fact.payload.reason,
      stopsUndoing: before.isUndoing,
    });
  if (isPlaced(status) && isLimited(execution)) {
    if (!isPlaced(execution.status)) found.push({ kind: "free_slots", limits: execution });
    else if (status === "queued" && execution.status === "running")
      found.push({ kind: "count_start", limits: execution });
  }
  const question = questionOf(before, fact, execution) ?? waitOf(before, fact, execution);
  if (question !== undefined) found.push(question);
  if (status === "running" && execution.status !== "running")
    found.push({ kind: "close_claim", nodeIndex, epoch: before.epoch, isLost: isTaken(fact) });
  // A policy about labels may hold an execution that waits in the queue.
  const isHeld = fact.type === "node.blocked" && fact.payload.reason === TAINT_HOLD;
  if (status === "queued" && (isSettled(execution.status) || isHeld))
    found.push({ kind: "drop_job", nodeIndex, queuedSeq: before.causeSeq });
  if (fact.type === "node.queued") found.push({ kind: "place", nodeIndex });
  return found;
}

/** A compensation that ended without success needs a person. */
function buriedBy(
  nodeIndex: number,
  { type, iteration }: Fact,
  { status, message = "" }: ExecutionState,
): readonly Consequence[] {
  if (!isUndo(iteration) || !isSettlingType(type) || status === "completed") return NONE;
  return [{ kind: "bury", nodeIndex, why: message }];
}

function runConsequences(
  { isAdmitted }: Before,
  fact: Fact,
  after: RunState,
): readonly Consequence[] {
  const { type } = fact;
  // The children that a run waits for undo their nodes first.
  if (type === "run.status.changed" && fact.payload.ending !== undefined)
    return undoingChildren(after).map((runId) => ({
      kind: "cancel_child",
      runId,
      reason: "it is compensated",
      stopsUndoing: false,
    }));
  const { parent, thread, startAt } = after;
  if ((parent ?? thread ?? startAt) === undefined && !isLimited(after)) return NONE;
  if (startAt !== undefined && type === "run.started") return [{ kind: "await_start" }];
  const found: Consequence[] = [];
  if (startAt !== undefined && !after.isAdmitted && isTerminalType(type))
    found.push({ kind: "drop_run_job" });
  if (thread !== undefined && isTerminalType(type)) found.push({ kind: "leave_thread" });
  if (type === "run.status.changed" && mayYield(after)) found.push({ kind: "offer_thread" });
  if (parent !== undefined && isTerminalType(type)) found.push({ kind: "tell_parent" });
  if (!isLimited(after)) return found;
  // A run takes its thread first, and its slots after that: two runs never hold what the other waits for.
  const asks =
    thread === undefined
      ? type === "run.started"
      : type === "run.thread.taken" && fact.payload.reused === undefined;
  if (asks) found.push({ kind: "ask_run_slots" });
  else if (isTerminalType(type)) found.push({ kind: "free_slots", limits: after });
  else if (after.isAdmitted && !isAdmitted) found.push({ kind: "count_start", limits: after });
  return found;
}

/** An execution holds its slots while it is queued or running. */
const isPlaced = (status: NodeStatus): boolean => status === "queued" || status === "running";

/** Whether a fact takes a claim from its executor while the run continues: the claim was lost, or is past its timeout. */
const isTaken = ({ type, epoch }: Fact): boolean =>
  type === "run.recovered" || (epoch === 0 && type !== "node.cancelled");

const ANSWERS: Readonly<Record<NodeDecision, Answer["state"]>> = {
  approve: "approved",
  reject: "rejected",
  timeout: "timed_out",
};

/** The wait for a signal that a fact opens or closes. */
function waitOf({ wait }: Before, fact: Fact, after: ExecutionState): Consequence | undefined {
  if (wait !== undefined) return after.wait === wait ? undefined : { kind: "close_wait" };
  if (fact.type !== "node.blocked" || fact.payload.signal === undefined) return undefined;
  const { name, timeoutMs = null } = fact.payload.signal;
  return { kind: "open_wait", name, timeoutMs };
}

/** The approval that a fact opens or closes. */
function questionOf({ hold }: Before, fact: Fact, after: ExecutionState): Consequence | undefined {
  if (fact.type === "node.blocked" && fact.payload.approval !== undefined) {
    const { reason, approval } = fact.payload;
    const { approvalId, message, assignees, deadlineMs = null } = approval;
    // A person who may read the run reads the output that moderation holds back there.
    const detailsJson = reason === APPROVAL ? (fact.value ?? null) : null;
    const question = { approvalId, reason, message, detailsJson, assignees, deadlineMs };
    return { kind: "open_approval", question };
  }
  const approvalId = hold?.approval?.approvalId;
  if (approvalId === undefined) return undefined;
  if (fact.type !== "node.decided") {
    // A handler may write the memory beside its question. The execution still waits then.
    if (after.status === "waiting") return undefined;
    const unanswered = { decidedBy: "", comment: "", responseJson: null };
    return { kind: "close_approval", answer: { approvalId, state: "cancelled", ...unanswered } };
  }
  const { decision, decidedBy = "", comment } = fact.payload;
  const responseJson = fact.value ?? null;
  const answer = { approvalId, state: ANSWERS[decision], decidedBy, comment, responseJson };
  return { kind: "close_approval", answer };
}
