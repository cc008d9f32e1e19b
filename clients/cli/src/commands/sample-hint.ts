// A run that failed for want of input: its workflow may have a sample input, and the reader may not know of `--sample`.

import { type Json, jsonOf, sampleInputOf } from "@pawl/client";
import { NodeStatus, type Run, RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import { treeRows } from "../render/tree.ts";

/** The command that starts the workflow with its sample; empty where the input is not at fault, or there is no sample. */
export function sampleCommand(self: string, run: Run, definition: Json | undefined): string {
  const isAtFault = isEmpty(jsonOf(run.inputJson)) || hasStartFailed(run, definition);
  if (run.status !== RunStatus.FAILED || !isAtFault) return "";
  if (sampleInputOf(definition) === undefined) return "";
  return run.workflowId === ""
    ? `${self} run test -f FILE --sample`
    : `${self} run start ${run.workflowId} --sample`;
}

const isEmpty = (input: Json | undefined): boolean =>
  input === undefined ||
  input === null ||
  (typeof input === "object" && Object.keys(input).length === 0);

/** A start node does nothing but check the input against its contract. */
function hasStartFailed({ nodes }: Run, definition: Json | undefined): boolean {
  const start = treeRows(definition).find(({ type }) => type === "start");
  return nodes.some(
    ({ nodeId, status }) => nodeId === start?.nodeId && status === NodeStatus.FAILED,
  );
}
