// Accepts a run of a saved workflow, or of a graph that is not saved. The scheduler answers after the commit. The same tick has placed the
// first nodes.

import type { Graph } from "@pawl/core/definition/graph";
import type { KnownTypes } from "@pawl/core/definition/known-types";
import type { Violation } from "@pawl/core/definition/shape";
import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import type { ParentLink, ScheduleLink } from "@pawl/core/log/event";
import type { AcceptedStart } from "@pawl/core/log/start";
import { runLimits } from "@pawl/core/plan/limits";
import { lowerBudget } from "@pawl/core/policy/budget";
import { type AskedTime, startTime } from "@pawl/core/policy/start-time";
import { UNTRUSTED_INPUT } from "@pawl/core/policy/taint";
import { probe } from "@pawl/platform/lifecycle/probe";
import { AssistantMoved, WorkflowMoved } from "@pawl/platform/store/tick/journal";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import { currentTraceparent } from "@pawl/platform/telemetry/trace";
import type { StartRequest, TestRequest } from "@pawl/platform/wire/requests";
import { workflowNotFound } from "../inputs/errors.ts";
import type { StartAnswer, StartInput } from "../inputs/input.ts";
import { newRunId } from "../run-id.ts";
import { nodeTypesOf, readDefinition } from "./definition.ts";
import { sha256 } from "./digest.ts";
import type { Version } from "./newest.ts";
import type { AdmitParts } from "./parts.ts";
import {
  askedTexts,
  bodyOf,
  budgetText,
  hashOf,
  inputKey,
  temporaryText,
  timeTexts,
} from "./start-body.ts";
import { checkRunInput } from "../inputs/run-input.ts";
import { type ResolvedStart, resolveStart } from "./resolve-start.ts";
import { checkReceiver } from "./webhook-rules.ts";

/**
 * `schedule` is the occurrence that starts the run.
 * @throws WORKFLOW_NOT_FOUND, ASSISTANT_NOT_FOUND, THREAD_NOT_FOUND, INPUT_INVALID, REQUEST_ID_REUSED, STORE_UNAVAILABLE
 */
export async function startRun(
  parts: AdmitParts,
  tenantId: string,
  request: StartRequest,
  schedule?: ScheduleLink,
): Promise<StartAnswer> {
  const body = bodyOf(request);
  for (let round = 1; ; round++) {
    const resolved = await resolveStart(parts, tenantId, request);
    try {
      return await startResolved(parts, tenantId, resolved, { body, schedule });
    } catch (error) {
      // A user deleted the assistant, or that of another start in the same tick.
      if (!(error instanceof AssistantMoved) || round === ROUNDS_MAX) throw error;
    }
  }
}

/** How often a start reads its assistant. */
const ROUNDS_MAX = 20;

interface StartAbout {
  /** The caller's own words, for the hash of the request. */
  readonly body: readonly string[];
  readonly schedule: ScheduleLink | undefined;
}

