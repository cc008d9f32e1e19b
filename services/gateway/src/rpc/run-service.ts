// RunService at the gateway: reads folded from the log, commands checked and forwarded.

import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { LIMITS } from "@pawl/core/data/limits";
import { invalidField } from "@pawl/core/fault/engine-error";
import type { RunKind } from "@pawl/core/log/event";
import { nodeId } from "@pawl/core/name/ids";
import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import type { Pool } from "@pawl/platform/db/pool";
import { listEffects } from "@pawl/platform/store/effects/reads";
import { getRunFilter, listRunFilters } from "@pawl/platform/store/filters/reads";
import { listRuns } from "@pawl/platform/store/runs/reads";
import { findValue } from "@pawl/platform/store/values/reads";
import { readPart } from "@pawl/platform/values/value-store";
import type { RunFilter } from "@pawl/platform/store/runs/runs";
import { parseTopUp } from "@pawl/platform/wire/budget";
import { parseCancel } from "@pawl/platform/wire/cancel";
import { toWireEffect } from "@pawl/platform/wire/effect";
import {
  cursorOf,
  durationMsOf,
  lineOf,
  nameOf,
  optionalName,
  runIdOf,
  valuesOf,
} from "@pawl/platform/wire/fields";
import {
  parseDecision,
  parsePauseRun,
  parseRunCommand,
  parseTest,
} from "@pawl/platform/wire/requests";
import { parseRepair, parseRetry } from "@pawl/platform/wire/repair";
import { toJsonBytes } from "@pawl/platform/wire/scalar";
import { parseSaveFilter, toWireRunFilter, wholeFilter } from "@pawl/platform/wire/filter";
import { parseMetadata } from "@pawl/platform/wire/metadata";
import { parseSignal } from "@pawl/platform/wire/signal";
import { toWireRun } from "@pawl/platform/wire/run";
import { fromWireRunKind, fromWireRunStatus, fromWireStop } from "@pawl/platform/wire/enum";
import { RunKind as WireRunKind } from "@pawl/proto/pawl/v1/run_pb";
import {
  type ExplainNodeRequest,
  type GetInvocationRequest,
  GetValueResponseSchema,
  ListEffectsResponseSchema,
  ListRunFiltersResponseSchema,
  type ListRunsRequest,
  ListRunsResponseSchema,
  type RunService,
  type SignalRunRequest,
  type WaitRunRequest,
  type WaitRunResponse,
  WaitRunResponseSchema,
} from "@pawl/proto/pawl/v1/run_service_pb";
import { explain, type NodeQuestion } from "../read/explainer.ts";
import { readInvocation } from "../read/invocation.ts";
import { explainTaint } from "../read/taint-tracer.ts";
import { type CallLimits, forwarded, sendAsJson } from "../request/forward.ts";
import { waitForEnd } from "../watch/end-only.ts";
import { executeRun, startRun } from "./execute-run.ts";
import type { ServiceParts } from "./service-parts.ts";
import { submitRuns } from "./submit-runs.ts";

const SHA256 = /^[0-9a-f]{64}$/;
/** The longest wait. Proxies end a call that is silent for half a minute. */
const WAIT_MS_MAX = 20_000;
/** The part of the caller's deadline that the gateway keeps for the answer itself. */
const ANSWER_MS = 250;

