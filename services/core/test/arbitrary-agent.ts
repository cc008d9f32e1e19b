// Agents among random nodes: their tools, and the calls of their turns.

import type { NodeState } from "../src/log/state.ts";
import type { Outcome } from "../src/plan/result.ts";
import { completed } from "./toy-run.ts";

const TURNS_MAX = 3;
/** The tools that a model calls in turn. An agent has the first two. */
const CALLED = ["x", "y", "nope"];

/** An agent with two tools. A failure of the second one fails the agent if `onFailure` is "fail". */
export function agentConfig(attempts: number, onFailure: string) {
  const tool = { type: "task", retry: { attempts } };
  const tools = [
    { ...tool, name: "x" },
    { ...tool, name: "y", on_error: onFailure === "fail" ? "fail" : "return" },
  ];
  return { model: "m", prompt: "p", tools, max_turns: TURNS_MAX };
}

/** The answer of a turn; undefined for an iteration that is none. Its calls follow from the agent and the turn, so the order of arrivals does not change them. */
export function turnOutcome(
  { scope }: NodeState,
  place: number,
  width: number,
): Outcome | undefined {
  const { calls: steps = [] } = scope ?? {};
  if (steps[place - 1] !== null) return undefined;
  const turn = steps.slice(0, place).filter((step) => step === null).length;
  const names = Array.from(
    { length: (width + turn) % 4 },
    (_, at) => CALLED[(turn + at) % 3] ?? "",
  );
  const calls = names.map((name, at) => ({ id: `c${at}`, name }));
  const tool_calls = calls.map((call) => ({ ...call, arguments: {} }));
  const usage = { inputTokens: turn, outputTokens: 1 };
  const output = { text: `turn ${turn}`, tool_calls };
  return completed(output, calls.length === 0 ? { usage } : { usage, calls });
}
