// Answers ExplainTaint: the gateway folds the log once, and core notes the way of every label. It only reads.

import { create } from "@bufbuild/protobuf";
import { type TaintStep, TaintTracer } from "@pawl/core/explain/taint";
import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import { executionAt, presentIteration } from "@pawl/core/log/execution";
import { nodeId } from "@pawl/core/name/ids";
import { nameOf, runIdOf } from "@pawl/platform/wire/fields";
import {
  type ExplainTaintRequest,
  type ExplainTaintResponse,
  ExplainTaintResponseSchema,
} from "@pawl/proto/pawl/v1/run_service_pb";
import { nodeNotFound } from "./explainer.ts";
import type { RunReader } from "./run-reader.ts";

/** @throws INPUT_INVALID, RUN_NOT_FOUND, NODE_NOT_FOUND, MEMORY_KEY_NOT_FOUND, STORE_UNAVAILABLE */
export async function explainTaint(
  reader: RunReader,
  request: ExplainTaintRequest,
): Promise<ExplainTaintResponse> {
  const runId = runIdOf(request.runId);
  const { memoryKey } = request;
  if ((memoryKey === "") === (request.nodeId === ""))
    throw invalidField("node_id", "REQUIRED", "name a node, or a key of the memory in memory_key");
  const tracer = new TaintTracer();
  const { state } = await reader.foldRun(runId, undefined, (before, event) =>
    tracer.note(before, event),
  );
  if (memoryKey !== "") {
    if (!state.memory.has(memoryKey)) throw keyNotFound(runId, memoryKey);
    return toWire(tracer.ofKey(state, memoryKey));
  }
  const id = nodeId(nameOf("node_id", request.nodeId));
  const nodeIndex = state.graph.indexOf.get(id) ?? -1;
  const iteration = presentIteration(state, nodeIndex, request.iteration);
  if (executionAt(state, nodeIndex, iteration) === undefined)
    throw nodeNotFound({ runId, nodeId: id, iteration });
  return toWire(tracer.ofNode(state, nodeIndex, iteration));
}

function toWire({ taint, steps, isTruncated }: ReturnType<TaintTracer["ofKey"]>) {
  const trace = { labels: [...taint], steps: steps.map(toWireStep), truncated: isTruncated };
  return create(ExplainTaintResponseSchema, { trace });
}

const toWireStep = ({ seq, sources, labels, added, dropped, ...step }: TaintStep) => ({
  ...step,
  eventId: BigInt(seq),
  labels: [...labels],
  added: [...added],
  dropped: [...dropped],
  sources: sources.map(({ seq: made, labels: own, ...source }) => ({
    ...source,
    eventId: BigInt(made),
    labels: [...own],
  })),
});

const keyNotFound = (runId: string, key: string): EngineError =>
  new EngineError("MEMORY_KEY_NOT_FOUND", `No node of the run has written the key ${key}.`, {
    metadata: { run_id: runId, memory_key: key.slice(0, 128) },
  });
