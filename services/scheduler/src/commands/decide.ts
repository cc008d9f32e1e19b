// Decides about a node that waits for a person. The caller names the node or its approval. The scheduler answers after the commit, when the
// tick has placed the next nodes. It checks a response against the node's schema before the tick sees the decision. A response that does
// not fit changes nothing. No race is possible: a definition never changes, and the tick decides whether the approval is open.

import { EngineError, invalidField, type ErrorMetadata } from "@pawl/core/fault/engine-error";
import { unreachable } from "@pawl/core/fault/invariant";
import { APPROVAL } from "@pawl/core/log/event";
import type { ApprovalId, RunId } from "@pawl/core/name/ids";
import type { FoundApproval } from "@pawl/platform/store/approvals/approvals";
import type { ApprovalAnswer, NodeAnswer } from "@pawl/platform/wire/requests";
import { runNotFound } from "@pawl/platform/wire/run";
import { runFinished } from "../inputs/errors.ts";
import type { DecideAnswer, DecideInput } from "../inputs/input.ts";
import type { AdmitParts } from "./parts.ts";
import { checkFits } from "./response-schema.ts";

/** @throws RUN_NOT_FOUND, NODE_NOT_FOUND, NODE_NOT_HELD, NODE_ALREADY_DECIDED, APPROVAL_CLOSED, RUN_ALREADY_FINISHED */
export async function decideNode(parts: AdmitParts, request: NodeAnswer): Promise<RunId> {
  const { runId, nodeId, decidedBy = "" } = request;
  const answer = await decide(parts, { ...request, decidedBy });
  if (isDone(answer)) return runId;
  throw refusalOf(answer, { run_id: runId, node_id: nodeId });
}

/** @throws APPROVAL_NOT_FOUND, APPROVAL_CLOSED, NODE_ALREADY_DECIDED, INPUT_INVALID */
export async function decideApproval(
  parts: AdmitParts,
  decision: DecideInput["decision"],
  { approvalId, response, ...words }: ApprovalAnswer,
): Promise<ApprovalId> {
  const found = await parts.journal.findApproval(approvalId);
  if (found === undefined) throw approvalNotFound(approvalId);
  const { runId, nodeId, iteration } = found;
  const responseJson = await responseTo(parts, found, decision, response);
  const answer = await decide(parts, {
    ...{ runId, nodeId, iteration, decision, approvalId },
    ...words,
    ...(responseJson === undefined ? {} : { responseJson }),
  });
  if (isDone(answer)) return approvalId;
  const metadata = { approval_id: approvalId, run_id: runId, node_id: nodeId };
  if (answer === "not_held" || answer === "finished") throw approvalClosed(metadata);
  throw refusalOf(answer, metadata);
}

const decide = ({ loop }: AdmitParts, said: Omit<DecideInput, "kind" | "answer">) =>
  loop.ask<DecideAnswer>((answer) => ({ kind: "decide", ...said, answer }));

type Done = "accepted" | "repeated";

const isDone = (answer: DecideAnswer): answer is Done =>
  answer === "accepted" || answer === "repeated";

/** The response that the tick sees. It is null if the person approved without a response. @throws INPUT_INVALID */
async function responseTo(
  parts: AdmitParts,
  found: FoundApproval,
  decision: DecideInput["decision"],
  given: string | undefined,
): Promise<string | undefined> {
  if (found.reason !== APPROVAL || (decision === "reject" && given === undefined)) return given;
  const text = given ?? "null";
  // A closed approval has a response already. The tick compares the new response with it.
  if (found.state === "open") await checkFits(parts, found, text);
  return text;
}

export const approvalNotFound = (id: string): EngineError =>
  new EngineError("APPROVAL_NOT_FOUND", `There is no approval ${id}.`, {
    metadata: { approval_id: id },
  });

const approvalClosed = (metadata: ErrorMetadata): EngineError =>
  new EngineError(
    "APPROVAL_CLOSED",
    "The approval is closed: its node or its run has ended. Nothing was changed.",
    { metadata: { ...metadata, state: "cancelled" } },
  );

/** The error for a decision that the tick refused. */
function refusalOf(answer: Exclude<DecideAnswer, Done>, metadata: ErrorMetadata): EngineError {
  switch (answer) {
    case "no_run":
      return runNotFound(metadata.run_id ?? "");
    case "no_node":
      return new EngineError("NODE_NOT_FOUND", "The run has no such node.", { metadata });
    case "finished":
      return runFinished(metadata);
    case "not_held":
      return new EngineError("NODE_NOT_HELD", "The node does not wait for a decision.", {
        metadata,
      });
    case "decided_otherwise":
      return new EngineError(
        "NODE_ALREADY_DECIDED",
        "A person decided the node before, with another decision or another response. Nothing was changed.",
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
    case "needs_reason":
      return invalidField(
        "comment",
        "REQUIRED",
        "approving drops labels of untrusted data; write the reason into the comment",
      );
    case "takes_no_response":
      return invalidField("response_json", "UNEXPECTED", "the node waits for a yes or no alone");
    default:
      return unreachable(answer, "answer");
  }
}
