// Accepts a run: of a saved workflow, or of a graph that is not saved. The answer comes after the commit; whatever is ready
// to start has been placed by then.

import { definitionError } from "@pawl/core/definition/error";
import { type Graph } from "@pawl/core/definition/graph";
import { parseDefinition } from "@pawl/core/definition/parse";
import { EngineError } from "@pawl/core/fault/engine-error";
import type { RunKind } from "@pawl/core/log/event";
import { definitionId, type DefinitionId, type RunId } from "@pawl/core/name/ids";
import { probe } from "@pawl/platform/lifecycle/probe";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import { currentTraceparent } from "@pawl/platform/telemetry/trace";
import type { StartRunRequest, TestRunRequest } from "@pawl/proto/pawl/v1/run_service_pb";
import { RUN_PLACE } from "@pawl/core/plan/place";
import type { Started } from "../tick/input.ts";
import { requestReused } from "../tick/duplicates.ts";
import { sha256 } from "./digest.ts";
import type { AdmitParts } from "./parts.ts";
import { deadlineMsOf, inputOf, priorityOf, requestIdOf, workflowIdOf } from "./request.ts";
import { newRunId, uuidV7 } from "./run-id.ts";

export interface Accepted {
  readonly runId: RunId;
  readonly duplicate: boolean;
  readonly lastSeq: number;
  readonly priority: number;
  readonly workflowVersion: number;
  readonly deadlineAt: number;
  readonly createdAt: number;
  readonly traceparent: string | null;
}

/** @throws WORKFLOW_NOT_FOUND, INPUT_INVALID, LIMIT_EXCEEDED, REQUEST_ID_REUSED, STORE_UNAVAILABLE */
export async function startRun(
  parts: AdmitParts,
  tenantId: string,
  request: StartRunRequest,
): Promise<Accepted> {
  const workflowId = workflowIdOf(request.workflowId);
  const input = inputOf(request.inputJson);
  const priority = priorityOf(request.priority);
  const requestId = requestIdOf(request.requestId);
  const row = await parts.workflows.find(tenantId, workflowId, request.version);
  if (row === undefined) throw workflowNotFound(workflowId, request.version);
  const graph = await parts.definitions.graph(row.definitionId);
  const deadlineMs = deadlineMsOf(request.deadline, graph.definition.deadlineMs);
  const requested = [
    workflowId,
    String(request.version),
    input,
    String(priority),
    String(deadlineMs),
  ];
  return await accept(parts, {
    tenantId,
    workflowId,
    input,
    priority,
    requestId,
    deadlineMs,
    graph,
    requestHash: sha256("start", ...requested),
    workflowVersion: row.version,
    definitionId: row.definitionId,
    digest: row.digest,
    kind: "saved",
  });
}

/** @throws DEFINITION_INVALID, CYCLE_DETECTED and whatever startRun throws */
export async function testRun(
  parts: AdmitParts,
  tenantId: string,
  request: TestRunRequest,
): Promise<Accepted> {
  const input = inputOf(request.inputJson);
  const requestId = requestIdOf(request.requestId);
  const parsed = parseDefinition(request.definition?.text ?? "");
  if (!parsed.ok) throw definitionError(parsed.violations);
  const { graph, canonicalJson } = parsed;
  const id = definitionId(uuidV7(parts.now()));
  const digest = sha256(canonicalJson);
  const requestHash = sha256("test", digest, input);
  // A repeat must not leave a graph behind that no run has. Two at the same moment are told apart by the tick, as all are.
  const repeat = await findRepeat(parts, tenantId, requestId, requestHash);
  if (repeat !== undefined) return repeat;
  await parts.ensureQueues(nodeTypesOf(graph));
  await parts.workflows.saveTestGraph({
    definitionId: id,
    tenantId,
    digest,
    title: graph.definition.title,
    nodeCount: graph.nodes.length,
    body: canonicalJson,
    requestId: null,
    requestHash: null,
  });
  parts.definitions.keep(id, graph);
  return await accept(parts, {
    tenantId,
    input,
    requestId,
    graph,
    digest,
    requestHash: sha256("test", digest, input),
    workflowId: null,
    workflowVersion: 0,
    priority: 0,
    deadlineMs: graph.definition.deadlineMs,
    definitionId: id,
    kind: "test",
  });
}

/** The run that this request started before. @throws REQUEST_ID_REUSED */
async function findRepeat(
  parts: AdmitParts,
  tenantId: string,
  requestId: string | null,
  requestHash: string,
): Promise<Accepted | undefined> {
  if (requestId === null) return undefined;
  const [used] = await parts.journal.findRequest(tenantId, [requestId]);
  if (used === undefined) return undefined;
  if (used.requestHash !== requestHash) throw requestReused(requestId, used.runId);
  // What is known of the run is read where it is answered.
  const unread = { lastSeq: 0, workflowVersion: 0, priority: 0, deadlineAt: 0, createdAt: 0 };
  return { runId: used.runId, duplicate: true, traceparent: null, ...unread };
}

interface Acceptance {
  readonly tenantId: string;
  readonly workflowId: string | null;
  readonly workflowVersion: number;
  readonly definitionId: DefinitionId;
  readonly digest: string;
  readonly graph: Graph;
  readonly input: string;
  readonly kind: RunKind;
  readonly priority: number;
  readonly requestId: string | null;
  readonly requestHash: string;
  readonly deadlineMs: number;
}

async function accept(parts: AdmitParts, run: Acceptance): Promise<Accepted> {
  const createdAt = parts.now();
  const deadlineAt = createdAt + run.deadlineMs;
  const traceparent = currentTraceparent() || null;
  const { promise, resolve, reject } = Promise.withResolvers<Started>();
  const { workflowVersion, kind } = run;
  probe("S1");
  parts.loop.offer({
    kind: "start",
    runId: newRunId(createdAt),
    tenantId: run.tenantId,
    definitionId: run.definitionId,
    workflowId: run.workflowId,
    workflowVersion,
    runKind: kind,
    priority: run.priority,
    requestId: run.requestId,
    requestHash: run.requestId === null ? null : run.requestHash,
    traceparent,
    deadlineAt,
    started: {
      ...RUN_PLACE,
      type: "run.started",
      payload: { definitionDigest: run.digest, workflowVersion, kind, deadlineAt },
      value: run.input,
    },
    answer: { resolve, reject },
  });
  const { runId, duplicate, lastSeq } = await promise;
  probe("S2");
  if (!duplicate) METRICS.runsStarted.add(1, { kind });
  const { priority } = run;
  return {
    runId,
    duplicate,
    lastSeq,
    priority,
    workflowVersion,
    deadlineAt,
    createdAt,
    traceparent,
  };
}

/** The node types of a graph, each once. */
export const nodeTypesOf = (graph: Graph): string[] => [
  ...new Set(graph.nodes.map((node) => node.definition.type)),
];

export const workflowNotFound = (workflowId: string, version: number): EngineError =>
  new EngineError(
    "WORKFLOW_NOT_FOUND",
    version === 0
      ? `There is no workflow ${workflowId}.`
      : `Workflow ${workflowId} has no version ${version}.`,
    { metadata: { workflow_id: workflowId, version: String(version) } },
  );
