// Decides about a node that waits for a person. The scheduler answers after the commit, when the tick has placed what follows.

import { LIMITS } from "@pawl/core/data/limits";
import { EngineError, invalidField, type ErrorMetadata } from "@pawl/core/fault/engine-error";
import { unreachable } from "@pawl/core/fault/invariant";
import { isName, nodeId, type RunId } from "@pawl/core/name/ids";
import { requestIdOf } from "@pawl/platform/wire/request-id";
import { type DecideNodeRequest, Decision } from "@pawl/proto/pawl/v1/run_service_pb";
import type { DecideAnswer, DecideInput } from "../inputs/input.ts";
import { cleanText } from "../sessions/wire.ts";
import type { AdmitParts } from "./parts.ts";
import { runIdOf } from "./request.ts";

/** Parts of a decision that DecideNode has no fields for; a queued resume carries them. */
export interface Answer {
  /** JSON text that fits the node's response schema. */
  readonly responseJson?: string;
  readonly decidedBy?: string;
}

/** @throws RUN_NOT_FOUND, NODE_NOT_FOUND, NODE_NOT_HELD, NODE_ALREADY_DECIDED, APPROVAL_CLOSED, RUN_ALREADY_FINISHED, INPUT_INVALID */
export async function decideNode(
  parts: AdmitParts,
  request: DecideNodeRequest,
  { responseJson, decidedBy = "" }: Answer = {},
): Promise<RunId> {
  const runId = runIdOf(request.runId);
  if (!isName(request.nodeId)) throw invalidField("node_id", "BAD_ID", "must be a node's id");
  const answer = await offerDecision(parts, {
    runId,
    nodeId: nodeId(request.nodeId),
    iteration: request.iteration,
    decision: decisionOf(request.decision),
    comment: cleanText(request.comment, LIMITS.labelLength),
    requestId: requestIdOf(request.requestId) ?? "",
    decidedBy: cleanText(decidedBy, LIMITS.labelLength),
    ...(responseJson === undefined ? {} : { responseJson }),
  });
  if (answer === "accepted" || answer === "repeated") return runId;
  throw refusalOf(answer, { run_id: runId, node_id: request.nodeId });
}

/** Offers a decision to the tick. */
export async function offerDecision(
  { loop }: AdmitParts,
  said: Omit<DecideInput, "kind" | "answer">,
): Promise<DecideAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<DecideAnswer>();
  loop.submit({ kind: "decide", ...said, answer: { resolve, reject } });
  return await promise;
}

function decisionOf(decision: Decision): DecideInput["decision"] {
  if (decision === Decision.APPROVE) return "approve";
  if (decision === Decision.REJECT) return "reject";
  throw invalidField("decision", "UNKNOWN_ENUM", "must be approve or reject");
}

/** Why a decision was not taken. */
export function refusalOf(
  answer: Exclude<DecideAnswer, "accepted" | "repeated">,
  metadata: ErrorMetadata,
): EngineError {
  switch (answer) {
    case "no_run":
      return new EngineError("RUN_NOT_FOUND", `There is no run ${metadata.run_id}.`, {
        metadata,
      });
    case "no_node":
      return new EngineError("NODE_NOT_FOUND", "The run has no such node.", { metadata });
    case "finished":
      return new EngineError("RUN_ALREADY_FINISHED", "The run has ended; nothing was changed.", {
        metadata,
      });
    case "not_held":
      return new EngineError("NODE_NOT_HELD", "The node does not wait for a decision.", {
        metadata,
      });
    case "decided_otherwise":
      return new EngineError(
        "NODE_ALREADY_DECIDED",
        "The node was decided before, with another decision or another response; nothing was changed.",
        { metadata },
      );
    case "timed_out":
      return new EngineError("APPROVAL_CLOSED", "Its deadline has passed; nothing was changed.", {
        metadata: { ...metadata, state: "timed_out" },
      });
    case "needs_response":
      return invalidField(
        "response_json",
        "REQUIRED",
        "this approval wants a response that fits its schema; answer it with ApproveApproval",
      );
    case "takes_no_response":
      return invalidField("response_json", "UNEXPECTED", "the node waits for a yes or no alone");
    default:
      return unreachable(answer, "answer");
  }
}
