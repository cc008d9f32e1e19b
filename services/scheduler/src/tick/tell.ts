// After the commit: assignments to executors that were given a node, and a word to those whose claim was taken away. Either
// may be lost with its connection; what an executor says it holds at its next renewal puts that right.

import { create } from "@bufbuild/protobuf";
import type { Graph } from "@pawl/core/definition/graph";
import { contextJson, nodeJson } from "@pawl/core/log/context";
import { effectKey } from "@pawl/core/name/ids";
import {
  AssignmentSchema,
  ClaimSchema,
  SchedulerItemSchema,
  type SchedulerItem,
} from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import type { Roster } from "../work/roster.ts";
import { claimItem } from "../work/wire.ts";
import type { Draft, HandOff } from "./draft.ts";
import type { Claim } from "./input.ts";

/** Static bytes per definition: encoded once, sent with every assignment of the node. */
const nodeBytes = new WeakMap<Graph, Uint8Array[]>();

export function tell(roster: Roster, draft: Draft): void {
  for (const { isLost, ...claim } of draft.closed) {
    const session = roster.holderOf(claim);
    if (session === undefined) continue;
    session.letGo(claim);
    session.send(claimItem(isLost ? "claimLost" : "cancel", claim));
  }
  for (const handOff of draft.handOffs) {
    const claim = claimOf(handOff);
    handOff.session.hold(claim);
    handOff.session.send(assignment(handOff, claim));
  }
}

function claimOf({ run: { state }, nodeIndex }: HandOff): Claim {
  const nodeId = state.graph.nodes[nodeIndex]?.definition.id;
  const epoch = state.nodes[nodeIndex]?.epoch;
  if (nodeId === undefined || epoch === undefined) throw new RangeError(`no node at ${nodeIndex}`);
  return { runId: state.runId, nodeId, iteration: 0, epoch };
}

function assignment({ run, nodeIndex }: HandOff, claim: Claim): SchedulerItem {
  const { state, workflowId, traceparent } = run;
  const { graph } = state;
  const definition = graph.nodes[nodeIndex]?.definition;
  const value = create(AssignmentSchema, {
    claim: create(ClaimSchema, { ...claim, epoch: BigInt(claim.epoch) }),
    attempt: state.nodes[nodeIndex]?.attempt ?? 1,
    nodeType: definition?.type ?? "",
    nodeJson: nodeJsonBytes(graph, nodeIndex),
    contextJson: Buffer.from(contextJson(state, nodeIndex)),
    timeoutMs: BigInt(definition?.timeoutMs ?? 0),
    traceparent: traceparent ?? "",
    effectKey: effectKey(state.runId, claim.nodeId, claim.iteration),
    workflowId: workflowId ?? "",
  });
  return create(SchedulerItemSchema, { item: { case: "assignment", value } });
}

function nodeJsonBytes(graph: Graph, nodeIndex: number): Uint8Array {
  let bytes = nodeBytes.get(graph);
  if (bytes === undefined) nodeBytes.set(graph, (bytes = []));
  return (bytes[nodeIndex] ??= Buffer.from(nodeJson(graph, nodeIndex)));
}
