// Answers an approval. The scheduler checks a response against its node's schema before the tick sees the decision: a response that
// does not fit changes nothing. No race is possible: a definition never changes, and the tick decides whether the approval is open.

import { LIMITS } from "@pawl/core/data/limits";
import { EngineError, invalidField, type ErrorMetadata } from "@pawl/core/fault/engine-error";
import { APPROVAL } from "@pawl/core/log/event";
import { approvalId, type ApprovalId, isUuid } from "@pawl/core/name/ids";
import type { FoundApproval } from "@pawl/platform/store/approvals/approvals";
import { requestIdOf } from "@pawl/platform/wire/request-id";
import type { ApproveApprovalRequest } from "@pawl/proto/pawl/v1/approval_service_pb";
import type { DecideInput } from "../inputs/input.ts";
import { cleanText } from "../sessions/wire.ts";
import { offerDecision, refusalOf } from "./decide-node.ts";
import type { AdmitParts } from "./parts.ts";
import { jsonTextOf } from "./request.ts";
import { checkFits } from "./response-schema.ts";

/** What approving and rejecting have in common. */
export type AnswerRequest = Pick<
  ApproveApprovalRequest,
  "approvalId" | "responseJson" | "comment" | "decidedBy" | "requestId"
>;

/** @throws APPROVAL_NOT_FOUND, APPROVAL_CLOSED, NODE_ALREADY_DECIDED, INPUT_INVALID, LIMIT_EXCEEDED */
export async function decideApproval(
  parts: AdmitParts,
  decision: DecideInput["decision"],
  request: AnswerRequest,
): Promise<ApprovalId> {
  const id = approvalIdOf(request.approvalId);
  const requestId = requestIdOf(request.requestId) ?? "";
  const given =
    request.responseJson.length === 0
      ? undefined
      : jsonTextOf("response_json", request.responseJson);
  const found = await parts.journal.findApproval(id);
  if (found === undefined) throw notFound(id);
  const { runId, nodeId, iteration } = found;
  // The response to a closed approval is not held to the schema: the tick compares it with the one that was taken.
  const isOpen = found.state === "open";
  const responseJson = isOpen
    ? await fitting(parts, found, decision, given)
    : (given ?? (decision === "approve" && found.reason === APPROVAL ? "null" : undefined));
  const answer = await offerDecision(parts, {
    runId,
    nodeId,
    iteration,
    decision,
    requestId,
    approvalId: id,
    comment: cleanText(request.comment, LIMITS.labelLength),
    decidedBy: cleanText(request.decidedBy, LIMITS.labelLength),
    ...(responseJson === undefined ? {} : { responseJson }),
  });
  if (answer === "accepted" || answer === "repeated") return id;
  const metadata = { approval_id: id, run_id: runId, node_id: nodeId };
  if (answer === "not_held" || answer === "finished") throw closed(metadata);
  throw refusalOf(answer, metadata);
}

/** An approval's id in any case, made canonical. @throws INPUT_INVALID */
export function approvalIdOf(text: string): ApprovalId {
  const canonical = text.toLowerCase();
  if (!isUuid(canonical)) throw invalidField("approval_id", "BAD_ID", "must be a UUID");
  return approvalId(canonical);
}

/** The response to an open approval: an approval without one is answered with null. @throws INPUT_INVALID */
async function fitting(
  parts: AdmitParts,
  found: FoundApproval,
  decision: DecideInput["decision"],
  given: string | undefined,
): Promise<string | undefined> {
  if (found.reason !== APPROVAL || (decision === "reject" && given === undefined)) return given;
  const text = given ?? "null";
  await checkFits(parts, found, text);
  return text;
}

export const notFound = (id: string): EngineError =>
  new EngineError("APPROVAL_NOT_FOUND", `There is no approval ${id}.`, {
    metadata: { approval_id: id },
  });

const closed = (metadata: ErrorMetadata): EngineError =>
  new EngineError(
    "APPROVAL_CLOSED",
    "It cannot be answered any more: its node or its run has ended; nothing was changed.",
    { metadata: { ...metadata, state: "cancelled" } },
  );
