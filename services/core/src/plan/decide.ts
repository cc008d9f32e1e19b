// How a hold ends: a person decides about a node that waits, or the time to answer is over. Races. A client repeats a decision because it
// lost the answer: the repeat changes nothing. A decision arrives after another decision, after the deadline, or after the run has
// continued: the client gets that as its answer. A decision and the deadline come together: the first in the log counts.

import { approvalRules } from "../definition/approval-config.ts";
import type { Cause } from "../fault/cause.ts";
import { canonicalJson } from "../definition/canonical.ts";
import {
  APPROVAL,
  MODERATION_HOLD,
  TAINT_HOLD,
  type Fact,
  type FactOf,
  type NodeDecision,
} from "../log/event.ts";
import { executionAt, executionDefinition } from "../log/execution.ts";
import type { RunState } from "../log/state.ts";
import type { DecidedState, HoldState } from "../log/wait-state.ts";
import type { ApprovalId } from "../name/ids.ts";
import { labelsOf } from "../policy/taint.ts";
import { isBudgeted } from "./funds.ts";
import { firstQueueFact } from "./first-queue.ts";
import { leadsBy, placeAt } from "./place.ts";
import { releaseOf } from "./release.ts";
import { outcomeFacts, type Outcome } from "./result.ts";
import { judgedOutcome } from "./until.ts";

interface Place {
  readonly nodeIndex: number;
  readonly iteration: number;
  readonly now: number;
}

export interface DecisionArrival extends Place {
  readonly decision: Exclude<NodeDecision, "timeout">;
  readonly comment: string;
  readonly requestId: string;
  /** Answers only this approval, and no later one of the same node. Absent if the caller names none. */
  readonly approvalId?: ApprovalId;
  /** JSON text that fits the node's response schema. */
  readonly responseJson?: string;
  readonly decidedBy?: string;
}

export type DecisionResult =
  | { readonly kind: "accepted"; readonly facts: Fact[] }
  /** A person took the same decision before. Nothing changes. */
  | { readonly kind: "repeated" }
  /** A person took another decision, or gave another response, before. */
  | { readonly kind: "decided_otherwise" }
  /** The time to answer was over. */
  | { readonly kind: "timed_out" }
  /** The node has a schema for the response, and there is no response. */
  | { readonly kind: "needs_response" }
  /** The person would drop labels, and gives no reason. */
  | { readonly kind: "needs_reason" }
  /** The node waits for a yes or no. A response has no meaning for it. */
  | { readonly kind: "takes_no_response" }
  | { readonly kind: "not_held" };

/** The facts that follow from a decision. Changes nothing itself. */
export function onDecision(state: RunState, arrival: DecisionArrival): DecisionResult {
  const { nodeIndex, iteration, decision, requestId, approvalId, responseJson } = arrival;
  const execution = executionAt(state, nodeIndex, iteration);
  if (execution === undefined) return { kind: "not_held" };
  const { hold, decided } = execution;
  const isRepeat = decided !== undefined && decided.requestId === requestId && requestId !== "";
  const isAnother = approvalId !== undefined && hold?.approval?.approvalId !== approvalId;
  if (isRepeat || isAnother || execution.status !== "waiting" || hold === undefined) {
    if (decided === undefined || (isAnother && decided.approvalId !== approvalId))
      return { kind: "not_held" };
    if (decided.decision === "timeout") return { kind: "timed_out" };
    const isSame = decided.decision === decision && isSameResponse(decided, responseJson);
    return { kind: isSame ? "repeated" : "decided_otherwise" };
  }
  const { responseSchema } = approvalRules(executionDefinition(state, nodeIndex, iteration));
  if (hold.reason !== APPROVAL && responseJson !== undefined) return { kind: "takes_no_response" };
  const isBare = decision === "approve" && responseJson === undefined;
  if (isBare && hold.reason === APPROVAL && responseSchema !== undefined)
    return { kind: "needs_response" };
  const { comment, decidedBy = "" } = arrival;
  if (hold.reason === TAINT_HOLD && decision === "approve" && comment.trim() === "")
    return { kind: "needs_reason" };
  const ruling = { decision, comment, requestId, decidedBy, responseJson };
  return { kind: "accepted", facts: endHold(state, arrival, hold, ruling) };
}

/**
 * Compares values, because a response from the log may have another spelling. DecideNode names no response. Then any response is the same.
 */
function isSameResponse({ response = "null" }: DecidedState, given: string | undefined): boolean {
  if (given === undefined || given === response) return true;
  return canonicalJson(JSON.parse(given)) === canonicalJson(JSON.parse(response));
}

/** The facts of an approval whose deadline has passed by the clock of the caller. `stale` if it is not open. */
export function onApprovalDue(
  state: RunState,
  due: Place & { readonly approvalId: ApprovalId },
): { readonly kind: "stale" } | { readonly kind: "accepted"; readonly facts: Fact[] } {
  const { nodeIndex, iteration } = due;
  const hold = executionAt(state, nodeIndex, iteration)?.hold;
  if (hold?.approval?.approvalId !== due.approvalId) return { kind: "stale" };
  const { onTimeout } = approvalRules(executionDefinition(state, nodeIndex, iteration));
  const ruling = {
    decision: "timeout",
    comment: "",
    requestId: "",
    decidedBy: "",
    responseJson: onTimeout === undefined ? undefined : JSON.stringify(onTimeout.response),
  } as const;
  return { kind: "accepted", facts: endHold(state, due, hold, ruling) };
}

