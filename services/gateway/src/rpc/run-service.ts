// RunService at the edge: reads folded from the log, commands checked and forwarded.

import { create } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { LIMITS } from "@pawl/core/data/limits";
import { invalidField } from "@pawl/core/fault/engine-error";
import type { RunKind, RunStatus } from "@pawl/core/log/event";
import { nodeId, type RunId } from "@pawl/core/name/ids";
import type { EffectPage } from "@pawl/platform/store/effects/effects";
import type { RunFilter, RunPage } from "@pawl/platform/store/runs/runs";
import { toWireEffect } from "@pawl/platform/wire/effect";
import { toWireRun } from "@pawl/platform/wire/run";
import { fromWireRunKind, fromWireRunStatus } from "@pawl/platform/wire/status";
import { RunKind as WireRunKind } from "@pawl/proto/pawl/v1/run_pb";
import {
  type ExplainNodeResponse,
  type GetRunResponse,
  type ListEffectsRequest,
  type ListEffectsResponse,
  ListEffectsResponseSchema,
  type ListRunsRequest,
  ListRunsResponseSchema,
  type PauseRunRequest,
  type ResumeRunRequest,
  type RunService,
  type WaitRunRequest,
  type WaitRunResponse,
  WaitRunResponseSchema,
} from "@pawl/proto/pawl/v1/run_service_pb";
import type { NodeQuestion } from "../read/explainer.ts";
import { waitForEnd } from "../watch/wait-for-end.ts";
import { executeRun, type ExecuteRunDeps } from "./execute-run.ts";
import { forwardOptions, type Scheduler } from "../request/forward.ts";
import {
  checkDefinitionText,
  checkDuration,
  checkInput,
  checkLine,
  checkName,
  checkPageSize,
  checkRequestId,
  checkPauseRequest,
  checkRunId,
} from "../request/ingress.ts";
import { startRun } from "./start-run.ts";

export interface RunServiceDeps extends ExecuteRunDeps {
  readonly scheduler: Scheduler;
  /** @throws RUN_NOT_FOUND, STORE_UNAVAILABLE */
  readonly getRun: (runId: RunId) => Promise<GetRunResponse>;
  /** @throws RUN_NOT_FOUND, NODE_NOT_FOUND, STORE_UNAVAILABLE */
  readonly explain: (question: NodeQuestion) => Promise<ExplainNodeResponse>;
  /** @throws RUN_NOT_FOUND, STORE_UNAVAILABLE */
  readonly findRun: (runId: RunId) => Promise<unknown>;
  readonly listEffects: (
    runId: RunId,
    nodeId: string,
    page: { size: number; token: string },
  ) => Promise<EffectPage>;
  readonly listRuns: (filter: RunFilter, page: { size: number; token: string }) => Promise<RunPage>;
}

const PAGE = { default: LIMITS.pageSize, max: LIMITS.pageSizeMax } as const;
/** Proxies lose patience with a silent answer after half a minute. */
const WAIT_MS_MAX = 20_000;
/** A caller with less time than that still gets its answer in time. */
const ANSWER_MS = 250;
/** How much of a reason people read. */
const REASON_LENGTH = 200;

