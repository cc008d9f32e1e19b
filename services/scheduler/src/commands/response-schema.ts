// Checks responses of people, and defaults of approvals, against their schema.

import { checkJson } from "@pawl/core/data/json";
import { LIMITS } from "@pawl/core/data/limits";
import { exceedsUtf8 } from "@pawl/core/data/utf8";
import { approvalRules } from "@pawl/core/definition/approval-config";
import type { Graph } from "@pawl/core/definition/graph";
import type { Violation } from "@pawl/core/definition/shape";
import { EngineError } from "@pawl/core/fault/engine-error";
import { askingDefinition } from "@pawl/core/log/execution";
import type { FoundApproval } from "@pawl/platform/store/approvals/approvals";
import { checkResponse } from "../inputs/response.ts";
import type { AdmitParts } from "./parts.ts";

/** The node whose schema a response must fit. */
type AskingNode = Pick<FoundApproval, "runId" | "definitionId" | "nodeId"> &
  Partial<Pick<FoundApproval, "approvalId">>;

/** Checks the JSON text of a response. @throws INPUT_INVALID with a violation for each path, EVENT_LOG_CORRUPTION */
export async function checkFits(
  { definitions }: Pick<AdmitParts, "definitions">,
  { runId, definitionId, nodeId, approvalId }: AskingNode,
  text: string,
): Promise<void> {
  const graph = await definitions.graph(definitionId);
  const node = graph.nodes[graph.indexOf.get(nodeId) ?? -1];
  if (node === undefined) return;
  const schema = approvalRules(askingDefinition(node)).responseSchema;
  if (schema === undefined) return;
  const parsed = checkJson(text);
  const violations = checkResponse(schema, parsed.ok ? parsed.value : null);
  const [first] = violations;
  if (first === undefined) return;
  const more = violations.length > 1 ? ` (and ${violations.length - 1} more)` : "";
  const message = `The response does not fit: ${first.field} ${first.description}${more}`;
  const metadata = {
    run_id: runId,
    node_id: nodeId,
    ...(approvalId === undefined ? {} : { approval_id: approvalId }),
  };
  throw new EngineError("INPUT_INVALID", message, { metadata, violations });
}

/** The defaults of approvals that are too large, or that do not fit their own schema. */
export function defaultViolations(graph: Graph): Violation[] {
  const violations: Violation[] = [];
  let checked = 0;
  for (const node of graph.nodes) {
    const { index, definition } = node;
    const { scope, id } = definition;
    const { responseSchema, onTimeout } = approvalRules(askingDefinition(node));
    if (onTimeout === undefined) continue;
    const path = `nodes[${index}].config${scope === null ? "" : ".body.config"}.default`;
    if (exceedsUtf8(JSON.stringify(onTimeout.response), LIMITS.approvalResponseBytes)) {
      const message = `a response has at most ${LIMITS.approvalResponseBytes} bytes`;
      violations.push({ path, reason: "TOO_LARGE", message, nodeId: id });
      continue;
    }
    if (responseSchema === undefined) continue;
    if (++checked > LIMITS.approvalDefaults) {
      const message = `a definition has at most ${LIMITS.approvalDefaults} defaults with a schema`;
      return [...violations, { path, reason: "TOO_MANY", message, nodeId: id }];
    }
    for (const { field, description } of checkResponse(responseSchema, onTimeout.response))
      violations.push({
        path: field.replace("response_json", path),
        reason: "CONTRACT_VIOLATION",
        message: description,
        nodeId: id,
      });
  }
  return violations;
}
