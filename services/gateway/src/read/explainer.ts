// Explains the state of a node. The gateway reads the log, the queue, the leases and the executors, and asks schedulers for results that
// they could not store. Core makes the explanation. The gateway only reads, and may be a moment behind. No decision depends on it.

import { create } from "@bufbuild/protobuf";
import { explainNode } from "@pawl/core/explain/explain";
import { isForScheduler } from "@pawl/core/explain/queued";
import { awaitsThread } from "@pawl/core/explain/thread-wait";
import { slotsOfExecution, slotsOfRun } from "@pawl/core/explain/slot-wait";
import { EngineError } from "@pawl/core/fault/engine-error";
import { executionAt, executionDefinition, presentIteration } from "@pawl/core/log/execution";
import type { NodeId, RunId } from "@pawl/core/name/ids";
import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import { graphNodeAt } from "@pawl/core/plan/place";
import { jobPriority } from "@pawl/core/policy/priority";
import type { PriceOf } from "@pawl/core/policy/price";
import type { Pool } from "@pawl/platform/db/pool";
import { readWaitingRoom } from "@pawl/platform/store/survey/reads";
import { toWireExplanation } from "@pawl/platform/wire/explain";
import {
  type ExplainNodeResponse,
  ExplainNodeResponseSchema,
} from "@pawl/proto/pawl/v1/run_service_pb";
import type { Scheduler } from "../request/forward.ts";
import type { RunReader } from "./run-reader.ts";

interface Explainer {
  readonly pool: Pool;
  readonly reader: RunReader;
  readonly scheduler: Scheduler;
  readonly priceOf: PriceOf;
}

export interface NodeQuestion {
  readonly runId: RunId;
  readonly nodeId: NodeId;
  readonly iteration: number;
}

/** Answers ExplainNode. @throws RUN_NOT_FOUND, NODE_NOT_FOUND, STORE_UNAVAILABLE */
export async function explain(
  { pool, reader, scheduler, priceOf }: Explainer,
  { runId, nodeId, iteration: asked }: NodeQuestion,
): Promise<ExplainNodeResponse> {
  const { record, state, proofs } = await reader.foldRun(runId);
  const nodeIndex = state.graph.indexOf.get(nodeId);
  const iteration = presentIteration(state, nodeIndex ?? -1, asked);
  const execution = nodeIndex === undefined ? undefined : executionAt(state, nodeIndex, iteration);
  if (nodeIndex === undefined || execution === undefined)
    throw nodeNotFound({ runId, nodeId, iteration });
  const queued = proofs.newest(nodeId, iteration, "node.queued");
  const place =
    execution.status === "queued" && queued !== undefined
      ? {
          nodeType: executionDefinition(state, nodeIndex, iteration).type,
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
    readWaitingRoom(pool, runId, {
      ...{ place, slots, awaitsThread: awaitsThread(state) },
      isForScheduler: place !== undefined && isForScheduler(state, nodeIndex, iteration),
    }),
    execution.status === "running" ? scheduler.standings.unstoredResults(runId) : [],
  ]);
  const workflowId = record.workflowId ?? undefined;
  const known = { state, proofs, priceOf, room: { ...room, unstored } };
  const explanation = explainNode({ ...known, nodeIndex, iteration, workflowId });
  return create(ExplainNodeResponseSchema, { explanation: toWireExplanation(explanation) });
}

export const nodeNotFound = ({ runId, nodeId, iteration }: NodeQuestion): EngineError =>
  new EngineError(
    "NODE_NOT_FOUND",
    iteration === 0
      ? `The run has no node ${nodeId}.`
      : `The run has no execution ${iteration} of a node ${nodeId}.`,
    { metadata: { run_id: runId, node_id: nodeId, iteration: String(iteration) } },
  );
