// Parses commands of pawl.v1 into domain values. The gateway calls these functions before it forwards a command, and the scheduler calls
// them too. So both refuse the same requests with the same words. Dead letters have their own file, `dead-letter.ts`.

import { LIMITS } from "@pawl/core/data/limits";
import { invalidField } from "@pawl/core/fault/engine-error";
import type { AskedOfRun, AskedThread } from "@pawl/core/log/start";
import { type ApprovalId, type NodeId, nodeId, type RunId } from "@pawl/core/name/ids";
import type { Receiver } from "@pawl/core/policy/webhook";
import type { ApproveApprovalRequest } from "@pawl/proto/pawl/v1/approval_service_pb";
import type { RejectApprovalRequest } from "@pawl/proto/pawl/v1/approval_service_pb";
import {
  type DecideNodeRequest,
  Decision,
  type Idempotency,
  IdempotencyScope,
  type PauseRunRequest,
  type ResumeRunRequest,
  type StartRunRequest,
  type TestRunRequest,
} from "@pawl/proto/pawl/v1/run_service_pb";
import type { ScheduleSpec as WireSpec } from "@pawl/proto/pawl/v1/schedule_pb";
import type { PauseScheduleRequest } from "@pawl/proto/pawl/v1/schedule_service_pb";
import type {
  CreateWorkflowRequest,
  DeleteWorkflowRequest,
  UpdateWorkflowRequest,
} from "@pawl/proto/pawl/v1/workflow_service_pb";
import type { PauseWords } from "../store/pauses/pauses.ts";
import type { ScheduleSpec } from "../store/schedules/schedules.ts";
import { type AskedBudget, budgetOf } from "./budget.ts";
import {
  approvalIdOf,
  definitionTextOf,
  durationMsOf,
  inputOf,
  START_LIMITS,
  jsonOf,
  lineOf,
  nameOf,
  optionalName,
  priorityOf,
  requestIdOf,
  RESPONSE_LIMITS,
  runIdOf,
  sameInputOf,
  valueOf,
  typeNameOf,
} from "./fields.ts";
import { metadataOf } from "./metadata.ts";
import { askedOf } from "./asked.ts";
import { threadOf } from "./thread.ts";
import { fromWireMissed, fromWireOverlap } from "./schedule.ts";
import { runWebhookOf } from "./webhook.ts";

/** A run that a caller, a schedule, a queued command or a redrive starts. */
export interface StartRequest {
  readonly workflowId: string;
  /** 0 means the newest. */
  readonly version: number;
  /** JSON text. */
  readonly input: string;
  readonly priority: number;
  readonly requestId: string | null;
  /** Undefined means the workflow's own. */
  readonly deadlineMs?: number | undefined;
  /** What the caller sets in place of the workflow's own. */
  readonly asked?: AskedOfRun;
  /** It lowers the budget of the workflow. */
  readonly budget?: AskedBudget | undefined;
  /** Set if the same input starts only one run during this time. */
  readonly sameInputMs?: number | undefined;
  /** What the caller wants to find the run by: the text of a JSON object. */
  readonly metadata?: string | undefined;
  /** The input gets the label of untrusted inputs, also if the definition does not say so. */
  readonly hasUntrustedInput?: boolean | undefined;
  /** A receiver of events of the run, beside those of the workflow. */
  readonly webhook?: Receiver | undefined;
  /** The thread that the run belongs to. */
  readonly thread?: AskedThread | undefined;
}

export function parseStart(request: StartRunRequest): StartRequest {
  return {
    workflowId: nameOf("workflow_id", request.workflowId),
    version: request.version,
    priority: priorityOf("priority", request.priority),
    deadlineMs: durationMsOf("deadline", request.deadline, LIMITS.runDeadlineMsMax),
    asked: askedOf(request),
    budget: budgetOf(request.budget),
    sameInputMs: sameInputMsOf(request.idempotency),
    hasUntrustedInput: request.untrustedInput ? true : undefined,
    input: inputOf(request, START_LIMITS),
    requestId: requestIdOf(request.requestId),
    webhook: runWebhookOf(request.webhook),
    thread: threadOf(request),
    metadata: metadataOf(request),
  };
}