export const createRunService = (deps: RunServiceDeps): ServiceImpl<typeof RunService> => ({
  startRun: (request, context) => startRun(deps.scheduler, request, context),
  executeRun: (request, context) => executeRun(deps, request, context),
  testRun: (request, context) => {
    checkDefinitionText(request.definition?.text);
    request.inputJson = checkInput(request.inputJson, request.input);
    delete request.input;
    request.requestId = checkRequestId(request.requestId);
    return deps.scheduler.runs.testRun(request, forwardOptions(context));
  },
  getRun: ({ runId }) => deps.getRun(checkRunId(runId)),
  waitRun: (request, context) => waitedRun(deps, request, context),
  listRuns: async (request) => {
    const size = checkPageSize(request.pageSize, PAGE);
    const page = await deps.listRuns(filterOf(request), { size, token: request.pageToken });
    return create(ListRunsResponseSchema, {
      runs: page.runs.map(toWireRun),
      nextPageToken: page.nextPageToken,
    });
  },
  listEffects: (request) => pageOfEffects(deps, request),
  explainNode: (request) => {
    checkName("node_id", request.nodeId);
    return deps.explain({
      runId: checkRunId(request.runId),
      nodeId: nodeId(request.nodeId),
      iteration: request.iteration,
    });
  },
  cancelRun: (request, context) => {
    request.runId = checkRunId(request.runId);
    checkLine("reason", request.reason, REASON_LENGTH);
    request.requestId = checkRequestId(request.requestId);
    return deps.scheduler.runs.cancelRun(request, forwardOptions(context));
  },
  decideNode: (request, context) => {
    request.runId = checkRunId(request.runId);
    checkName("node_id", request.nodeId);
    checkLine("comment", request.comment, REASON_LENGTH);
    request.requestId = checkRequestId(request.requestId);
    return deps.scheduler.runs.decideNode(request, forwardOptions(context));
  },
  recheckRun: (request, context) => {
    request.runId = checkRunId(request.runId);
    request.requestId = checkRequestId(request.requestId);
    return deps.scheduler.runs.recheckRun(request, forwardOptions(context));
  },
  pauseRun: (request, context) =>
    deps.scheduler.runs.pauseRun(checkPause(request), forwardOptions(context)),
  resumeRun: (request, context) =>
    deps.scheduler.runs.resumeRun(checkPause(request), forwardOptions(context)),
  deleteRun: (request, context) => {
    request.runId = checkRunId(request.runId);
    request.requestId = checkRequestId(request.requestId);
    return deps.scheduler.runs.deleteRun(request, forwardOptions(context));
  },
});

/** The run when it has ended, or when the time is up. @throws INPUT_INVALID, RUN_NOT_FOUND, DRAINING, STORE_UNAVAILABLE */
async function waitedRun(
  { watch, getRun }: Pick<RunServiceDeps, "watch" | "getRun">,
  request: WaitRunRequest,
  { signal, timeoutMs }: Pick<HandlerContext, "signal" | "timeoutMs">,
): Promise<WaitRunResponse> {
  const runId = checkRunId(request.runId);
  const askedMs = checkDuration("timeout", request.timeout, WAIT_MS_MAX) ?? WAIT_MS_MAX;
  const leftMs = Math.floor((timeoutMs() ?? Infinity) - ANSWER_MS);
  await waitForEnd(watch, runId, { signal, timeoutMs: Math.max(1, Math.min(askedMs, leftMs)) });
  const { run } = await getRun(runId);
  return create(WaitRunResponseSchema, {
    ...(run && { run }),
    hasEnded: run?.endTime !== undefined,
  });
}

/** @throws INPUT_INVALID, RUN_NOT_FOUND, STORE_UNAVAILABLE */
async function pageOfEffects(
  deps: Pick<RunServiceDeps, "findRun" | "listEffects">,
  request: ListEffectsRequest,
): Promise<ListEffectsResponse> {
  const runId = checkRunId(request.runId);
  if (request.nodeId !== "") checkName("node_id", request.nodeId);
  const size = checkPageSize(request.pageSize, PAGE);
  await deps.findRun(runId);
  const page = await deps.listEffects(runId, request.nodeId, { size, token: request.pageToken });
  return create(ListEffectsResponseSchema, {
    effects: page.effects.map((effect) => toWireEffect(runId, effect)),
    nextPageToken: page.nextPageToken,
  });
}

/** What both say: which run, who and why. */
function checkPause<T extends PauseRunRequest | ResumeRunRequest>(request: T): T {
  request.runId = checkRunId(request.runId);
  return checkPauseRequest(request);
}

function filterOf(request: ListRunsRequest): RunFilter {
  if (request.workflowId !== "") checkName("workflow_id", request.workflowId);
  if (request.scheduleId !== "") checkName("schedule_id", request.scheduleId);
  return {
    statuses: request.statuses.map(statusOf),
    workflowId: request.workflowId,
    kind: kindOf(request.kind),
    scheduleId: request.scheduleId,
    search: checkLine("query", request.query, LIMITS.searchLength).trim(),
  };
}

function statusOf(status: number, index: number): RunStatus {
  const known = fromWireRunStatus(status);
  if (known === undefined)
    throw invalidField(`statuses[${index}]`, "UNKNOWN_ENUM", "is not a status");
  return known;
}

function kindOf(kind: number): RunKind | undefined {
  const known = fromWireRunKind(kind);
  if (known === undefined && kind !== WireRunKind.UNSPECIFIED) {
    throw invalidField("kind", "UNKNOWN_ENUM", "is not a kind of run");
  }
  return known;
}