async function startResolved(
  parts: AdmitParts,
  tenantId: string,
  request: ResolvedStart,
  { body, schedule }: StartAbout,
): Promise<StartAnswer> {
  const { workflowId, version } = request;
  const start = async (found: Version, assumesNewest: boolean): Promise<StartAnswer> => {
    const graph = await parts.definitions.graph(found.definitionId);
    const { definitionId, digest, workflowVersion } = found;
    const { priority, input, requestId, sameInputMs, assistant } = request;
    const deadlineMs = request.deadlineMs ?? graph.definition.deadlineMs;
    // The request id alone identifies an occurrence. The run that it started stays its run, also if a user edited the schedule since.
    const hash = schedule === undefined ? hashOf(body, deadlineMs) : sha256("schedule");
    const fitting = await fittingStart(parts, graph, { tenantId, input, requestId, hash });
    if (fitting !== undefined) return fitting;
    await checkReceiver(parts, tenantId, request.webhook);
    const { hasUntrustedInput = false } = request;
    const inputOf = [workflowId, ...(assistant === undefined ? [] : [assistant.assistantId])];
    return await accept(parts, {
      ...newStart(parts, graph, { input, hasUntrustedInput, deadlineMs, time: request.time }),
      asked: { ...request.asked, ...deadlineOf(request) },
      ...budgetOf(graph, request),
      tenantId,
      kind: request.isTemporary === true ? "temporary" : "saved",
      definitionId,
      definitionDigest: digest,
      workflowId,
      workflowVersion,
      assumesNewest,
      priority,
      requestId,
      requestHash: requestId === null ? null : hash,
      ...(request.metadata === undefined ? {} : { metadata: request.metadata }),
      ...(sameInputMs === undefined ? {} : { inputKey: inputKey(inputOf, input, sameInputMs) }),
      ...(schedule === undefined ? {} : { schedule }),
      ...(request.webhook === undefined ? {} : { webhooks: [request.webhook] }),
      ...(assistant === undefined ? {} : { assistant }),
      ...(request.thread === undefined ? {} : { thread: request.thread }),
    });
  };
  const remembered = version === 0 ? parts.newest.get(tenantId, workflowId) : undefined;
  if (remembered !== undefined) {
    try {
      return await start(remembered, true);
    } catch (error) {
      if (!(error instanceof WorkflowMoved)) throw error;
      parts.newest.forget(tenantId, workflowId);
    }
  }
  const row = await parts.workflows.find(tenantId, workflowId, version);
  if (row === undefined) throw workflowNotFound(workflowId, version);
  if (version === 0) parts.newest.keep(tenantId, workflowId, row);
  return await start({ ...row, workflowVersion: row.version }, false);
}

/** `served` are the types that executors serve now. @throws DEFINITION_INVALID, CYCLE_DETECTED and the errors of startRun */
export async function testRun(
  parts: AdmitParts,
  tenantId: string,
  { text, input, requestId, budget, hasUntrustedInput = false, time, ...request }: TestRequest,
  types?: KnownTypes,
): Promise<StartAnswer & { readonly warnings: readonly Violation[] }> {
  const { egress } = parts;
  const now = parts.now();
  const { graph, row, warnings } = readDefinition(text, { tenantId, now, types, egress });
  const { definitionId, digest, body } = row;
  checkRunInput(graph, input);
  await parts.ensureQueues(nodeTypesOf(graph));
  parts.definitions.keep(definitionId, graph, body);
  const { deadlineMs = graph.definition.deadlineMs } = request;
  const asked = { ...request.asked, ...deadlineOf(request) };
  const untrusted = hasUntrustedInput ? ["untrusted"] : [];
  const start: AcceptedStart = {
    ...newStart(parts, graph, { input, hasUntrustedInput, deadlineMs, time }),
    asked,
    ...budgetOf(graph, { budget }),
    tenantId,
    kind: request.isTemporary === true ? "temporary" : "test",
    definitionId,
    definitionDigest: digest,
    workflowId: null,
    workflowVersion: 0,
    assumesNewest: false,
    priority: 0,
    requestId,
    requestHash:
      requestId === null
        ? null
        : sha256(
            ...["test", digest, input, ...askedTexts(asked)],
            ...[...budgetText({ budget }), ...untrusted, ...timeTexts({ time })],
            ...temporaryText(request),
          ),
  };
  return { ...(await accept(parts, start, { graph, row })), warnings };
}

/**
 * Checks the input. A repeat of a request that has started a run gets that run: the workflow may have another schema since.
 * @throws INPUT_INVALID
 */
async function fittingStart(
  { journal }: AdmitParts,
  graph: Graph,
  asked: Pick<AcceptedStart, "tenantId" | "input" | "requestId"> & { readonly hash: string },
): Promise<StartAnswer | undefined> {
  const { tenantId, input, requestId, hash } = asked;
  try {
    checkRunInput(graph, input);
    return undefined;
  } catch (error) {
    const [before] = requestId === null ? [] : await journal.findRequest(tenantId, [requestId]);
    if (before?.requestHash !== hash) throw error;
    return { duplicate: true, runId: before.runId };
  }
}

const deadlineOf = ({ deadlineMs }: Pick<StartRequest, "deadlineMs">) =>
  deadlineMs === undefined ? {} : { deadlineMs };

interface NewStart {
  readonly input: string;
  readonly hasUntrustedInput: boolean;
  readonly deadlineMs: number;
  /** When the caller wants it to start. */
  readonly time?: AskedTime | undefined;
}

