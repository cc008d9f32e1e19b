// A command about a whole run, and the shape it has inside of a job. Anybody may put such a job into the queue, pg-boss's own
// scheduler among them, so what comes out is parsed like any other input.

import { EngineError, type FieldViolation } from "@pawl/core/fault/engine-error";
import { checkJson } from "@pawl/core/data/json";
import { LIMITS } from "@pawl/core/data/limits";
import { isName, isUuid } from "@pawl/core/name/ids";
import { z } from "zod";
import { DEFAULT_TENANT } from "@pawl/core/name/tenant";

export const DEFAULT_MAX_ATTEMPTS = 3;
const MAX_ATTEMPTS_MAX = 100;

export interface WorkflowCommand {
  readonly type: "start" | "resume";
  /** UUID: for `start` the caller's name for the run, for `resume` the run's id or that name. */
  readonly runId: string;
  /** The workflow's id. */
  readonly graphId: string;
  /** The input of a run to start: any JSON. */
  readonly initialState?: unknown;
  /** What a person said: any JSON. Only for `resume`. */
  readonly humanResponse?: unknown;
  /** Lower is sooner. */
  readonly priority: number;
  /** Deliveries that may fail before the job is a dead letter. */
  readonly maxAttempts: number;
  readonly tenantId: string;
}

const priority = z
  .int("must be a whole number")
  .min(-LIMITS.priorityMax, `must be at least -${LIMITS.priorityMax}`)
  .max(LIMITS.priorityMax, `must be at most ${LIMITS.priorityMax}`);

/** The data of a job. `run_id` may be left out by whoever cannot make one: the job's id stands in for it. */
const dataSchema = z.object({
  type: z.enum(["start", "resume"], "must be start or resume"),
  run_id: z.string("must be a UUID").refine(isUuid, "must be a UUID").optional(),
  graph_id: z.string("must be a workflow's id").refine(isName, "must be a workflow's id"),
  initial_state: z.unknown().optional(),
  human_response: z.unknown().optional(),
  priority: priority.optional(),
  max_attempts: z
    .int("must be a whole number")
    .min(1, "must be at least 1")
    .max(MAX_ATTEMPTS_MAX, `must be at most ${MAX_ATTEMPTS_MAX}`)
    .default(DEFAULT_MAX_ATTEMPTS),
  tenant_id: z.string("must be a tenant's id").min(1, "is empty").default(DEFAULT_TENANT),
  /** Set on jobs that wait again: which job this is another delivery of. */
  job_id: z.string().refine(isUuid).optional(),
});

/** What a job holds: the fields of the command in snake case. */
export type CommandData = z.input<typeof dataSchema>;

/** The command as data of a job; undefined fields are absent, as JSON has it. */
export function toData(command: WorkflowCommand): CommandData {
  const { type, runId, graphId, initialState, humanResponse, maxAttempts, tenantId } = command;
  return {
    type,
    run_id: runId,
    graph_id: graphId,
    ...(initialState === undefined ? {} : { initial_state: initialState }),
    ...(humanResponse === undefined ? {} : { human_response: humanResponse }),
    priority: command.priority,
    max_attempts: maxAttempts,
    tenant_id: tenantId,
  };
}

export interface ParsedCommand {
  readonly jobId: string;
  readonly command: WorkflowCommand;
}

/** Reads the data of a job. @throws INPUT_INVALID naming every field at fault */
export function parseData(
  data: unknown,
  job: { readonly id: string; readonly priority: number },
): ParsedCommand {
  const parsed = dataSchema.safeParse(data);
  if (!parsed.success) throw commandFault(parsed.error.issues);
  const { type, run_id, graph_id, initial_state, human_response } = parsed.data;
  const jobId = parsed.data.job_id ?? job.id;
  return {
    jobId,
    command: {
      type,
      runId: run_id ?? jobId,
      graphId: graph_id,
      ...(initial_state === undefined ? {} : { initialState: initial_state }),
      ...(human_response === undefined ? {} : { humanResponse: human_response }),
      priority: job.priority,
      maxAttempts: parsed.data.max_attempts,
      tenantId: parsed.data.tenant_id,
    },
  };
}

/** Gives a new command its defaults, in a copy of its own. @throws INPUT_INVALID naming every field at fault */
export function checkCommand(command: Partial<WorkflowCommand>, jobId: string): WorkflowCommand {
  const { type, runId, graphId, initialState, humanResponse } = command;
  const [state, response] = [copyOf(initialState), copyOf(humanResponse)];
  const data = {
    type,
    run_id: typeof runId === "string" ? runId.toLowerCase() : runId,
    graph_id: graphId,
    initial_state: state.value,
    human_response: response.value,
    priority: command.priority,
    max_attempts: command.maxAttempts,
    tenant_id: command.tenantId,
  };
  const faults = Object.entries({ initial_state: state.fault, human_response: response.fault });
  const issues = [
    ...(dataSchema.safeParse(data).error?.issues ?? []),
    ...faults.flatMap(([field, message]) =>
      message === undefined ? [] : [{ path: [field], message }],
    ),
  ];
  if (issues.length > 0) throw commandFault(issues);
  return parseData(data, { id: jobId, priority: command.priority ?? 0 }).command;
}

/** The value as JSON keeps it, or why that cannot be. */
function copyOf(value: unknown): { readonly value?: unknown; readonly fault?: string } {
  if (value === undefined) return {};
  try {
    const checked = checkJson(JSON.stringify(value) ?? "");
    return checked.ok
      ? { value: checked.value }
      : { fault: `is not acceptable JSON (${checked.reason})` };
  } catch {
    // A cycle, a BigInt, or nested beyond what stringify takes.
    return { fault: "is not acceptable JSON" };
  }
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

function commandFault(issues: readonly Issue[]): EngineError {
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
