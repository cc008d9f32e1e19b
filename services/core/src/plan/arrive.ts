// The facts of a report. Race: an executor reports after the scheduler took its claim back. Its epoch is not the live epoch of the node
// any more, so the report is `stale` and changes nothing. An outcome that was accepted before is a `duplicate`, and the scheduler
// acknowledges it again. An epoch is no secret, so the scheduler also compares the executor: only the executor that got the claim can end
// it.

import { type ActionFault, refusedAction } from "../action/action.ts";
import type { ActionOf } from "../action/kinds.ts";
import { LIMITS } from "../data/limits.ts";
import { exceedsUtf8 } from "../data/utf8.ts";
import { approvalRules } from "../definition/approval-config.ts";
import type { JsonSchema } from "../definition/shape.ts";
import { TAINT_HOLD, type Fact } from "../log/event.ts";
import {
  executionAt,
  executionDefinition,
  executionsOf,
  presentIteration,
} from "../log/execution.ts";
import type { ExecutionState, RunState } from "../log/state.ts";
import { approvalId, type ExecutorId, nodeId } from "../name/ids.ts";
import { type DecisionResult, onDecision } from "./decide.ts";
import { nodeIdAt, placeAt } from "./place.ts";
import { type Arrival, type Landing, type Outcome, outcomeFacts } from "./result.ts";
import { arrivedFacts } from "./signal.ts";

export interface OutcomeArrival extends Landing {
  /** The executor that reports. */
  readonly executorId: ExecutorId;
  readonly outcome: Outcome;
}

/** The fault of a response that does not fit its schema, for people. */
type CheckResponse = (schema: JsonSchema, response: unknown) => string | undefined;

/** Whether an arrival belongs to the live claim of the execution. A claim of another executor is stale. */
export function arrivalOf(
  node: ExecutionState | undefined,
  { epoch, executorId }: Pick<OutcomeArrival, "epoch" | "executorId">,
): "live" | "duplicate" | "stale" {
  if (node === undefined || epoch <= 0) return "stale";
  if (node.status === "running" && node.epoch === epoch)
    return node.executorId === executorId ? "live" : "stale";
  return node.reportedEpoch === epoch ? "duplicate" : "stale";
}

/** The facts that follow from an outcome, without those of the planner. It changes nothing itself. */
export function onOutcome(
  state: RunState,
  arrival: OutcomeArrival,
  checkResponse: CheckResponse = () => undefined,
): Arrival {
  const { nodeIndex, iteration, epoch, outcome } = arrival;
  const standing = arrivalOf(executionAt(state, nodeIndex, iteration), arrival);
  if (standing !== "live") return { kind: standing };
  const checks = (outcome.checks ?? []).map(({ type, phase, detailsJson }): Fact => ({
    ...placeAt(state, nodeIndex, iteration, epoch),
    type,
    payload: { phase },
    value: detailsJson,
  }));
  const answered = answers(state, arrival, checkResponse);
  if ("ok" in answered) {
    const { cause, message } = answered;
    const { durationMs, usage } = outcome;
    const used = usage === undefined ? {} : { usage };
    const failed = {
      kind: "failed",
      cause,
      message,
      permanent: true,
      durationMs,
      ...used,
    } as const;
    return {
      kind: "accepted",
      facts: [...checks, ...outcomeFacts(state, { ...arrival, outcome: failed })],
    };
  }
  const facts = arrivedFacts(state, arrival, checkResponse);
  // The answer counts only if the outcome does: an outcome that is refused has done nothing.
  const [first] = facts;
  const isTaken = outcome.kind === "completed" && first?.value === outcome.outputJson;
  return { kind: "accepted", facts: [...checks, ...facts, ...(isTaken ? answered : [])] };
}

/** The facts of an answer that the handler gives to the question of another node. */
function answers(
  state: RunState,
  arrival: OutcomeArrival,
  checkResponse: CheckResponse,
): readonly Fact[] | ActionFault {
  const { outcome, now } = arrival;
  const action = outcome.actions?.find(({ type }) => type === "resume_from_human");
  if (action?.type !== "resume_from_human" || outcome.kind !== "completed") return [];
  const place = placeOf(state, action);
  if (place === undefined) return refusal(action, "waits for no person");
  const { hold } = executionAt(state, place.nodeIndex, place.iteration) ?? {};
  // A handler may have read the same untrusted data.
  if (hold?.reason === TAINT_HOLD)
    return refusal(action, "waits for a person to drop labels, and no handler may do that");
  const misfit = responseFault(state, place, action, checkResponse);
  if (misfit !== undefined) return refusal(action, `does not take the response: ${misfit}`);
  const { decision, comment, responseJson } = action;
  const decidedBy = `node ${nodeIdAt(state, arrival.nodeIndex)}`;
  const result = onDecision(state, {
    ...{ ...place, now, decision, comment, decidedBy, requestId: "" },
    ...(action.approvalId === "" ? {} : { approvalId: approvalId(action.approvalId) }),
    ...(responseJson === "" ? {} : { responseJson }),
  });
  if (result.kind === "accepted") return result.facts;
  return result.kind === "repeated" ? [] : refusal(action, REFUSALS[result.kind]);
}

const REFUSALS: Readonly<Record<Exclude<DecisionResult["kind"], "accepted" | "repeated">, string>> =
  {
    decided_otherwise: "has another answer already",
    timed_out: "has passed its deadline",
    needs_response: "needs a response",
    needs_reason: "needs a reason",
    takes_no_response: "takes no response",
    not_held: "waits for no person",
  };

const refusal = ({ node, approvalId: id }: ActionOf<"resume_from_human">, why: string) =>
  refusedAction(`resume_from_human: ${node === "" ? `approval ${id}` : `node ${node}`} ${why}`);

interface Place {
  readonly nodeIndex: number;
  readonly iteration: number;
}

/** The execution that waits. The search by the id of an approval looks at every execution that is held. */
function placeOf(
  state: RunState,
  { node, iteration, approvalId: id }: ActionOf<"resume_from_human">,
): Place | undefined {
  if (node !== "") {
    const nodeIndex = state.graph.indexOf.get(nodeId(node)) ?? -1;
    const present = presentIteration(state, nodeIndex, iteration);
    return executionAt(state, nodeIndex, present) && { nodeIndex, iteration: present };
  }
  for (const [nodeIndex, at, { hold, decided }] of executionsOf(state))
    if ((hold?.approval ?? decided)?.approvalId === id) return { nodeIndex, iteration: at };
  return undefined;
}

function responseFault(
  state: RunState,
  { nodeIndex, iteration }: Place,
  { decision, responseJson }: ActionOf<"resume_from_human">,
  checkResponse: CheckResponse,
): string | undefined {
  if (exceedsUtf8(responseJson, LIMITS.approvalResponseBytes))
    return `it is larger than ${LIMITS.approvalResponseBytes} bytes`;
  if (responseJson === "" || decision !== "approve") return undefined;
  const { responseSchema } = approvalRules(executionDefinition(state, nodeIndex, iteration));
  return responseSchema === undefined
    ? undefined
    : checkResponse(responseSchema, JSON.parse(responseJson));
}
