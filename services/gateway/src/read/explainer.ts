// Why a node stands where it stands: reads the log, the queue, the leases and the executors, asks schedulers for results they could not
// store, and lets the core say what all that means. Reads only, and may be a moment behind: an explanation decides nothing.

import { executionAt, executionDefinition } from "@pawl/core/log/execution";
import { create } from "@bufbuild/protobuf";
import { EngineError } from "@pawl/core/fault/engine-error";
import { explainNode } from "@pawl/core/explain/explain";
import type { UnstoredResult, WaitingRoom } from "@pawl/core/explain/room";
import { slotsOfExecution, slotsOfRun } from "@pawl/core/explain/slot-wait";
import type { NodeId, RunId } from "@pawl/core/name/ids";
import { graphNodeAt } from "@pawl/core/plan/place";
import { jobPriority } from "@pawl/core/policy/priority";
import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import type { RoomQuestion } from "@pawl/platform/store/survey/survey";
import { toWireExplanation } from "@pawl/platform/wire/explain";
import {
  type ExplainNodeResponse,
  ExplainNodeResponseSchema,
} from "@pawl/proto/pawl/v1/run_service_pb";
import type { FoldedRun } from "./run-reader.ts";

export interface ExplainerDeps {
  /** @throws RUN_NOT_FOUND, STORE_UNAVAILABLE */
  readonly foldRun: (runId: RunId) => Promise<FoldedRun>;
  readonly readRoom: (runId: RunId, question: RoomQuestion) => Promise<WaitingRoom>;
  /** Results of the run that schedulers could not store yet; none where no scheduler answers. */
  readonly unstoredResults: (runId: RunId) => Promise<readonly UnstoredResult[]>;
}

export interface NodeQuestion {
  readonly runId: RunId;
  readonly nodeId: NodeId;
  readonly iteration: number;
}

/** Answers ExplainNode. @throws RUN_NOT_FOUND, NODE_NOT_FOUND, STORE_UNAVAILABLE */
export async function explain(
  deps: ExplainerDeps,
  { runId, nodeId, iteration }: NodeQuestion,
): Promise<ExplainNodeResponse> {
  const { record, state, proofs } = await deps.foldRun(runId);
  const nodeIndex = state.graph.indexOf.get(nodeId);
  const execution = nodeIndex === undefined ? undefined : executionAt(state, nodeIndex, iteration);
  if (nodeIndex === undefined || execution === undefined)
    throw nodeNotFound({ runId, nodeId, iteration });
  const queued = proofs.newest(nodeId, iteration, "node.queued");
  const place =
    execution.status === "queued" && queued !== undefined
      ? {
          nodeType: executionDefinition(state.graph, nodeIndex, iteration).type,
          priority: jobPriority(record.priority, graphNodeAt(state, nodeIndex).definition.priority),
          queuedAt: queued.at,
        }
      : undefined;
  const owner = { tenantId: DEFAULT_TENANT, workflowId: record.workflowId, runId };
  const slots = [
    ...slotsOfRun(state, owner),
    ...slotsOfExecution(state, owner, nodeIndex, iteration),
  ];
  const [room, unstored] = await Promise.all([
    deps.readRoom(runId, { place, slots }),
    execution.status === "running" ? deps.unstoredResults(runId) : [],
  ]);
  const workflowId = record.workflowId ?? undefined;
  const explanation = explainNode({
    state,
    proofs,
    room: { ...room, unstored },
    nodeIndex,
    iteration,
    workflowId,
  });
  return create(ExplainNodeResponseSchema, { explanation: toWireExplanation(explanation) });
}

const nodeNotFound = ({ runId, nodeId, iteration }: NodeQuestion): EngineError =>
  new EngineError(
    "NODE_NOT_FOUND",
    iteration === 0
      ? `The run has no node ${nodeId}.`
      : `The run has no execution ${iteration} of a node ${nodeId}.`,
    { metadata: { run_id: runId, node_id: nodeId, iteration: String(iteration) } },
  );
