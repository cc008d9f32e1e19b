// A command about a whole run, and its form as the data of a job. Any program may put such a job into the queue, even pg-boss's own
// scheduler. So the data of a job is parsed like any other input.

import { EngineError, type FieldViolation } from "@pawl/core/fault/engine-error";
import { checkJson } from "@pawl/core/data/json";
import { LIMITS } from "@pawl/core/data/limits";
import { isName, isUuid } from "@pawl/core/name/ids";
import { z } from "zod";
import { DEFAULT_TENANT } from "@pawl/core/name/tenant";

const DEFAULT_MAX_ATTEMPTS = 3;
export const MAX_ATTEMPTS_MAX = 100;

export interface WorkflowCommand {
  readonly type: "start" | "resume";
  /** A UUID. For `start` it is the caller's name for the run; for `resume` it is the run's id or that name. */
  readonly runId: string;
  /** The workflow's id. */
  readonly graphId: string;
  /** The input of a run to start: any JSON. */
  readonly initialState?: unknown;
  /** The same as JSON text, to the letter. It takes precedence. */
  readonly inputJson?: string;
  /** A person's response: any JSON. Only for `resume`. */
  readonly humanResponse?: unknown;
  /** Lower is sooner. */
  readonly priority: number;
  /** Deliveries that may fail before the job is a dead letter. */
  readonly maxAttempts: number;
  readonly tenantId: string;
  /** The W3C trace context of the caller. The command continues its trace. */
  readonly traceparent?: string;
}

/** The request id of the run that a command starts under this name. So any number of deliveries start one run. */
export const requestIdOfRun = (runId: string): string => `command:${runId}`;

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

const whole = (min: number, max: number) =>
  z
    .int("must be a whole number")
    .min(min, `must be at least ${min}`)
    .max(max, `must be at most ${max}`);

const dataSchema = z.object({
  type: z.enum(["start", "resume"], "must be start or resume"),
  /** If it is absent, the job's id names the run. */
  run_id: z.string("must be a UUID").refine(isUuid, "must be a UUID").optional(),
  graph_id: z.string("must be a workflow's id").refine(isName, "must be a workflow's id"),
  initial_state: z.unknown().optional(),
  human_response: z.unknown().optional(),
  input_json: z
    .string("must be JSON text")
    .refine((text) => checkJson(text).ok, "must be JSON text")
    .optional(),
  priority: whole(-LIMITS.priorityMax, LIMITS.priorityMax).optional(),
  max_attempts: whole(1, MAX_ATTEMPTS_MAX).default(DEFAULT_MAX_ATTEMPTS),
  tenant_id: z.string("must be a tenant's id").min(1, "is empty").default(DEFAULT_TENANT),
  /** A trace is only for people, so a text that names none is dropped. */
  traceparent: z.string().regex(TRACEPARENT).optional().catch(undefined),
  /** Set on jobs that wait again: the id of the job of the first delivery. */
  job_id: z.string().refine(isUuid).optional(),
});

/** The data of a job: the fields of the command in snake case. */
export type CommandData = z.input<typeof dataSchema>;

/** The command as data of a job. Undefined fields are absent, as in JSON. */
export const toData = ({
  initialState,
  humanResponse,
  ...command
}: WorkflowCommand): CommandData => ({
  type: command.type,
  run_id: command.runId,
  graph_id: command.graphId,
  ...(initialState !== undefined && { initial_state: initialState }),
  ...(humanResponse !== undefined && { human_response: humanResponse }),
  priority: command.priority,
  max_attempts: command.maxAttempts,
  tenant_id: command.tenantId,
  ...(command.inputJson !== undefined && { input_json: command.inputJson }),
  ...(command.traceparent !== undefined && { traceparent: command.traceparent }),
});

interface ParsedCommand {
  readonly jobId: string;
  readonly command: WorkflowCommand;
}

/** Reads the data of a job. The error is INPUT_INVALID and names every faulty field. */
export function parseData(
  data: unknown,
  job: { readonly id: string; readonly priority: number },
): ParsedCommand | EngineError {
  const parsed = dataSchema.safeParse(data);
  if (!parsed.success) return commandFault(parsed.error.issues);
  const { type, job_id: jobId = job.id, run_id: runId = jobId, graph_id: graphId } = parsed.data;
  const { initial_state: initialState, human_response: humanResponse } = parsed.data;
  const { input_json: inputJson, traceparent } = parsed.data;
  const command = {
    type,
    runId,
    graphId,
    ...(initialState !== undefined && { initialState }),
    ...(inputJson !== undefined && { inputJson }),
    ...(humanResponse !== undefined && { humanResponse }),
    ...(traceparent !== undefined && { traceparent }),
    priority: job.priority,
    maxAttempts: parsed.data.max_attempts,
    tenantId: parsed.data.tenant_id,
  };
  return { jobId, command };
}

/** Gives a new command its defaults, in a copy. @throws INPUT_INVALID naming every faulty field */
export function checkCommand(command: Partial<WorkflowCommand>, jobId: string): WorkflowCommand {
  const { runId, initialState, humanResponse, priority = 0 } = command;
  const [state, response] = [copyOf(initialState), copyOf(humanResponse)];
  const data = {
    type: command.type,
    run_id: typeof runId === "string" ? runId.toLowerCase() : runId,
    graph_id: command.graphId,
    initial_state: state.value,
    human_response: response.value,
    priority: command.priority,
    max_attempts: command.maxAttempts,
    tenant_id: command.tenantId,
    input_json: command.inputJson,
    traceparent: command.traceparent,
  };
  const faults = { initial_state: state.fault, human_response: response.fault };
  const issues = [
    ...(dataSchema.safeParse(data).error?.issues ?? []),
    ...Object.entries(faults).flatMap(([field, message]) =>
      message === undefined ? [] : [{ path: [field], message }],
    ),
  ];
  const parsed =
    issues.length > 0 ? commandFault(issues) : parseData(data, { id: jobId, priority });
  if (parsed instanceof EngineError) throw parsed;
  return parsed.command;
}

/** The value after a round trip through JSON, or the reason why JSON cannot hold it. */
function copyOf(value: unknown): { readonly value?: unknown; readonly fault?: string } {
  if (value === undefined) return {};
  try {
    const checked = checkJson(JSON.stringify(value) ?? "");
    if (checked.ok) return { value: checked.value };
    return { fault: `is not acceptable JSON (${checked.reason})` };
  } catch {
    // The value has a cycle or a BigInt, or is nested too deeply for stringify.
    return { fault: "is not acceptable JSON" };
  }
}

function commandFault(
  issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[],
): EngineError {
  const violations: FieldViolation[] = issues.map(({ path, message }) => ({
    field: path.join(".") || "command",
    description: message,
    reason: "BAD_COMMAND",
  }));
  const words = violations.map(({ field, description }) => `${field} ${description}`).join("; ");
  return new EngineError("INPUT_INVALID", `The command is not acceptable: ${words}.`, {
    metadata: { field: violations[0]?.field ?? "command" },
    violations,
  });
}
