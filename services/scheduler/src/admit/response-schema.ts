// Responses of people, and defaults for when there is none, held to their schema. Compiling costs milliseconds and checking is
// bounded (ADR 16), so compiled schemas are kept by their digest: a definition's approvals are answered many times.

import { LIMITS } from "@pawl/core/data/limits";
import { approvalRules } from "@pawl/core/definition/approval-config";
import { canonicalJson } from "@pawl/core/definition/canonical";
import type { Graph } from "@pawl/core/definition/graph";
import type { JsonSchema, Violation } from "@pawl/core/definition/shape";
import type { FieldViolation } from "@pawl/core/fault/engine-error";
import { compileContract, type Contract } from "@pawl/platform/contract/contract";
import { sha256 } from "./digest.ts";

const COMPILED_MAX = 200;
const compiled = new Map<string, Contract>();

/** What a response breaks, by path; empty when it fits. */
export const checkResponse = (schema: JsonSchema, response: unknown): FieldViolation[] =>
  contractOf(schema)(response).map(({ path, message }) => ({
    field: path,
    reason: "CONTRACT_VIOLATION",
    description: message,
  }));

function contractOf(schema: JsonSchema): Contract {
  const digest = sha256(canonicalJson(schema));
  let contract = compiled.get(digest);
  // Moved to the end: the one used longest ago makes room.
  compiled.delete(digest);
  contract ??= compileContract(schema, "response_json");
  compiled.set(digest, contract);
  if (compiled.size > COMPILED_MAX)
    for (const oldest of compiled.keys()) return forget(oldest, contract);
  return contract;
}

function forget(digest: string, contract: Contract): Contract {
  compiled.delete(digest);
  return contract;
}

/** Defaults of approvals that do not fit their own schema, where the definition says so. */
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