export const createRunService = (parts: ServiceParts): ServiceImpl<typeof RunService> => {
  const { pool, pages, reader, scheduler, blobs } = parts;
  const { runs } = scheduler;
  return {
    startRun: (request, context) => startRun(scheduler, request, context),
    executeRun: (request, context) => executeRun(parts, request, context),
    submitRuns: (requests, context) => submitRuns(parts, requests, context),
    testRun: forwarded(runs.testRun, (request) => sendAsJson(request, parseTest(request).input)),
    getRun: ({ runId, atEventId }) => {
      const atSeq = cursorOf("at_event_id", atEventId);
      return reader.getRun(runIdOf(runId), atSeq === 0 ? undefined : atSeq);
    },
    waitRun: (request, context) => waitedRun(parts, request, context),
    listRuns: async (request) => {
      const filter = { ...filterOf(request), condition: await conditionOf(pool, request) };
      const page = await pages.page(request, (asked) =>
        listRuns(pool, DEFAULT_TENANT, filter, asked),
      );
      const { nextPageToken } = page;
      return create(ListRunsResponseSchema, { runs: page.rows.map(toWireRun), nextPageToken });
    },
    listRunFilters: async (request) => {
      const { rows, nextPageToken } = await pages.page(request, (asked) =>
        listRunFilters(pool, DEFAULT_TENANT, asked),
      );
      return create(ListRunFiltersResponseSchema, {
        runFilters: rows.map(toWireRunFilter),
        nextPageToken,
      });
    },
    updateRunMetadata: forwarded(runs.updateRunMetadata, parseMetadata),
    saveRunFilter: forwarded(runs.saveRunFilter, parseSaveFilter),
    deleteRunFilter: forwarded(runs.deleteRunFilter, ({ name }) => nameOf("name", name)),
    listEffects: async (request) => {
      const runId = runIdOf(request.runId);
      optionalName("node_id", request.nodeId);
      await reader.findRun(runId);
      const { rows, nextPageToken } = await pages.page(request, (page) =>
        listEffects(pool, runId, request.nodeId, page),
      );
      const wire = rows.map((effect) => toWireEffect(runId, effect));
      return create(ListEffectsResponseSchema, { effects: wire, nextPageToken });
    },
    explainTaint: (request) => explainTaint(reader, request),
    explainNode: (request) => explain(parts, nodeQuestion(request)),
    getInvocation: (request) => readInvocation(parts, nodeQuestion(request)),
    getValue: async ({ runId, sha256, part }) => {
      if (!SHA256.test(sha256))
        throw invalidField("sha256", "MALFORMED", "is not 64 lower-case hexadecimal digits");
      const asked = { runId: runIdOf(runId), sha256, part };
      const { data, bytes } = await readPart((ref) => findValue(pool, ref), blobs, asked);
      return create(GetValueResponseSchema, { data, totalBytes: BigInt(bytes) });
    },
    cancelRun: forwarded(runs.cancelRun, parseCancel),
    decideNode: forwarded(runs.decideNode, parseDecision),
    recheckRun: forwarded(runs.recheckRun, parseRunCommand),
    pauseRun: forwarded(runs.pauseRun, parsePauseRun),
    resumeRun: forwarded(runs.resumeRun, parsePauseRun),
    repairRun: forwarded(runs.repairRun, parseRepair),
    retryRun: forwarded(runs.retryRun, parseRetry),
    signalRun: forwarded(runs.signalRun, sendSignal),
    topUpRun: forwarded(runs.topUpRun, parseTopUp),
    deleteRun: forwarded(runs.deleteRun, parseRunCommand),
  };
};

/** The run after its end, or when the time is up. @throws INPUT_INVALID, RUN_NOT_FOUND, DRAINING, STORE_UNAVAILABLE */
async function waitedRun(
  { watch, reader }: ServiceParts,
  request: WaitRunRequest,
  { signal, timeoutMs }: CallLimits,
): Promise<WaitRunResponse> {
  const runId = runIdOf(request.runId);
  const askedMs = durationMsOf("timeout", request.timeout, WAIT_MS_MAX) ?? WAIT_MS_MAX;
  const leftMs = Math.floor((timeoutMs() ?? Infinity) - ANSWER_MS);
  await waitForEnd(watch, runId, { signal, timeoutMs: Math.max(1, Math.min(askedMs, leftMs)) });
  const { run } = await reader.getRun(runId);
  if (run !== undefined) delete run.state;
  const hasEnded = run?.endTime !== undefined;
  const result = request.withResult ? { result: await reader.resultOf(runId) } : {};
  return create(WaitRunResponseSchema, { ...(run && { run }), hasEnded, ...result });
}

/** Parses a signal. The gateway sends a payload that came as a Value as JSON. @throws INPUT_INVALID, LIMIT_EXCEEDED */
function sendSignal(request: SignalRunRequest): void {
  request.payloadJson = toJsonBytes(parseSignal(request).payloadJson);
  delete request.payload;
}

/** @throws INPUT_INVALID */
const nodeQuestion = (request: ExplainNodeRequest | GetInvocationRequest): NodeQuestion => ({
  runId: runIdOf(request.runId),
  nodeId: nodeId(nameOf("node_id", request.nodeId)),
  iteration: request.iteration,
});

function filterOf(request: ListRunsRequest): RunFilter {
  optionalName("workflow_id", request.workflowId);
  optionalName("schedule_id", request.scheduleId);
  optionalName("thread_id", request.threadId);
  optionalName("assistant_id", request.assistantId);
  return {
    statuses: valuesOf("statuses", "a status", request.statuses, fromWireRunStatus),
    workflowId: request.workflowId,
    kind: kindOf(request.kind),
    scheduleId: request.scheduleId,
    threadId: request.threadId,
    assistantId: request.assistantId,
    stops: valuesOf("stops", "a way to stop", request.stops, fromWireStop),
    search: lineOf("query", request.query, LIMITS.searchLength).trim(),
  };
}

/** The caller's filter and the kept one, as one. @throws INPUT_INVALID, FILTER_INVALID, RUN_FILTER_NOT_FOUND, STORE_UNAVAILABLE */
async function conditionOf(pool: Pool, request: ListRunsRequest) {
  const condition = await wholeFilter(request, (name) =>
    getRunFilter(pool, { tenantId: DEFAULT_TENANT, name }),
  );
  if (condition !== undefined && request.query !== "")
    throw invalidField("query", "AMBIGUOUS", "does not go with a filter; send one of them");
  return condition;
}

function kindOf(kind: number): RunKind | undefined {
  const known = fromWireRunKind(kind);
  if (known === undefined && kind !== WireRunKind.UNSPECIFIED)
    throw invalidField("kind", "UNKNOWN_ENUM", "is not a kind of run");
  return known;
}
