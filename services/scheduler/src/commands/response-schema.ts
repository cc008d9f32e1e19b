// Checks responses of people, and defaults of approvals, against their schema. Compiling a schema costs milliseconds and checking
// is bounded (ADR 16). People answer the approvals of one definition many times, so the scheduler keeps compiled schemas by digest.

import { BoundedMap } from "@pawl/core/data/bounded-map";
import { checkJson } from "@pawl/core/data/json";
import { LIMITS } from "@pawl/core/data/limits";
import { approvalRules } from "@pawl/core/definition/approval-config";
import { canonicalJson } from "@pawl/core/definition/canonical";
import type { Graph } from "@pawl/core/definition/graph";
import type { JsonSchema, Violation } from "@pawl/core/definition/shape";
import { EngineError, type FieldViolation } from "@pawl/core/fault/engine-error";
import { executionDefinition } from "@pawl/core/log/execution";
import { compileContract, type Contract } from "@pawl/platform/contract/contract";
import type { FoundApproval } from "@pawl/platform/store/approvals/approvals";
import { sha256 } from "./digest.ts";
import type { AdmitParts } from "./parts.ts";

const COMPILED_MAX = 200;
const compiled = new BoundedMap<string, Contract>(COMPILED_MAX);

/** The node whose schema a response must fit. */
type AskingNode = Pick<FoundApproval, "runId" | "definitionId" | "nodeId" | "iteration"> &
  Partial<Pick<FoundApproval, "approvalId">>;

/** Checks the JSON text of a response. @throws INPUT_INVALID with a violation for each path, EVENT_LOG_CORRUPTION */
export async function checkFits(
  { definitions }: Pick<AdmitParts, "definitions">,
  { runId, definitionId, nodeId, iteration, approvalId }: AskingNode,
  text: string,
): Promise<void> {
  const graph = await definitions.graph(definitionId);
  const index = graph.indexOf.get(nodeId);
  if (index === undefined) return;
  const schema = approvalRules(executionDefinition(graph, index, iteration)).responseSchema;
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

/** The rules that a response breaks, by path. */
const checkResponse = (schema: JsonSchema, response: unknown): FieldViolation[] =>
  contractOf(schema)(response).map(({ path, message }) => ({
    field: path,
    reason: "CONTRACT_VIOLATION",
    description: message,
  }));

const contractOf = (schema: JsonSchema): Contract =>
  compiled.ensure(sha256(canonicalJson(schema)), () => compileContract(schema, "response_json"));

/** The defaults of approvals that do not fit their own schema. */
export function defaultViolations(graph: Graph): Violation[] {
  const violations: Violation[] = [];
  let checked = 0;
  for (const { index, definition } of graph.nodes) {
    const { scope, id } = definition;
    const asked = scope === null ? definition : scope.body;
    const { responseSchema, onTimeout } = approvalRules(asked);
    if (responseSchema === undefined || onTimeout === undefined) continue;
    const path = `nodes[${index}].config${scope === null ? "" : ".body.config"}.default`;
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
