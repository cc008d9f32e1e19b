// What an executor is sent for a claim, and how large that is. A task that no message can hold is never sent: its session fails it in
// the executor's name, which costs no delivery and breaks no stream.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { contextBytes, contextJson } from "@pawl/core/log/context";
import { executionAt, executionDefinition } from "@pawl/core/log/execution";
import { effectKey } from "@pawl/core/name/ids";
import { oversizeOf } from "@pawl/core/plan/oversize";
import { nodeIdAt } from "@pawl/core/plan/place";
import type { AssignmentSchema } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import type { SchedulerItemInit } from "../commit/executor.ts";
import { wireClaim } from "./wire.ts";
import type { Claim } from "../inputs/input.ts";
import type { Execution, Opened } from "../commit/run-draft.ts";
import { nodeJsonBytes } from "../decide/assigned-bytes.ts";

export function claimOf({ run: { state }, nodeIndex, iteration }: Execution): Claim {
  const epoch = executionAt(state, nodeIndex, iteration)?.epoch;
  if (epoch === undefined) throw new RangeError(`no node at ${nodeIndex}`);
  return { runId: state.runId, nodeId: nodeIdAt(state, nodeIndex), iteration, epoch };
}

/** Gives the executor its task, or fails the task where no message can hold it. */
export function assign(opened: Opened, claim: Claim): void {
  const { run, nodeIndex, iteration, executor } = opened;
  const ownBytes = nodeJsonBytes(run.state.graph, nodeIndex, iteration).length;
  const readBytes = contextBytes(run.state, nodeIndex, iteration);
  const oversize = oversizeOf(ownBytes, readBytes);
  if (oversize !== undefined) executor.refuse(claim, oversize);
  else executor.assign(claim, assignment(opened, claim), ownBytes + readBytes);
}

function assignment(opened: Opened, claim: Claim): SchedulerItemInit {
  const { run, nodeIndex, iteration, firstDeltaIndex } = opened;
  const { state, workflowId, traceparent } = run;
  const { graph } = state;
  const definition = executionDefinition(graph, nodeIndex, iteration);
  const value: MessageInitShape<typeof AssignmentSchema> = {
    claim: wireClaim(claim),
    attempt: executionAt(state, nodeIndex, iteration)?.attempt ?? 1,
    nodeType: definition.type,
    nodeJson: nodeJsonBytes(graph, nodeIndex, iteration),
    contextJson: Buffer.from(contextJson(state, nodeIndex, iteration)),
    timeoutMs: BigInt(definition.timeoutMs),
    traceparent: traceparent ?? "",
    effectKey: effectKey(state.runId, claim.nodeId, claim.iteration),
    workflowId: workflowId ?? "",
    inputApproved: executionAt(state, nodeIndex, iteration)?.isInputApproved ?? false,
    firstDeltaIndex,
  };
  return { item: { case: "assignment", value } };
}
