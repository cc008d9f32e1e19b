// The message that gives a claim to an executor, and its size. The tick computes the size before it claims. If no message can hold a task,
// the session fails the task in the executor's name. That costs no delivery and breaks no stream.
//
// Messages are sent after the commit. A message may be lost with its connection. The executor names its claims in the next renewal, and the
// scheduler takes the lost ones back.

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Graph } from "@pawl/core/definition/graph";
import { causesOf, waitedMs } from "@pawl/core/log/causes";
import { contextBytes, contextJson } from "@pawl/core/log/context";
import { executionAt, executionDefinition, partOf } from "@pawl/core/log/execution";
import { handlerStateJson } from "@pawl/core/log/handler-state";
import { nodeJson, nodeJsonIndex } from "@pawl/core/log/node-json";
import type { RunState } from "@pawl/core/log/state";
import { effectKey } from "@pawl/core/name/ids";
import { oversizeOf } from "@pawl/core/plan/oversize";
import { nodeIdAt } from "@pawl/core/plan/place";
import { claimSpanId, spanIdBits } from "@pawl/platform/telemetry/span-id";
import type { AssignmentSchema, ClaimSchema } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import type { Draft } from "../commit/draft.ts";
import type { Executors, SchedulerItemInit } from "../commit/executor.ts";
import type { Execution, Opened } from "../commit/run-draft.ts";
import type { Claim } from "../inputs/input.ts";

/** Definitions of nodes as bytes. They are encoded once and sent with every assignment of the node. */
const nodeBytes = new WeakMap<Graph, Map<number, Uint8Array>>();

function nodeJsonBytes(state: RunState, nodeIndex: number, iteration: number): Uint8Array {
  const { graph } = state;
  const part = partOf(state, nodeIndex, iteration);
  let made = nodeBytes.get(graph);
  if (made === undefined) nodeBytes.set(graph, (made = new Map()));
  const at = nodeJsonIndex(nodeIndex, part);
  let bytes = made.get(at);
  if (bytes === undefined) made.set(at, (bytes = Buffer.from(nodeJson(graph, nodeIndex, part))));
  return bytes;
}

/** About how many bytes the assignment of an execution takes. It is never less than the bytes of its JSON. */
export const assignedBytes = ({ run: { state }, nodeIndex, iteration }: Execution): number =>
  contextBytes(state, nodeIndex, iteration) + nodeJsonBytes(state, nodeIndex, iteration).length;

/** A claim in the form of the wire. */
export const wireClaim = (claim: Claim): MessageInitShape<typeof ClaimSchema> => ({
  runId: claim.runId,
  nodeId: claim.nodeId,
  iteration: claim.iteration,
  epoch: BigInt(claim.epoch),
});

/** Sends assignments to the executors with new claims, and ClaimLost or Cancel to the executors whose claim ended. */
export function tell(executors: Executors, draft: Draft): void {
  for (const closed of draft.closed) executors.holderOf(closed)?.withdraw(closed, closed.isLost);
  for (const handOff of draft.handOffs) assign(handOff);
}

/** Sends the executor its task, or fails the task if no message can hold it. */
function assign(opened: Opened): void {
  const { run, nodeIndex, iteration, executor } = opened;
  const claim = claimOf(opened);
  const ownBytes = nodeJsonBytes(run.state, nodeIndex, iteration).length;
  const frozen = opened.contextJson;
  const readBytes =
    frozen === undefined
      ? contextBytes(run.state, nodeIndex, iteration)
      : Buffer.byteLength(frozen);
  const stateJson = stateBytes(opened);
  const sentBytes = readBytes + (stateJson?.length ?? 0);
  const oversize = oversizeOf(ownBytes, sentBytes);
  if (oversize !== undefined) executor.refuse(claim, oversize);
  else executor.assign(claim, assignment(opened, claim, stateJson), ownBytes + sentBytes);
}

/** The state of the run, for an executor whose handler asks for it. */
function stateBytes({ run, nodeIndex, iteration, executor }: Opened): Uint8Array | undefined {
  if (executor.stateTypes === undefined || executor.stateTypes.size === 0) return undefined;
  const { state, workflowId } = run;
  const { type } = executionDefinition(state, nodeIndex, iteration);
  if (!executor.stateTypes.has(type)) return undefined;
  return Buffer.from(
    handlerStateJson(state, { nodeIndex, iteration, workflowId: workflowId ?? "" }),
  );
}

function claimOf({ run: { state }, nodeIndex, iteration }: Execution): Claim {
  const epoch = executionAt(state, nodeIndex, iteration)?.epoch;
  if (epoch === undefined) throw new RangeError(`no node at ${nodeIndex}`);
  return { runId: state.runId, nodeId: nodeIdAt(state, nodeIndex), iteration, epoch };
}

function assignment(
  opened: Opened,
  claim: Claim,
  stateJson: Uint8Array | undefined,
): SchedulerItemInit {
  const { run, nodeIndex, iteration, firstDeltaIndex } = opened;
  const { state, workflowId, traceparent } = run;
  const definition = executionDefinition(state, nodeIndex, iteration);
  const {
    attempt = 1,
    isInputApproved = false,
    readTaint,
  } = executionAt(state, nodeIndex, iteration) ?? {};
  const value: MessageInitShape<typeof AssignmentSchema> = {
    claim: wireClaim(claim),
    attempt,
    nodeType: definition.type,
    nodeJson: nodeJsonBytes(state, nodeIndex, iteration),
    contextJson: Buffer.from(opened.contextJson ?? contextJson(state, nodeIndex, iteration)),
    timeoutMs: BigInt(definition.timeoutMs),
    traceparent: traceparent ?? "",
    effectKey: effectKey(state.runId, claim.nodeId, claim.iteration),
    workflowId: workflowId ?? "",
    threadId: state.thread?.threadId ?? "",
    assistantId: state.assistant?.assistantId ?? "",
    inputApproved: isInputApproved,
    firstDeltaIndex,
    ...(readTaint === undefined ? {} : { taint: [...readTaint] }),
    ...(stateJson === undefined ? {} : { stateJson }),
    ...(traceparent === null ? {} : traced(opened)),
  };
  return { item: { case: "assignment", value } };
}

/** What the executor's spans show of the way to this claim. */
function traced({ run: { state }, nodeIndex, iteration }: Opened) {
  const causes = causesOf(state, nodeIndex, iteration);
  return {
    causeSpanIds: causes.map((cause) => spanIdBits(claimSpanId({ runId: state.runId, ...cause }))),
    waitedMs: BigInt(waitedMs(state, nodeIndex, iteration) ?? 0),
  };
}
