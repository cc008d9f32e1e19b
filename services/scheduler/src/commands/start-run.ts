// Accepts a run: of a saved workflow, or of a graph that is not saved. The answer comes after the commit; whatever is ready
// to start has been placed by then.

import { definitionError } from "@pawl/core/definition/error";
import { type Graph } from "@pawl/core/definition/graph";
import { parseDefinition } from "@pawl/core/definition/parse";
import type { Violation } from "@pawl/core/definition/shape";
import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import type { RunKind, ScheduleLink } from "@pawl/core/log/event";
import { definitionId, type DefinitionId, type RunId } from "@pawl/core/name/ids";
import { probe } from "@pawl/platform/lifecycle/probe";
import type { TestGraph } from "@pawl/platform/store/runs/runs";
import { WorkflowMoved } from "@pawl/platform/store/tick/journal";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import { currentTraceparent } from "@pawl/platform/telemetry/trace";
import type { StartRunRequest, TestRunRequest } from "@pawl/proto/pawl/v1/run_service_pb";
import { runLimits } from "@pawl/core/plan/limits";
import type { Limits } from "@pawl/core/policy/limit";
import { RUN_PLACE } from "@pawl/core/plan/place";
import { requestIdOf } from "@pawl/platform/wire/request-id";
import type { Started, StartInput } from "../inputs/input.ts";
import { sha256 } from "./digest.ts";
import { inputKeyOf } from "./input-key.ts";
import type { AdmitParts } from "./parts.ts";
import { deadlineMsOf, inputOf, priorityOf, workflowIdOf } from "./request.ts";
import { defaultViolations } from "./response-schema.ts";
import { newRunId, uuidV7 } from "../run-id.ts";

export interface Accepted {
  readonly runId: RunId;
  readonly duplicate: boolean;
  readonly lastSeq: number;
  readonly priority: number;
  readonly workflowVersion: number;
  readonly deadlineAt: number;
  readonly createdAt: number;
  readonly traceparent: string | null;
  /** It waits for a slot of its workflow before it begins. */
  readonly isPending: boolean;
  /** Its workflow is paused, and it with it. */
  readonly isPaused: boolean;
}

/** What a schedule starts a run as. */
export interface Occurrence {
  readonly schedule: ScheduleLink;
  /** Names the occurrence, so that it starts one run whoever says it how often. */
  readonly requestId: string;
}

/** @throws WORKFLOW_NOT_FOUND, INPUT_INVALID, LIMIT_EXCEEDED, REQUEST_ID_REUSED, STORE_UNAVAILABLE */
export async function startRun(
  parts: AdmitParts,
  tenantId: string,
  request: StartRunRequest,
  occurrence?: Occurrence,
): Promise<Accepted> {
  const workflowId = workflowIdOf(request.workflowId);
  const input = inputOf(request.inputJson);
  const priority = priorityOf(request.priority);
  const requestId = occurrence?.requestId ?? requestIdOf(request.requestId);
  const { version } = request;
  const inputKey = inputKeyOf(request.idempotency, workflowId, input);
  const own = {
    ...(inputKey === undefined ? {} : { inputKey }),
    ...(occurrence === undefined ? {} : { schedule: occurrence.schedule }),
  };
  const run = { tenantId, workflowId, input, priority, requestId, ...own };
  const remembered = version === 0 ? parts.newest.get(tenantId, workflowId) : undefined;
  if (remembered !== undefined) {
    try {
      return await startVersion(parts, request, { ...run, ...remembered, assumesNewest: true });
    } catch (error) {
      if (!(error instanceof WorkflowMoved)) throw error;
      parts.newest.forget(tenantId, workflowId);
    }
  }
  const row = await parts.workflows.find(tenantId, workflowId, version);
  if (row === undefined) throw workflowNotFound(workflowId, version);
  if (version === 0) parts.newest.keep(tenantId, workflowId, row);
  const found = {
    definitionId: row.definitionId,
    workflowVersion: row.version,
    digest: row.digest,
  };
  return await startVersion(parts, request, { ...run, ...found, assumesNewest: false });
}

type Chosen = Omit<Acceptance, "graph" | "deadlineMs" | "requestHash" | "kind" | "workflowId"> & {
  readonly workflowId: string;
};

async function startVersion(
  parts: AdmitParts,
  request: StartRunRequest,
  chosen: Chosen,
): Promise<Accepted> {
  const { workflowId, input, priority } = chosen;
  const graph = await parts.definitions.graph(chosen.definitionId);
  const deadlineMs = deadlineMsOf(request.deadline, graph.definition.deadlineMs);
  const requested = [
    workflowId,
    String(request.version),
    input,
    String(priority),
    String(deadlineMs),
  ];
  // An occurrence is known by its name alone: whatever was edited since it first started a run, it started that one.
  const requestHash =
    chosen.schedule === undefined ? sha256("start", ...requested) : sha256("schedule");
  return await accept(parts, { ...chosen, deadlineMs, graph, requestHash, kind: "saved" });
}

