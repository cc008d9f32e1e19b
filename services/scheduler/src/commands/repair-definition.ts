// The definition of the run that repairs a finished one: that of the finished run, the newest version, or the text of the request.

import type { Graph } from "@pawl/core/definition/graph";
import type { Violation } from "@pawl/core/definition/shape";
import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import { type DefinitionId, definitionId } from "@pawl/core/name/ids";
import type { RepairAsked } from "@pawl/platform/wire/repair";
import { workflowNotFound } from "../inputs/errors.ts";
import type { StartInput } from "../inputs/input.ts";
import { uuidV7 } from "../run-id.ts";
import { readDefinition } from "./definition.ts";
import type { FinishedRun, RepairParts } from "./repair-run.ts";

export interface RepairedDefinition {
  /** The graph of the finished run. */
  readonly before: Graph;
  readonly graph: Graph;
  readonly definitionId: DefinitionId;
  readonly digest: string;
  /** 0 for a definition that is not saved as a version. */
  readonly workflowVersion: number;
  /** A definition that no version has. It is stored with the new run. */
  readonly unsaved: StartInput["test"];
  readonly warnings: readonly Violation[];
}

/** @throws DEFINITION_INVALID, CYCLE_DETECTED, LIMIT_EXCEEDED, INPUT_INVALID, WORKFLOW_NOT_FOUND, EVENT_LOG_CORRUPTION */
export async function repairedDefinition(
  parts: RepairParts,
  tenantId: string,
  origin: FinishedRun,
  { text, latest }: RepairAsked,
): Promise<RepairedDefinition> {
  const { definitions, workflows, types } = parts;
  const { workflowId } = origin;
  const before = await definitions.graph(origin.definitionId);
  if (text !== undefined) {
    const read = readDefinition(text, {
      ...{ tenantId, now: parts.now(), types },
      ...{ egress: parts.egress, priceOf: parts.priceOf },
    });
    const { id } = read.graph.definition;
    if (workflowId !== null && id !== null && id !== workflowId)
      throw invalidField("definition.text", "WRONG_WORKFLOW", `is of ${id}, not of ${workflowId}`);
    return unsaved(before, read);
  }
  if (latest) {
    if (workflowId === null)
      throw invalidField("latest", "TEST_RUN", "a test run has no versions; send its definition");
    const row = await workflows.find(tenantId, workflowId, 0);
    if (row === undefined) throw workflowNotFound(workflowId);
    const graph = await definitions.graph(row.definitionId);
    const { digest, version: workflowVersion } = row;
    const saved = { definitionId: row.definitionId, digest, workflowVersion };
    return { before, graph, ...saved, unsaved: undefined, warnings: [] };
  }
  const { definitionDigest: digest, workflowVersion } = origin.started.payload;
  if (workflowVersion > 0)
    return {
      ...{ before, graph: before, definitionId: origin.definitionId, digest, workflowVersion },
      ...{ unsaved: undefined, warnings: [] },
    };
  // DeleteRun deletes a graph with its test run, so the new run gets its own copy.
  const row = await workflows.load(origin.definitionId);
  if (row === undefined)
    throw new EngineError("EVENT_LOG_CORRUPTION", "The definition of the run cannot be read.");
  const { title, nodeCount, body } = row;
  const copy = { tenantId, digest, title, nodeCount, body };
  const fresh = { ...copy, definitionId: definitionId(uuidV7(parts.now())) };
  return unsaved(before, { graph: before, row: fresh, warnings: [] });
}

function unsaved(
  before: Graph,
  { graph, row, warnings }: ReturnType<typeof readDefinition>,
): RepairedDefinition {
  const about = { graph, definitionId: row.definitionId, digest: row.digest, workflowVersion: 0 };
  return { before, ...about, unsaved: { graph, row }, warnings };
}
