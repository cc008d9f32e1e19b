// How a hold ends: a person decides about a node that waits for one, or the time for that is up. The races it survives: the same
// decision said twice (its answer was lost) changes nothing, and one that comes after another, after the deadline, or after the
// run moved on, is told so instead of being applied. Of a decision and the deadline the first in the log counts.

import { approvalRules } from "../definition/approval-config.ts";
import type { Cause } from "../fault/cause.ts";
import { canonicalJson } from "../definition/canonical.ts";
import { APPROVAL, MODERATION_HOLD, type Fact, type NodeDecision } from "../log/event.ts";
import { executionAt, executionDefinition } from "../log/execution.ts";
import type { DecidedState, HoldState, RunState } from "../log/state.ts";
import type { ApprovalId } from "../name/ids.ts";
import { graphNodeAt, nodeIdAt } from "./place.ts";
import { completedFacts, failedFacts } from "./result.ts";

export interface DecisionArrival {
  readonly nodeIndex: number;
  readonly iteration: number;
  readonly decision: Exclude<NodeDecision, "timeout">;
  readonly comment: string;
  readonly requestId: string;
  readonly now: number;
  /** Where the caller named one: only this question is answered, and no later one about the same node. */
  readonly approvalId?: ApprovalId;
  /** JSON text that fits the node's response schema. */
  readonly responseJson?: string;
  readonly decidedBy?: string;
}

export type DecisionResult =
  | { readonly kind: "accepted"; readonly facts: Fact[] }
  /** Said before: nothing to do. */
  | { readonly kind: "repeated" }
  /** Another decision, or another response, was taken before. */
  | { readonly kind: "decided_otherwise" }
  /** Its time was up. */
  | { readonly kind: "timed_out" }
  /** The node says how a response must look, and there is none. */
  | { readonly kind: "needs_response" }
  /** The node waits for a yes or no; a response has no meaning for it. */
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
  const { responseSchema } = approvalRules(executionDefinition(state.graph, nodeIndex, iteration));
  if (hold.reason !== APPROVAL && responseJson !== undefined) return { kind: "takes_no_response" };
  const isBare = decision === "approve" && responseJson === undefined;
  if (isBare && hold.reason === APPROVAL && responseSchema !== undefined)
    return { kind: "needs_response" };
  const { comment, decidedBy = "", now } = arrival;
  const ruling = { decision, comment, requestId, decidedBy, responseJson };
  return { kind: "accepted", facts: endHold(state, { nodeIndex, iteration, now }, hold, ruling) };
}

/** Compared as values, since a response that was read back may be spelled otherwise. DecideNode names no response: any is the same. */
function isSameResponse({ response = "null" }: DecidedState, given: string | undefined): boolean {
  if (given === undefined || given === response) return true;
  return canonicalJson(JSON.parse(given)) === canonicalJson(JSON.parse(response));
}

/** The facts of an approval whose time is up; whoever says so has looked at the clock that counts. `stale` when it is not open. */
export function onApprovalDue(
  state: RunState,
  due: {
    readonly nodeIndex: number;
    readonly iteration: number;
    readonly approvalId: ApprovalId;
    readonly now: number;
  },
): { readonly kind: "stale" } | { readonly kind: "accepted"; readonly facts: Fact[] } {
  const { nodeIndex, iteration, now } = due;
  const hold = executionAt(state, nodeIndex, iteration)?.hold;
  if (hold?.approval?.approvalId !== due.approvalId) return { kind: "stale" };
  const { onTimeout } = approvalRules(executionDefinition(state.graph, nodeIndex, iteration));
  const ruling = {
    decision: "timeout",
    comment: "",
    requestId: "",
    decidedBy: "",
    responseJson: onTimeout === undefined ? undefined : JSON.stringify(onTimeout.response),
  } as const;
  return { kind: "accepted", facts: endHold(state, { nodeIndex, iteration, now }, hold, ruling) };
}

interface Ruling {
  readonly decision: NodeDecision;
  readonly comment: string;
  readonly requestId: string;
  readonly decidedBy: string;
  readonly responseJson: string | undefined;
}

interface Place {
  readonly nodeIndex: number;
  readonly iteration: number;
  readonly now: number;
}

function endHold(state: RunState, at: Place, hold: HoldState, ruling: Ruling): Fact[] {
  const { nodeIndex, iteration, now } = at;
  const { decision, comment, requestId, decidedBy, responseJson } = ruling;
  const attempt = executionAt(state, nodeIndex, iteration)?.attempt ?? 0;
  const place = { nodeId: nodeIdAt(state, nodeIndex), iteration, attempt, epoch: 0 };
  const said: Fact = {
    ...place,
    type: "node.decided",
    payload: {
      decision,
      reason: hold.reason,
      comment,
      requestId,
      ...(decidedBy === "" ? {} : { decidedBy }),
      ...(hold.approval === undefined ? {} : { approvalId: hold.approval.approvalId }),
    },
    ...(responseJson === undefined ? {} : { value: responseJson }),
  };
  // What follows stands under the claim that was held: its executor asked, or made the output.
  const landing = { nodeIndex, iteration, epoch: hold.epoch, jitter: 0, now };
  const { phase, ...ending } = hold.ending;
  const handle = handleOf(state, at, hold, ruling);
  if (handle === undefined) {
    const failure = { ...refusalOf(hold, ruling), permanent: true, durationMs: ending.durationMs };
    return [said, ...failedFacts(state, landing, { kind: "failed", ...failure })];
  }
  if (hold.reason !== APPROVAL) {
    if (phase === "input") return [said, { ...place, type: "node.queued", payload: {} }];
    const outputJson = hold.output ?? "null";
    const completed = { ...ending, kind: "completed", outputJson } as const;
    return [said, ...completedFacts(state, landing, completed)];
  }
  const outputJson = answerJson(hold, ruling);
  const { durationMs } = ending;
  const completed = { kind: "completed", outputJson, handle, durationMs } as const;
  return [said, ...completedFacts(state, landing, completed)];
}

/** The handle of an approval by how it ended; undefined when that is a failure. Other holds go on or fail. */
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
  const isLed =
    iteration === 0 &&
    graphNodeAt(state, nodeIndex).outgoing.some((edge) => edge.handle === handle);
  return isLed ? handle : undefined;
}

function refusalOf(
  { reason }: HoldState,
  { decision, comment }: Ruling,
): { readonly cause: Cause; readonly message: string } {
  const why = comment === "" ? "" : `: ${comment}`;
  if (decision === "timeout")
    return { cause: "approval_timeout", message: "approval_timeout: nobody answered in time" };
  const cause = REJECTIONS.get(reason) ?? "rejected";
  return { cause, message: `${cause}: rejected${why}` };
}

/** Causes of a rejected hold, by what it was for. */
const REJECTIONS: ReadonlyMap<string, Cause> = new Map([
  [APPROVAL, "approval_rejected"],
  [MODERATION_HOLD, "moderation_blocked"],
]);

/** The output of an approval: what was said, by whom. */
function answerJson({ approval }: HoldState, ruling: Ruling): string {
  const { decision, comment, decidedBy, responseJson } = ruling;
  const said = responseJson !== undefined && decision === "timeout" ? "default" : SAID[decision];
  const words = [said, comment, decidedBy, approval?.approvalId ?? ""].map((text) =>
    JSON.stringify(text),
  );
  const [how, why, who, which] = words;
  return `{"decision":${how},"response":${responseJson ?? "null"},"comment":${why},"decidedBy":${who},"approvalId":${which}}`;
}

const SAID = { approve: "approved", reject: "rejected", timeout: "timed_out" } as const;
