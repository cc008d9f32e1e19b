// Accepts a run of a saved workflow, or of a graph that is not saved.

import type { Graph } from "@pawl/core/definition/graph";
import type { KnownTypes } from "@pawl/core/definition/known-types";
import type { Violation } from "@pawl/core/definition/shape";
import { invalidField } from "@pawl/core/fault/engine-error";
import type { ParentLink, ScheduleLink } from "@pawl/core/log/event";
import type { AcceptedStart } from "@pawl/core/log/start";
import { runLimits } from "@pawl/core/plan/limits";
import { lowerBudget } from "@pawl/core/policy/budget";
import { type AskedTime, startTime } from "@pawl/core/policy/start-time";
import { joinTaint, type Taint, UNTRUSTED_INPUT } from "@pawl/core/policy/taint";
import { WorkflowMoved } from "@pawl/platform/store/tick/journal";
import { currentTraceparent } from "@pawl/platform/telemetry/trace";
import type { StartRequest, TestRequest } from "@pawl/platform/wire/requests";
import { workflowNotFound } from "../inputs/errors.ts";
import type { StartAnswer } from "../inputs/input.ts";
import { newRunId } from "../run-id.ts";
import { accept } from "./accept.ts";
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
import type { TakenOver } from "./taken-over.ts";
import { checkReceiver } from "./webhook-rules.ts";

interface StartAbout {
  /** The occurrence that starts the run. */
  readonly schedule?: ScheduleLink | undefined;
  /**
   * What the run takes over from the run that it starts again. It is not in the hash of the request: the request id names that run, and users
   * may change its metadata.
   */
  readonly again?: TakenOver;
}

/**
 * @throws WORKFLOW_NOT_FOUND, ASSISTANT_NOT_FOUND, THREAD_NOT_FOUND, INPUT_INVALID, REQUEST_ID_REUSED, STORE_UNAVAILABLE
 */
export async function startRun(
  parts: AdmitParts,
  tenantId: string,
  request: StartRequest,
  { schedule, again }: StartAbout = {},
): Promise<StartAnswer> {
  // The caller's own words, for the hash of the request.
  const body = bodyOf(request);
  const resolved = await resolveStart(parts, tenantId, request);
  return await startResolved(parts, tenantId, { ...resolved, ...again }, { body, schedule });
}

async function startResolved(
  parts: AdmitParts,
  tenantId: string,
  request: ResolvedStart,
  { body, schedule }: Pick<StartAbout, "schedule"> & { readonly body: readonly string[] },
): Promise<StartAnswer> {
  const { workflowId, version } = request;
  const start = async (found: Version, assumesNewest: boolean): Promise<StartAnswer> => {
    const graph = await parts.definitions.graph(found.definitionId);
    const { definitionId, digest, workflowVersion } = found;
    const { priority, input, requestId, sameInputMs, assistant } = request;
    const { deadlineMs = graph.definition.deadlineMs, taint } = request;
    // The request id alone identifies an occurrence. The run that it started stays its run, also if a user edited the schedule since.
    const hash = schedule === undefined ? hashOf(body, deadlineMs) : sha256("schedule");
    const fitting = await fittingStart(parts, graph, { tenantId, input, requestId, hash });
    if (fitting !== undefined) return fitting;
    await checkReceiver(parts, tenantId, request.webhook);
    const inputOf = [workflowId, ...(assistant === undefined ? [] : [assistant.assistantId])];
    return await accept(parts, {
      ...newStart(parts, graph, { input, taint, deadlineMs, time: request.time }),
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
  const now = parts.now();
  const { graph, row, warnings } = readDefinition(text, { ...parts, tenantId, now, types });
  const { definitionId, digest, body } = row;
  checkRunInput(graph, input);
  await parts.ensureQueues(nodeTypesOf(graph));
  parts.definitions.keep(definitionId, graph, body);
  const { deadlineMs = graph.definition.deadlineMs } = request;
  const asked = { ...request.asked, ...deadlineOf(request) };
  const [taint, untrusted] = hasUntrustedInput ? [UNTRUSTED_INPUT, ["untrusted"]] : [undefined, []];
  const start: AcceptedStart = {
    ...newStart(parts, graph, { input, taint, deadlineMs, time }),
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
  /** The labels that the input has, whatever the definition says. */
  readonly taint: Taint | undefined;
  readonly deadlineMs: number;
  /** When the caller wants it to start. */
  readonly time?: AskedTime | undefined;
}

/** The lower of the definition's and the caller's limits. */
export function budgetOf({ definition }: Graph, { budget: asked }: Pick<StartRequest, "budget">) {
  const budget = lowerBudget(definition.budget, asked);
  return budget === undefined ? {} : { budget };
}

/** What every start of a caller or a schedule has. @throws INPUT_INVALID if the input gives no key for a limit, or the start is too far away */
export function newStart(
  { now }: Pick<AdmitParts, "now">,
  { definition }: Graph,
  { input, taint, deadlineMs, time }: NewStart,
) {
  const resolved = runLimits(definition, input);
  if (resolved?.ok === false)
    throw invalidField("input_json", "LIMIT_KEY_INVALID", `${resolved.limit}: ${resolved.message}`);
  const createdAt = now();
  const begins = startTime(time, createdAt);
  if (begins.kind === "too_far")
    throw invalidField("start_at", "OUT_OF_RANGE", "is more than 366 days ahead");
  const labels = joinTaint(taint, definition.hasUntrustedInput ? UNTRUSTED_INPUT : undefined);
  const later = begins.kind === "later" ? { startAt: begins.startAt } : {};
  return {
    runId: newRunId(createdAt),
    traceparent: currentTraceparent() || null,
    createdAt,
    ...later,
    deadlineAt: (later.startAt ?? createdAt) + deadlineMs,
    limits: resolved?.limits ?? {},
    input,
    parent: null,
    depth: 0,
    ...(labels === undefined ? {} : { taint: labels }),
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
