// The state of a run as JSON: snake_case names, and times in the form of RFC 3339. Handlers get this text, and `pawl run state --json` prints
// it. A field without a value is absent.

import type { WorkflowState } from "./workflow-state-shape.ts";

const DAY_MS = 86_400_000;

/** A time in UTC. The years of a run have four digits. */
export function isoTime(at: number | undefined): string | undefined {
  if (at === undefined) return undefined;
  const ms = Math.floor(at);
  const days = Math.floor(ms / DAY_MS);
  const clock = ms - days * DAY_MS;
  const two = (value: number): string => String(Math.floor(value)).padStart(2, "0");
  const [year, month, day] = dateOf(days);
  const seconds = `${two((clock / 1_000) % 60)}.${String(clock % 1_000).padStart(3, "0")}`;
  const time = `${two(clock / 3_600_000)}:${two((clock / 60_000) % 60)}:${seconds}`;
  return `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}T${time}Z`;
}

/** The Gregorian date of a day since 1970. A year begins in March here, so the leap day is its last. */
function dateOf(sinceEpoch: number): readonly [year: number, month: number, day: number] {
  const shifted = sinceEpoch + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const leaps =
    Math.floor(dayOfEra / 1_460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const year = Math.floor((dayOfEra - leaps) / 365);
  const dayOfYear = dayOfEra - (365 * year + Math.floor(year / 4) - Math.floor(year / 100));
  const month = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * month + 2) / 5) + 1;
  const isNext = month >= 10;
  return [year + era * 400 + (isNext ? 1 : 0), isNext ? month - 9 : month + 3, day];
}

type Times = "createdAt" | "updatedAt";
/** A state, perhaps without its times. */
type Shown = Omit<WorkflowState, Times> & { readonly [Name in Times]: number | undefined };

/** A state as JSON text. The values of the memory keep their spelling. */
export function workflowStateJson(state: Shown): string {
  const head = JSON.stringify({
    workflow_id: state.workflowId,
    run_id: state.runId,
    goal: state.goal,
    constraints: state.constraints,
    status: state.status,
    current_node: state.currentNode,
    current_nodes: state.currentNodes,
    iteration_count: state.iterationCount,
    max_iterations: state.maxIterations,
    started_at: isoTime(state.startedAt),
    max_execution_time_ms: state.maxExecutionTimeMs,
    retry_count: state.retryCount,
    retries: state.retries,
    max_retries: state.maxRetries,
    last_error: state.lastError,
    waiting_for: state.waitingFor,
    waiting_since: isoTime(state.waitingSince),
    waiting_timeout_at: isoTime(state.waitingTimeoutAt),
    total_tokens_used: state.totalTokensUsed,
    max_token_budget: state.maxTokenBudget,
    total_cost_usd: state.totalCostUsd,
    budget_usd: state.budgetUsd,
    visited_nodes: state.visitedNodes,
    visited_nodes_left_out: state.visitedNodesLeftOut,
    supervisor_history: state.supervisorHistory.map(({ nodeId, at, eventId, ...rest }) => ({
      ...{ node_id: nodeId, ...rest },
      ...{ at: isoTime(at), event_id: eventId },
    })),
    created_at: isoTime(state.createdAt),
    updated_at: isoTime(state.updatedAt),
    event_id: state.eventId,
  });
  return `${head.slice(0, -1)},"compensation_stack":${stackJson(state)},"memory":${state.memoryJson}}`;
}

function stackJson({ compensationStack }: Shown): string {
  const entries = compensationStack.map(
    ({ actionId, compensationAction: { type, payloadJson } }) => {
      const action = `{"type":${JSON.stringify(type)},"payload":${payloadJson}}`;
      return `{"action_id":${JSON.stringify(actionId)},"compensation_action":${action}}`;
    },
  );
  return `[${entries.join(",")}]`;
}
