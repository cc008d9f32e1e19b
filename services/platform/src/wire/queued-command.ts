// A command of the workflow queue, as callers enqueue it and as they see it.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import type {
  CancelCommandRequest,
  DiscardCommandRequest,
  EnqueueCommandRequest,
  RedriveCommandRequest,
} from "@pawl/proto/pawl/v1/queue_service_pb";
import {
  type CommandAnswer,
  CommandAnswerSchema,
  CommandState,
  CommandType,
  type QueuedCommand,
  QueuedCommandSchema,
} from "@pawl/proto/pawl/v1/queued_command_pb";
import { Decision } from "@pawl/proto/pawl/v1/run_service_pb";
import { type HumanResponse, humanResponseSchema } from "../queue/human-response.ts";
import { MAX_ATTEMPTS_MAX, type WorkflowCommand } from "../queue/workflow-command.ts";
import type { JobStatus, ListedJob, NewCommand } from "../queue/workflow-queue.ts";
import { namesOf } from "./enum.ts";
import {
  durationMsOf,
  inputOf,
  jsonOf,
  lineOf,
  nameOf,
  priorityOf,
  rangeOf,
  requestIdOf,
  uuidOf,
  valueOf,
} from "./fields.ts";
import { toJsonBytes, toTimestamp, toTimestampOrNone } from "./scalar.ts";

const DELAY_MS_MAX = 366 * 24 * 3_600_000;
const states = namesOf(CommandState);
const types = namesOf(CommandType);
const decisions = namesOf(Decision);

export const fromWireCommandState: (state: number) => JobStatus | undefined = states.nameOf;

export interface EnqueueRequest {
  readonly command: NewCommand;
  readonly delayMs: number;
  readonly requestId: string;
}

/** @throws INPUT_INVALID, LIMIT_EXCEEDED */
export function parseEnqueue(request: EnqueueCommandRequest): EnqueueRequest {
  const type = types.nameOf(request.type);
  if (type === undefined) throw invalidField("type", "UNKNOWN_ENUM", "must be start or resume");
  const { runId, maxAttempts } = request;
  const about = {
    type,
    graphId: nameOf("workflow_id", request.workflowId),
    priority: priorityOf("priority", request.priority),
    tenantId: DEFAULT_TENANT,
    ...(maxAttempts === 0
      ? {}
      : { maxAttempts: rangeOf("max_attempts", maxAttempts, 1, MAX_ATTEMPTS_MAX) }),
  };
  return {
    // The schema of commands asks for a run id of a resume.
    command: {
      ...about,
      ...(type === "start" ? startOf(request) : resumeOf(request)),
      ...(type === "start" && runId === "" ? {} : { runId: uuidOf("run_id", runId) }),
    },
    delayMs: durationMsOf("delay", request.delay, DELAY_MS_MAX) ?? 0,
    requestId: requestIdOf(request.requestId) ?? "",
  };
}

function startOf(request: EnqueueCommandRequest): Pick<WorkflowCommand, "inputJson"> {
  if (request.answer !== undefined)
    throw invalidField("answer", "NOT_ALLOWED", "belongs to a resume");
  return { inputJson: inputOf(request) };
}

function resumeOf({ answer, inputJson, input }: EnqueueCommandRequest) {
  if (answer === undefined) throw invalidField("answer", "REQUIRED", "is missing");
  if (inputJson.length > 0 || input !== undefined)
    throw invalidField("input", "NOT_ALLOWED", "belongs to a start");
  return { humanResponse: humanResponseOf(answer) };
}

function humanResponseOf(answer: CommandAnswer): HumanResponse {
  const { decision, responseJson, response } = answer;
  const decided = decisions.nameOf(decision);
  if (decided === undefined)
    throw invalidField("answer.decision", "UNKNOWN_ENUM", "must be approve or reject");
  const given = response === undefined ? undefined : valueOf("answer.response", response);
  const text = responseJson.length > 0 ? jsonOf("answer.response_json", responseJson) : given;
  return {
    node_id: nameOf("answer.node_id", answer.nodeId),
    iteration: answer.iteration,
    decision: decided,
    comment: lineOf("answer.comment", answer.comment),
    decided_by: lineOf("answer.decided_by", answer.decidedBy),
    ...(text === undefined ? {} : { response_json: text }),
  };
}

/** A request that names a command. @throws INPUT_INVALID */
export const parseCommandChange = (
  request: CancelCommandRequest | RedriveCommandRequest | DiscardCommandRequest,
) => ({
  jobId: commandIdOf(request.commandId),
  requestId: requestIdOf(request.requestId) ?? "",
});

/** @throws INPUT_INVALID */
export const commandIdOf = (text: string): string => uuidOf("command_id", text);

export const commandNotFound = (jobId: string): EngineError =>
  new EngineError("QUEUE_JOB_NOT_FOUND", `The workflow queue has no command ${jobId}.`, {
    metadata: { queue_job_id: jobId },
  });

/** A command of a list: without the JSON of its caller, so that a page fits into an answer. */
export const toWireListedCommand = (
  job: ListedJob,
  startedRunId: string | undefined,
): QueuedCommand =>
  create(QueuedCommandSchema, {
    commandId: job.jobId,
    state: states.values[job.status],
    ...(job.command === null
      ? {}
      : {
          type: types.values[job.command.type],
          workflowId: job.command.graphId,
          runId: job.command.runId,
          priority: job.command.priority,
          maxAttempts: job.command.maxAttempts,
        }),
    startedRunId: startedRunId ?? "",
    attempts: job.attempts,
    errorMessage: job.error ?? "",
    createTime: toTimestamp(job.enqueuedAt),
    dueTime: toTimestampOrNone(job.dueAt),
  });

export function toWireCommand(job: ListedJob, startedRunId: string | undefined): QueuedCommand {
  const wire = toWireListedCommand(job, startedRunId);
  const { command } = job;
  if (command === null) return wire;
  const answer = command.type === "resume" ? answerOf(command.humanResponse) : undefined;
  const inputJson = toJsonBytes(command.type === "start" ? inputTextOf(command) : undefined);
  if (answer !== undefined) wire.answer = create(CommandAnswerSchema, answer);
  return Object.assign(wire, { inputJson });
}

/** The input of a start as JSON text. */
const inputTextOf = ({ inputJson, initialState }: WorkflowCommand): string =>
  inputJson ?? JSON.stringify(initialState ?? null);

function answerOf(response: unknown): MessageInitShape<typeof CommandAnswerSchema> | undefined {
  const { data } = humanResponseSchema.safeParse(response);
  if (data === undefined) return undefined;
  const { node_id: nodeId, decided_by: decidedBy, iteration, comment, decision } = data;
  const text =
    data.response_json ?? (data.response === undefined ? undefined : JSON.stringify(data.response));
  return {
    ...{ nodeId, iteration, comment, decidedBy },
    decision: decisions.values[decision],
    responseJson: toJsonBytes(text),
  };
}