/** `served` are the types that executors serve now. @throws DEFINITION_INVALID, CYCLE_DETECTED and whatever startRun throws */
export async function testRun(
  parts: AdmitParts,
  tenantId: string,
  request: TestRunRequest,
  served?: ReadonlySet<string>,
): Promise<Accepted & { readonly warnings: readonly Violation[] }> {
  const input = inputOf(request.inputJson);
  const requestId = requestIdOf(request.requestId);
  const parsed = parseDefinition(request.definition?.text ?? "", { served });
  if (!parsed.ok) throw definitionError(parsed.violations);
  const misfits = defaultViolations(parsed.graph);
  if (misfits.length > 0) throw definitionError(misfits);
  const { graph, canonicalJson, warnings } = parsed;
  const id = definitionId(uuidV7(parts.now()));
  const digest = sha256(canonicalJson);
  await parts.ensureQueues(nodeTypesOf(graph));
  parts.definitions.keep(id, graph, canonicalJson);
  const row = {
    definitionId: id,
    tenantId,
    digest,
    title: graph.definition.title,
    nodeCount: graph.nodes.length,
    body: canonicalJson,
  };
  const accepted = await accept(parts, {
    tenantId,
    input,
    requestId,
    graph,
    digest,
    requestHash: sha256("test", digest, input),
    workflowId: null,
    workflowVersion: 0,
    assumesNewest: false,
    priority: 0,
    deadlineMs: graph.definition.deadlineMs,
    definitionId: id,
    kind: "test",
    testGraph: row,
  });
  return { ...accepted, warnings };
}

interface Acceptance {
  readonly tenantId: string;
  readonly workflowId: string | null;
  readonly workflowVersion: number;
  readonly assumesNewest: boolean;
  readonly definitionId: DefinitionId;
  readonly digest: string;
  readonly graph: Graph;
  readonly input: string;
  readonly kind: RunKind;
  readonly priority: number;
  readonly requestId: string | null;
  readonly requestHash: string;
  readonly deadlineMs: number;
  readonly testGraph?: TestGraph;
  readonly inputKey?: NonNullable<StartInput["inputKey"]>;
  readonly schedule?: ScheduleLink;
}

async function accept(parts: AdmitParts, run: Acceptance): Promise<Accepted> {
  const limits = limitsOf(run);
  const createdAt = parts.now();
  const deadlineAt = createdAt + run.deadlineMs;
  const traceparent = currentTraceparent() || null;
  const { promise, resolve, reject } = Promise.withResolvers<Started>();
  const { workflowVersion, kind, testGraph, inputKey } = run;
  const scheduled = run.schedule === undefined ? {} : { schedule: run.schedule };
  probe("start.before-submit");
  parts.loop.submit({
    kind: "start",
    runId: newRunId(createdAt),
    tenantId: run.tenantId,
    definitionId: run.definitionId,
    workflowId: run.workflowId,
    workflowVersion,
    assumesNewest: run.assumesNewest,
    runKind: kind,
    priority: run.priority,
    requestId: run.requestId,
    requestHash: run.requestId === null ? null : run.requestHash,
    traceparent,
    deadlineAt,
    ...(testGraph === undefined ? {} : { test: { graph: run.graph, row: testGraph } }),
    ...(inputKey === undefined ? {} : { inputKey }),
    ...scheduled,
    started: {
      ...RUN_PLACE,
      type: "run.started",
      payload: {
        definitionDigest: run.digest,
        workflowVersion,
        kind,
        deadlineAt,
        ...(inputKey === undefined ? {} : { inputKey: inputKey.key }),
        ...limits,
        ...scheduled,
      },
      value: run.input,
    },
    answer: { resolve, reject },
  });
  const { runId, duplicate, lastSeq, isPaused } = await promise;
  probe("start.after-commit");
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
    isPending: limits.slot !== undefined || limits.rate !== undefined,
    isPaused,
  };
}

/** What the run waits for before it begins. @throws INPUT_INVALID when its input does not fill in a key */
function limitsOf({ graph, input }: Acceptance): Limits {
  const resolved = runLimits(graph.definition, input);
  if (resolved?.ok === false)
    throw invalidField("input_json", "LIMIT_KEY_INVALID", `${resolved.limit}: ${resolved.message}`);
  return resolved?.limits ?? {};
}

/** The node types of a graph and of what its maps and loops repeat, each once. */
export const nodeTypesOf = (graph: Graph): string[] => [
  ...new Set(
    graph.nodes.flatMap(({ definition: { type, scope } }) =>
      scope === null ? [type] : [type, scope.body.type],
    ),
  ),
];

export const workflowNotFound = (workflowId: string, version: number): EngineError =>
  new EngineError(
    "WORKFLOW_NOT_FOUND",
    version === 0
      ? `There is no workflow ${workflowId}.`
      : `Workflow ${workflowId} has no version ${version}.`,
    { metadata: { workflow_id: workflowId, version: String(version) } },
  );
