// Answers an approval. A response is held to its node's schema before the decision is offered: what does not fit changes nothing.
// Nothing can come between: a definition never changes, and whether the approval is still open the tick decides.

import { checkJson } from "@pawl/core/data/json";
import { LIMITS } from "@pawl/core/data/limits";
import { approvalRules } from "@pawl/core/definition/approval-config";
import type { JsonSchema } from "@pawl/core/definition/shape";
import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import { APPROVAL } from "@pawl/core/log/event";
import { executionDefinition } from "@pawl/core/log/execution";
import { approvalId, type ApprovalId, isUuid } from "@pawl/core/name/ids";
import type { FoundApproval } from "@pawl/platform/store/journal";
import { requestIdOf } from "@pawl/platform/wire/request-id";
import type { ApproveApprovalRequest } from "@pawl/proto/pawl/v1/approval_service_pb";
import type { DecideInput } from "../tick/input.ts";
import { cleanText } from "../work/wire.ts";
import { offerDecision, refusalOf } from "./decide-node.ts";
import type { AdmitParts } from "./parts.ts";
import { jsonTextOf } from "./request.ts";
import { checkResponse } from "./response-schema.ts";

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

/** The response as it goes on: it fits, or nothing happens. @throws INPUT_INVALID */
async function fitting(
  parts: AdmitParts,
  found: FoundApproval,
  decision: DecideInput["decision"],
  given: string | undefined,
): Promise<string | undefined> {
  if (found.reason !== APPROVAL) {
    if (given === undefined) return undefined;
    throw invalidField("response_json", "UNEXPECTED", `a ${found.reason} takes no response`);
  }
  if (decision === "reject" && given === undefined) return undefined;
  const text = given ?? "null";
  const schema = await schemaOf(parts, found);
  if (schema === undefined) return text;
  const parsed = checkJson(text);
  const violations = checkResponse(schema, parsed.ok ? parsed.value : null);
  if (violations.length === 0) return text;
  const [first] = violations;
  const more = violations.length > 1 ? ` (and ${violations.length - 1} more)` : "";
  throw new EngineError(
    "INPUT_INVALID",
    `The response does not fit: ${first?.field} ${first?.description}${more}`,
    { metadata: { approval_id: found.approvalId }, violations },
  );
}

/** How an approval's response must look. @throws EVENT_LOG_CORRUPTION */
export async function schemaOf(
  { definitions }: Pick<AdmitParts, "definitions">,
  found: FoundApproval,
): Promise<JsonSchema | undefined> {
  const graph = await definitions.graph(found.definitionId);
  const index = graph.indexOf.get(found.nodeId);
  if (index === undefined) return undefined;
  return approvalRules(executionDefinition(graph, index, found.iteration)).responseSchema;
}

export const notFound = (id: string): EngineError =>
  new EngineError("APPROVAL_NOT_FOUND", `There is no approval ${id}.`, {
    metadata: { approval_id: id },
  });

const closed = (metadata: Readonly<Record<string, string>>): EngineError =>
  new EngineError(
    "APPROVAL_CLOSED",
    "It cannot be answered any more: its node or its run has ended; nothing was changed.",
    { metadata: { ...metadata, state: "cancelled" } },
  );
