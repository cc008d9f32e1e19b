// After the commit: assignments to executors that were given a node (offers aside, which they have), and a word to those whose claim was taken away. Either
// may be lost with its connection; what an executor says it holds at its next renewal puts that right.

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Graph } from "@pawl/core/definition/graph";
import { contextJson, nodeJson, nodeJsonIndex } from "@pawl/core/log/context";
import { executionAt, executionDefinition } from "@pawl/core/log/execution";
import { effectKey } from "@pawl/core/name/ids";
import { nodeIdAt } from "@pawl/core/plan/place";
import type { AssignmentSchema } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import type { Roster } from "../work/roster.ts";
import type { SchedulerItemInit } from "../work/session.ts";
import { claimItem, wireClaim } from "../work/wire.ts";
import type { Draft } from "./draft.ts";
import type { HandOff } from "./run-draft.ts";
import type { Claim } from "./input.ts";

/** Static bytes per definition: encoded once, sent with every assignment of the node. */
const nodeBytes = new WeakMap<Graph, Uint8Array[]>();

export function tell(roster: Roster, draft: Draft): void {
  for (const closed of draft.closed) {
    const holder = roster.holderOf(closed);
    if (holder === undefined) continue;
    const { session, held } = holder;
    session.letGo(held);
    session.send(claimItem(closed.isLost ? "claimLost" : "cancel", held));
  }
  for (const handOff of draft.handOffs) {
    const claim = claimOf(handOff);
    handOff.session.hold(claim);
    handOff.session.send(assignment(handOff, claim));
  }
}

export function claimOf({ run: { state }, nodeIndex, iteration }: HandOff): Claim {
  const epoch = executionAt(state, nodeIndex, iteration)?.epoch;
  if (epoch === undefined) throw new RangeError(`no node at ${nodeIndex}`);
  return { runId: state.runId, nodeId: nodeIdAt(state, nodeIndex), iteration, epoch };
}

export function assignment(
  { run, nodeIndex, iteration }: HandOff,
  claim: Claim,
): SchedulerItemInit {
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
  };
  return { item: { case: "assignment", value } };
}

function nodeJsonBytes(graph: Graph, nodeIndex: number, iteration: number): Uint8Array {
  let bytes = nodeBytes.get(graph);
  if (bytes === undefined) nodeBytes.set(graph, (bytes = []));
  const at = nodeJsonIndex(nodeIndex, iteration);
  return (bytes[at] ??= Buffer.from(nodeJson(graph, nodeIndex, iteration)));
}