/** The lower of the definition's and the caller's limits. */
function budgetOf({ definition }: Graph, { budget: asked }: Pick<StartRequest, "budget">) {
  const budget = lowerBudget(definition.budget, asked);
  return budget === undefined ? {} : { budget };
}

/** What every start of a caller or a schedule has. @throws INPUT_INVALID if the input gives no key for a limit, or the start is too far away */
export function newStart(
  { now }: Pick<AdmitParts, "now">,
  { definition }: Graph,
  { input, hasUntrustedInput, deadlineMs, time }: NewStart,
) {
  const resolved = runLimits(definition, input);
  if (resolved?.ok === false)
    throw invalidField("input_json", "LIMIT_KEY_INVALID", `${resolved.limit}: ${resolved.message}`);
  const createdAt = now();
  const begins = startTime(time, createdAt);
  if (begins.kind === "too_far")
    throw invalidField("start_at", "OUT_OF_RANGE", "is more than 366 days ahead");
  const later = begins.kind === "later" ? { startAt: begins.startAt } : {};
  return {
    runId: newRunId(createdAt),
    traceparent: currentTraceparent() || null,
    createdAt,
    ...later,
    deadlineAt: (later.startAt ?? createdAt) + deadlineMs,
    limits: resolved?.limits ?? {},
    ...(definition.budget === undefined ? {} : { budget: definition.budget }),
    input,
    parent: null,
    depth: 0,
    ...(hasUntrustedInput || definition.hasUntrustedInput ? { taint: UNTRUSTED_INPUT } : {}),
  };
}

/**
 * Starts a run that only undoes an execution of another run. It begins at once: no limit of the workflow applies, because a limit of runs
 * should not keep a wrong state in the world.
 */
export async function startUndoRun(
  parts: AdmitParts,
  about: Pick<
    AcceptedStart,
    | "tenantId"
    | "definitionId"
    | "definitionDigest"
    | "workflowId"
    | "workflowVersion"
    | "priority"
    | "taint"
    | "kind"
  > & { readonly undoes: ParentLink; readonly input: string; readonly timeoutMs: number },
): Promise<StartAnswer> {
  const { timeoutMs, ...start } = about;
  const { runId, nodeId, iteration } = start.undoes;
  const createdAt = parts.now();
  const requestId = `redrive:${runId}/${nodeId}/${iteration}`;
  return await accept(parts, {
    ...start,
    runId: newRunId(createdAt),
    assumesNewest: false,
    requestId,
    requestHash: sha256("undo", requestId),
    traceparent: currentTraceparent() || null,
    createdAt,
    deadlineAt: createdAt + timeoutMs,
    limits: {},
    parent: null,
    depth: 0,
  });
}

/** @throws THREAD_NOT_FOUND, THREAD_BUSY, REQUEST_ID_REUSED, STORE_UNAVAILABLE */
export async function accept(
  parts: AdmitParts,
  asked: AcceptedStart,
  test?: StartInput["test"],
): Promise<StartAnswer> {
  probe("start.before-submit");
  const input = await parts.values.small(asked.runId, asked.input);
  const start = input === asked.input ? asked : { ...asked, input };
  const about = test === undefined ? { start } : { start, test };
  const accepted = await parts.loop
    .ask<StartAnswer>((answer) => ({ kind: "start", ...about, answer }))
    .catch((error: unknown) => repeatOf(parts, start, error));
  probe("start.after-commit");
  if (!accepted.duplicate) METRICS.runsStarted.add(1, { kind: start.kind });
  return accepted;
}

/** The repeat of a request finds its own run on the thread. @throws the error of any other start */
async function repeatOf(
  { journal }: AdmitParts,
  { tenantId, requestId, requestHash }: AcceptedStart,
  error: unknown,
): Promise<StartAnswer> {
  if (requestId === null || !(error instanceof EngineError) || error.reason !== "THREAD_BUSY")
    throw error;
  const [before] = await journal.findRequest(tenantId, [requestId]);
  if (before?.requestHash !== requestHash) throw error;
  return { duplicate: true, runId: before.runId };
}
