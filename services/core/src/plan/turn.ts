// What the outcome of a turn of an agent, or of a supervisor, asks for beside its output.

import { LIMITS } from "../data/limits.ts";
import { MAX_ITERATIONS, unknownTool } from "../definition/agent-config.ts";
import type { Cause } from "../fault/cause.ts";
import type { Completion, ToolCall } from "../log/event.ts";
import { partOf } from "../log/execution.ts";
import type { RunState } from "../log/state.ts";
import { graphNodeAt, nodeStateAt } from "./place.ts";

const NONE: readonly ToolCall[] = [];

/** The calls of a turn of an agent. A tool that the agent does not have is a fault of the call. No other outcome has calls. */
export function turnCalls(
  state: RunState,
  { nodeIndex, iteration }: { readonly nodeIndex: number; readonly iteration: number },
  { calls = NONE }: Completion,
): readonly ToolCall[] {
  const agent = graphNodeAt(state, nodeIndex).definition.scope?.agent;
  if (agent === undefined || partOf(state, nodeIndex, iteration) !== "body") return NONE;
  const names = agent.tools.map(({ name }) => name);
  return calls.map((call) =>
    call.fault !== undefined || names.includes(call.name)
      ? call
      : { ...call, fault: unknownTool(call.name, names) },
  );
}

interface Fault {
  readonly cause: Cause;
  readonly message: string;
}

/** Why a turn with these calls fails; undefined if it does not. */
export function callsFault({ length }: readonly ToolCall[]): Fault | undefined {
  if (length <= LIMITS.agentCalls) return undefined;
  const message = `the model calls ${length} tools in one turn; at most ${LIMITS.agentCalls}`;
  return { cause: "tool_call_invalid", message };
}

/**
 * Why a supervisor fails that may not decide again: no edge leads on by that handle, so no node would follow. Undefined for every other
 * outcome.
 */
export function routeFault(
  state: RunState,
  index: number,
  handle: string | undefined,
): Fault | undefined {
  const { definition, outgoing } = graphNodeAt(state, index);
  if (definition.type !== "supervisor" || handle !== MAX_ITERATIONS) return undefined;
  if (outgoing.some((edge) => edge.handle === handle)) return undefined;
  const { round } = nodeStateAt(state, index);
  const message = `the supervisor decided ${round} times and did not choose done; add an edge with source_handle ${MAX_ITERATIONS}, or raise max_iterations`;
  return { cause: "max_iterations", message };
}