interface Ruling {
  readonly decision: NodeDecision;
  readonly comment: string;
  readonly requestId: string;
  readonly decidedBy: string;
  readonly responseJson: string | undefined;
}

function endHold(state: RunState, at: Place, hold: HoldState, ruling: Ruling): Fact[] {
  const { nodeIndex, iteration, now } = at;
  const { decision, comment, requestId, decidedBy, responseJson } = ruling;
  const place = placeAt(state, nodeIndex, iteration);
  const decided: FactOf<"node.decided"> = {
    ...place,
    type: "node.decided",
    payload: {
      decision,
      reason: hold.reason,
      comment,
      requestId,
      ...(decidedBy === "" ? {} : { decidedBy }),
      ...(hold.approval === undefined ? {} : { approvalId: hold.approval.approvalId }),
      ...(hold.reason === TAINT_HOLD && decision === "approve"
        ? { dropped: labelsOf(hold.ending.taint) }
        : {}),
    },
    ...(responseJson === undefined ? {} : { value: responseJson }),
  };
  const handle = handleOf(state, at, hold, ruling);
  const { phase, ...ending } = hold.ending;
  const { durationMs } = ending;
  if (handle !== undefined && hold.reason !== APPROVAL && phase === "input")
    return isUnfunded(state, at)
      ? [{ ...decided, payload: { ...decided.payload, awaitsBudget: true } }]
      : [decided, releasedFact(state, at)];
  // The facts carry the claim of the executor that opened the hold or made the output.
  const landing = { nodeIndex, iteration, epoch: hold.epoch, jitter: 0, now };
  const outcome = (): Outcome => {
    if (handle === undefined)
      return { kind: "failed", ...refusalOf(hold, ruling), permanent: true, durationMs };
    if (hold.reason !== APPROVAL)
      return { ...ending, kind: "completed", outputJson: hold.output ?? "null" };
    const answer = { outputJson: answerJson(hold, ruling), handle, durationMs };
    // The answer of a person is trusted, whatever the person has read.
    return judgedOutcome(state, at, { kind: "completed", ...answer, isFresh: true });
  };
  return [decided, ...outcomeFacts(state, { ...landing, outcome: outcome() })];
}

/** Whether an execution that a policy held before it was ever queued must fit into a budget. The planner queues it then. */
const isUnfunded = (state: RunState, { nodeIndex, iteration }: Place): boolean =>
  placeAt(state, nodeIndex, iteration).attempt === 0 && isBudgeted(state, nodeIndex);

/** Queues an execution whose input a person released. A policy may have held it before it was ever queued. */
function releasedFact(state: RunState, { nodeIndex, iteration, now }: Place): Fact {
  const place = placeAt(state, nodeIndex, iteration);
  if (place.attempt > 0) return { ...place, type: "node.queued", payload: {} };
  const releaseAt = releaseOf(state, nodeIndex, iteration);
  return firstQueueFact(state, { nodeIndex, iteration }, { releaseAt, now });
}

/** The handle by which an approval leaves. Undefined if its end is a failure. A hold of another kind has no handles of its own. */
function handleOf(
  state: RunState,
  { nodeIndex, iteration }: Place,
  { reason }: HoldState,
  { decision, responseJson }: Ruling,
): string | undefined {
  if (decision === "approve") return "approved";
  if (reason !== APPROVAL) return undefined;
  if (decision === "timeout" && responseJson !== undefined) return "approved";
  const handle = decision === "reject" ? "rejected" : "timeout";
  return leadsBy(state, nodeIndex, iteration, handle) ? handle : undefined;
}

function refusalOf(
  { reason }: HoldState,
  { decision, comment }: Ruling,
): { readonly cause: Cause; readonly message: string } {
  const why = comment === "" ? "" : `: ${comment}`;
  if (decision === "timeout")
    return { cause: "approval_timeout", message: "approval_timeout: no person answered in time" };
  const cause = REJECTIONS.get(reason) ?? "rejected";
  return { cause, message: `${cause}: rejected${why}` };
}

/** The cause of a rejection, by the reason of its hold. */
const REJECTIONS: ReadonlyMap<string, Cause> = new Map([
  [APPROVAL, "approval_rejected"],
  [MODERATION_HOLD, "moderation_blocked"],
  [TAINT_HOLD, "taint_denied"],
]);

/** The output of an approval: the answer, and the person who gave it. The response is not changed. */
function answerJson({ approval }: HoldState, ruling: Ruling): string {
  const { decision, comment, decidedBy, responseJson } = ruling;
  const isDefault = responseJson !== undefined && decision === "timeout";
  const answer = JSON.stringify(isDefault ? "default" : ANSWERS[decision]);
  const rest = { comment, decidedBy, approvalId: approval?.approvalId ?? "" };
  return `{"decision":${answer},"response":${responseJson ?? "null"},${JSON.stringify(rest).slice(1)}`;
}

const ANSWERS = { approve: "approved", reject: "rejected", timeout: "timed_out" } as const;
