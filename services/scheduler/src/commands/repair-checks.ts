// Checks what a request to repair a run names: nodes, events, and outputs that a user sets by hand. A name that does not exist is refused
// before anything is planned.

import { checkJson } from "@pawl/core/data/json";
import type { Graph } from "@pawl/core/definition/graph";
import { EngineError, type FieldViolation, invalidField } from "@pawl/core/fault/engine-error";
import { nodeId } from "@pawl/core/name/ids";
import { nearestName } from "@pawl/core/name/nearest";
import type { SetOutput } from "@pawl/core/repair/plan";
import { compileContract } from "@pawl/platform/contract/contract";
import type { LoadedRun } from "@pawl/platform/store/runs/runs";
import type { RepairAsked } from "@pawl/platform/wire/repair";
import { misfitText } from "../inputs/run-input.ts";

/** @throws NODE_NOT_FOUND, INPUT_INVALID */
export function checkNames(
  graph: Graph,
  { lastSeq }: Pick<LoadedRun, "lastSeq">,
  { fromNodes, keepNodes, outputs, fromSeq }: RepairAsked,
): void {
  const known = (id: string): boolean => graph.indexOf.has(nodeId(id));
  const missing = [...fromNodes, ...keepNodes, ...outputs.map((output) => output.nodeId)].find(
    (id) => !known(id),
  );
  if (missing !== undefined) {
    const near = nearestName(missing, [...graph.indexOf.keys()]);
    const hint = near === undefined ? "" : `; did you mean "${near}"?`;
    throw new EngineError(
      "NODE_NOT_FOUND",
      `The definition of the new run has no node "${missing}"${hint}`,
      { metadata: { node_id: missing } },
    );
  }
  if (fromSeq > lastSeq)
    throw invalidField("from_event_id", "OUT_OF_RANGE", `the last event of the run is ${lastSeq}`);
}

/** Checks outputs against the output contracts of their nodes. @throws INPUT_INVALID with a violation for each path */
export function checkOutputs(graph: Graph, outputs: readonly SetOutput[]): void {
  const violations = outputs.flatMap((output, at) => misfitsOf(graph, output, at));
  if (violations.length === 0) return;
  const message = `An output does not fit the contract of its node: ${misfitText(violations)}`;
  throw new EngineError("INPUT_INVALID", message, { violations });
}

function misfitsOf(graph: Graph, { nodeId: id, json }: SetOutput, at: number): FieldViolation[] {
  const schema = graph.nodes[graph.indexOf.get(nodeId(id)) ?? -1]?.definition.contracts.output;
  if (schema === undefined || schema === null) return [];
  const parsed = checkJson(json);
  return compileContract(
    schema,
    "output",
  )(parsed.ok ? parsed.value : null).map(({ path, message }) => ({
    field: path.replace("output", `outputs[${at}].output_json`),
    reason: "CONTRACT_VIOLATION",
    description: `(node ${id}) ${message}`,
  }));
}