function sameInputMsOf(asked: Idempotency | undefined): number | undefined {
  if (asked === undefined) return undefined;
  if (asked.scope !== IdempotencyScope.INPUT_HASH)
    throw invalidField("idempotency.scope", "UNKNOWN_ENUM", "must be INPUT_HASH");
  const ttlMs = durationMsOf("idempotency.ttl", asked.ttl, LIMITS.inputKeyMsMax);
  return ttlMs ?? LIMITS.inputKeyMs;
}

/** A run of a graph that is not saved. */
export interface TestRequest {
  readonly text: string;
  readonly input: string;
  readonly requestId: string | null;
  /** What the caller sets in place of the graph's own. */
  readonly asked?: AskedOfRun;
  readonly hasUntrustedInput?: boolean | undefined;
  /** It lowers the budget of the graph. */
  readonly budget?: AskedBudget | undefined;
}

export const parseTest = (request: TestRunRequest): TestRequest => ({
  text: definitionTextOf(request.definition?.text),
  input: inputOf(request, START_LIMITS),
  requestId: requestIdOf(request.requestId),
  asked: askedOf(request),
  hasUntrustedInput: request.untrustedInput ? true : undefined,
  budget: budgetOf(request.budget),
});

/** A command that names a run and nothing else. */
export const parseRunCommand = (request: {
  readonly runId: string;
  readonly requestId: string;
}) => ({
  runId: runIdOf(request.runId),
  requestId: requestIdOf(request.requestId) ?? "",
});

/** A person's decision about a node. */
export interface NodeAnswer {
  readonly runId: RunId;
  readonly nodeId: NodeId;
  readonly iteration: number;
  readonly decision: "approve" | "reject";
  readonly comment: string;
  readonly requestId: string;
  readonly decidedBy?: string;
  /** JSON text that fits the node's schema. */
  readonly responseJson?: string;
}

export const parseDecision = (request: DecideNodeRequest): NodeAnswer => ({
  ...parseRunCommand(request),
  nodeId: nodeId(nameOf("node_id", request.nodeId)),
  iteration: request.iteration,
  decision: decisionOf(request.decision),
  comment: lineOf("comment", request.comment),
});

function decisionOf(decision: Decision): NodeAnswer["decision"] {
  if (decision === Decision.APPROVE) return "approve";
  if (decision === Decision.REJECT) return "reject";
  throw invalidField("decision", "UNKNOWN_ENUM", "must be approve or reject");
}

export interface ApprovalAnswer {
  readonly approvalId: ApprovalId;
  readonly comment: string;
  readonly decidedBy: string;
  readonly requestId: string;
  /** JSON text. Undefined if the caller gave no response. */
  readonly response: string | undefined;
}

export const parseAnswer = (
  request: ApproveApprovalRequest | RejectApprovalRequest,
): ApprovalAnswer => ({
  approvalId: approvalIdOf(request.approvalId),
  comment: lineOf("comment", request.comment),
  decidedBy: lineOf("decided_by", request.decidedBy),
  requestId: requestIdOf(request.requestId) ?? "",
  response: responseOf(request),
});

function responseOf({
  responseJson,
  response,
}: ApproveApprovalRequest | RejectApprovalRequest): string | undefined {
  if (responseJson.length > 0) return jsonOf("response_json", responseJson, RESPONSE_LIMITS);
  return response === undefined ? undefined : valueOf("response", response, RESPONSE_LIMITS);
}

interface PauseRequest extends PauseWords {
  readonly requestId: string;
}

/** The user who pauses or resumes something, and the reason. */
function pauseWordsOf({ by, reason, requestId }: PauseRequest): PauseWords {
  requestIdOf(requestId);
  return { by: lineOf("by", by), reason: lineOf("reason", reason) };
}

