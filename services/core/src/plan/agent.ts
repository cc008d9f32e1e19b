// The next facts of an agent. A turn asks the model once; it is an execution with its own claim, attempts and stream. The calls that it asks
// for are executions of their own, all at once. When the last of them has settled, the next turn begins with the conversation so far. The
// agent itself holds no claim.
//
// Races. An executor dies in a turn or in a call: only that execution runs again, and the calls that have settled keep their results. A
// scheduler dies between two turns: the log has every answer and result, so the next scheduler plans the same turn. Results of one turn
// arrive in any order: each belongs to its iteration, and the planner queues the next turn only when none is open.

import { LIMITS } from "../data/limits.ts";
import type { AgentDefinition } from "../definition/shape.ts";
import { contextBytes } from "../log/context.ts";
import { agentOutput, turnsBefore } from "../log/conversation.ts";
import { isSettled, type Fact } from "../log/event.ts";
import type { ScopeState } from "../log/scope-state.ts";
import { gateFact } from "./gate.ts";
import { inlineFacts, isInlineKind } from "./inline.ts";
import { scopeTaint, taintField } from "./label.ts";
import { executionLimits } from "./limits.ts";
import { outputFault } from "./memory-bounds.ts";
import { durationOf, nodeStateAt, placeAt, queueFact } from "./place.ts";
import type { Planning } from "./planning.ts";
import { failScope, type ScopeFailure } from "./scope-end.ts";

/** The next facts of an agent that has expanded. */
export function decideAgent(round: Planning, index: number, agent: AgentDefinition): Fact[] {
  const { scope, base } = nodeStateAt(round.state, index);
  if (scope === undefined) return [];
  const failure = failureOf(scope, base, agent);
  if (failure !== undefined) return failScope(round, index, failure);
  if (scope.isStopped) return completedFacts(round, index, scope);
  if (scope.items.length > 0 && scope.items.length < scope.calls.length)
    return runCalls(round, index, scope);
  return scope.openCount > 0 ? [] : runTurn(round, index, base + scope.items.length + 1);
}

/** Why the agent cannot continue; undefined if it can. Only the last turn and its calls are new. */
function failureOf(
  { items, calls }: ScopeState,
  base: number,
  { maxTurns, tools }: AgentDefinition,
): ScopeFailure | undefined {
  const last = calls.lastIndexOf(null);
  const turn = items[last];
  if (turn === undefined || !isSettled(turn.status)) return undefined;
  const count = turnsBefore({ calls }, last + 1);
  if (turn.status !== "completed") {
    const why = turn.message ?? turn.status;
    return { cause: "turn_failed", message: `turn ${count} failed: ${why}` };
  }
  // No turn could read the results, so the calls of the last turn do not run.
  if (calls.length > last + 1 && count >= maxTurns) {
    const message = `the model called tools in turn ${count}, and the agent has at most ${maxTurns} turns; raise max_turns`;
    return { cause: "max_turns", message };
  }
  const failed = calls.findIndex((call, at) => {
    const status = items[at]?.status ?? "pending";
    if (call === null || at < last || status === "completed" || !isSettled(status)) return false;
    return tools[call.tool]?.onError === "fail";
  });
  if (failed < 0) return undefined;
  const why = items[failed]?.message ?? "no message";
  const message = `the tool ${calls[failed]?.name} (iteration ${base + failed + 1}) failed: ${why}`;
  return { cause: "tool_failed", message };
}

function runTurn(round: Planning, index: number, iteration: number): Fact[] {
  const { state, now, funds } = round;
  const bytes = contextBytes(state, index, iteration);
  if (bytes > LIMITS.conversationBytes) {
    const message = `the conversation would take ${bytes} bytes; at most ${LIMITS.conversationBytes}; let the tools return less`;
    return failScope(round, index, { cause: "conversation_too_large", message });
  }
  const resolved = executionLimits(state, index, iteration);
  if (resolved?.ok === false)
    return failScope(round, index, { cause: "limit_key_invalid", message: resolved.message });
  const gated = gateFact(state, index, iteration);
  if (gated !== undefined) return [gated];
  const funding = funds.ask(index, iteration);
  if (funding.kind === "node_exceeded")
    return failScope(round, index, { cause: "budget_exceeded", message: funding.message });
  if (funding.kind !== "granted") return [];
  const place = placeAt(state, index, iteration);
  return [queueFact(place, { releaseAt: 0, now, limits: resolved?.limits, ...funding })];
}

const FREE = { kind: "granted", reserved: undefined } as const;

/** Runs the calls of the last turn that have not begun. */
function runCalls(round: Planning, index: number, scope: ScopeState): Fact[] {
  const { state, now, funds } = round;
  const { base } = nodeStateAt(state, index);
  const facts: Fact[] = [];
  for (let at = scope.items.length; at < scope.calls.length; at++) {
    const iteration = base + at + 1;
    const place = placeAt(state, index, iteration);
    const { fault } = scope.calls[at] ?? {};
    if (fault !== undefined) {
      const payload = { cause: "tool_call_invalid", message: fault };
      facts.push({ ...place, attempt: 1, type: "node.failed", payload });
      continue;
    }
    const gated = gateFact(state, index, iteration);
    if (gated !== undefined) {
      facts.push(gated);
      continue;
    }
    const inline = inlineFacts(round, index, iteration);
    if (inline !== undefined) {
      facts.push(...inline);
      // The next call may write the memory too, and the bound of the memory counts what this one wrote.
      if (inline.length > 1) return facts;
      continue;
    }
    const isFree = isInlineKind(state, index, iteration);
    const funding = isFree ? FREE : funds.ask(index, iteration);
    if (funding.kind === "node_exceeded")
      return failScope(round, index, { cause: "budget_exceeded", message: funding.message });
    if (funding.kind !== "granted") return facts;
    const { reserved } = funding;
    facts.push(queueFact(place, { releaseAt: 0, now, limits: undefined, reserved }));
  }
  return facts;
}

function completedFacts(round: Planning, index: number, scope: ScopeState): Fact[] {
  const { state, now } = round;
  const { usage } = scope;
  const value = agentOutput(scope);
  const fault = outputFault(state, index, { handle: undefined, outputJson: value });
  if (fault !== undefined) return failScope(round, index, fault);
  const durationMs = durationOf(nodeStateAt(state, index), now);
  const counted = usage === undefined ? {} : { usage };
  const payload = { durationMs, ...counted, ...taintField(scopeTaint(state, index)) };
  return [{ ...placeAt(state, index), type: "node.completed", payload, value }];
}
