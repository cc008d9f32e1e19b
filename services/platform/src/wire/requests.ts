// Parses commands of pawl.v1 into domain values. The gateway calls these functions before it forwards a command, and the scheduler calls
// them too. So both refuse the same requests with the same words. Dead letters have their own file, `dead-letter.ts`, and schedules `schedule-requests.ts`.

import { LIMITS } from "@pawl/core/data/limits";
import { invalidField } from "@pawl/core/fault/engine-error";
import type { AskedOfRun } from "@pawl/core/log/start";
import { type ApprovalId, type NodeId, nodeId, type RunId } from "@pawl/core/name/ids";
import type { AskedBudget } from "@pawl/core/policy/budget";
import type { AskedTime } from "@pawl/core/policy/start-time";
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
import type {
  CreateWorkflowRequest,
  DeleteWorkflowRequest,
  UpdateWorkflowRequest,
} from "@pawl/proto/pawl/v1/workflow_service_pb";
import type { PauseWords } from "../store/pauses/pauses.ts";
import { budgetOf } from "./budget.ts";
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
  valueOf,
  typeNameOf,
} from "./fields.ts";
import { metadataOf } from "./metadata.ts";
import { askedOf } from "./asked.ts";
import { startedOf } from "./assistant.ts";
import { startTimeOf } from "./start-time.ts";
import { type RequestedThread, threadOf } from "./thread.ts";
import { runWebhookOf } from "./webhook.ts";

/** A run that a caller, a schedule, a queued command or a redrive starts. */
export interface StartRequest {
  /** Empty if the request names an assistant, or a thread that has one. */
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
  readonly thread?: RequestedThread | undefined;
  /** The assistant in place of a workflow. */
  readonly assistantId?: string | undefined;
  /** When the run starts. Undefined means at once. */
  readonly time?: AskedTime | undefined;
  /** Whether the run is deleted soon after its end. */
  readonly isTemporary?: boolean | undefined;
}

/** A run that is deleted leaves nothing to its thread, and no run that the same input could return. @throws INPUT_INVALID */
function isTemporary({ temporary, threadId, idempotency }: StartRunRequest): true | undefined {
  if (!temporary) return undefined;
  if (threadId === "" && idempotency === undefined) return true;
  const other = threadId === "" ? "idempotency" : "thread_id";
  throw invalidField(
    "temporary",
    "AMBIGUOUS",
    `does not go with ${other}, which needs the run later`,
  );
}

export function parseStart(request: StartRunRequest): StartRequest {
  return {
    ...startedOf(request),
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
    time: startTimeOf(request),
    isTemporary: isTemporary(request),
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
  /** Undefined means the graph's own. */
  readonly deadlineMs?: number | undefined;
  readonly time?: AskedTime | undefined;
  readonly isTemporary?: boolean | undefined;
}

export const parseTest = (request: TestRunRequest): TestRequest => ({
  text: definitionTextOf(request.definition?.text),
  input: inputOf(request, START_LIMITS),
  requestId: requestIdOf(request.requestId),
  asked: askedOf(request),
  hasUntrustedInput: request.untrustedInput ? true : undefined,
  budget: budgetOf(request.budget),
  deadlineMs: durationMsOf("deadline", request.deadline, LIMITS.runDeadlineMsMax),
  time: startTimeOf(request),
  isTemporary: request.temporary || undefined,
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

type PauseRequest = PauseWords & { readonly requestId: string };

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