export const parsePauseRun = (request: PauseRunRequest | ResumeRunRequest) => ({
  runId: runIdOf(request.runId),
  words: pauseWordsOf(request),
  children: request.children,
});

export const parsePauseWorkflow = (request: PauseRequest & { readonly workflowId: string }) => ({
  name: nameOf("workflow_id", request.workflowId),
  words: pauseWordsOf(request),
});

/** Node types never begin with an underscore. The engine's own queues do. */
export const parsePauseQueue = (request: PauseRequest & { readonly nodeType: string }) => ({
  name: typeNameOf(request.nodeType),
  words: pauseWordsOf(request),
});

/** A definition to save. */
export interface SaveRequest {
  /** Empty if the text names the workflow. */
  readonly workflowId: string;
  readonly text: string;
  readonly isStrict: boolean;
  readonly requestId: string | null;
}

const saveOf = (request: CreateWorkflowRequest | UpdateWorkflowRequest) => ({
  text: definitionTextOf(request.definition?.text),
  isStrict: request.strict,
  requestId: requestIdOf(request.requestId),
});

export const parseCreateWorkflow = (request: CreateWorkflowRequest): SaveRequest => ({
  workflowId: optionalName("workflow_id", request.workflowId),
  ...saveOf(request),
});

export const parseUpdateWorkflow = (request: UpdateWorkflowRequest) => ({
  workflowId: nameOf("workflow_id", request.workflowId),
  expectedVersion: request.expectedVersion,
  ...saveOf(request),
});

export function parseDeleteWorkflow({ workflowId, requestId, force }: DeleteWorkflowRequest) {
  requestIdOf(requestId);
  return { workflowId: nameOf("workflow_id", workflowId), force };
}

/** A command that names a schedule and nothing else. */
export const parseScheduleCommand = (request: {
  readonly scheduleId: string;
  readonly requestId: string;
}) => ({
  scheduleId: nameOf("schedule_id", request.scheduleId),
  requestId: requestIdOf(request.requestId),
});

export const parsePauseSchedule = (request: PauseScheduleRequest) => ({
  ...parseScheduleCommand(request),
  by: lineOf("paused_by", request.pausedBy),
  reason: lineOf("reason", request.reason),
});

export const parseSaveSchedule = (request: {
  readonly scheduleId: string;
  readonly requestId: string;
  readonly spec?: WireSpec | undefined;
}) => ({ ...parseScheduleCommand(request), spec: specOf(request.spec) });

/** Checks only the length of the expression. The thread that computes occurrences checks whether it is a rule. */
function specOf(wire: WireSpec | undefined): ScheduleSpec {
  if (wire === undefined) throw invalidField("spec", "REQUIRED", "is missing");
  const missed = fromWireMissed(wire.missed);
  if (missed === undefined) throw invalidField("spec.missed", "UNKNOWN_ENUM", "is not a policy");
  const overlap = fromWireOverlap(wire.overlap);
  if (overlap === undefined) throw invalidField("spec.overlap", "UNKNOWN_ENUM", "is not a policy");
  return {
    workflowId: nameOf("spec.workflow_id", wire.workflowId),
    workflowVersion: wire.workflowVersion,
    expression: expressionOf("spec.expression", wire.expression),
    timeZone: wire.timeZone === "" ? "UTC" : wire.timeZone,
    input: sameInputOf(wire),
    priority: priorityOf("spec.priority", wire.priority),
    missed,
    overlap,
  };
}

/** The rule of a schedule. @throws INPUT_INVALID */
export function expressionOf(field: string, text: string): string {
  const expression = text.trim();
  if (expression === "") throw invalidField(field, "REQUIRED", "is empty");
  const max = LIMITS.scheduleExpressionLength;
  if (expression.length <= max) return expression;
  throw invalidField(field, "TOO_LONG", `is longer than ${max} characters`);
}
