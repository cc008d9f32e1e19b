import { expect, test } from "vitest";
import { graphOf, RUN } from "../../test/toy-run.ts";
import type { Fact } from "../log/event.ts";
import { apply } from "../log/fold.ts";
import { newRunState, type RunState } from "../log/state.ts";
import { workflowState } from "../log/workflow-state.ts";
import { NOTHING, wholeBudget } from "../policy/budget.ts";
import { daySettlement, dayNeed, onTurn } from "./day.ts";
import { runLimits } from "./limits.ts";
import { planToFixpoint } from "./plan.ts";

const DAY = "2026-01-31";

/** A pending run, and a function that appends facts to its log. */
function pending(budget: object): {
  readonly state: RunState;
  readonly append: (fact: Fact) => void;
} {
  const graph = graphOf({ budget, nodes: [{ id: "a", type: "task" }], edges: [] });
  const state = newRunState(RUN, graph);
  const append = (fact: Fact): void => apply(state, { ...fact, seq: state.lastSeq + 1, at: 1_000 });
  const place = { nodeId: "", iteration: 0, attempt: 0, epoch: 0 } as const;
  const resolved = runLimits(graph.definition, "null");
  if (resolved?.ok !== true || graph.definition.budget === undefined) throw new Error("no limits");
  const payload = {
    ...{ definitionDigest: "", workflowVersion: 1, kind: "saved" as const, deadlineAt: 9_000 },
    ...{ budget: wholeBudget(graph.definition.budget), ...resolved.limits },
  } as const;
  append({ ...place, type: "run.started", payload, value: "null" });
  return { state, append };
}

const spent = (tokens: number) => ({ ...NOTHING, tokens });

test("a run of a workflow with a daily budget is pending, and begins with its own budget reserved (S2.21, X27)", () => {
  const { state, append } = pending({ tokens: 4, per_day: { tokens: 10 } });
  expect(workflowState(state, { workflowId: "w" })).toMatchObject({
    ...{ status: "pending", waitingFor: "budget" },
  });
  expect(dayNeed(state)).toEqual({ tokens: 4 });
  const answer = { day: DAY, isGranted: true, spent: spent(6) };
  const [fact] = onTurn(state, answer, 1_000);
  expect(fact?.payload).toEqual({
    ...{ from: "pending", to: "running" },
    dayFunds: { day: DAY, reserved: { tokens: 4 } },
  });
  if (fact !== undefined) append(fact);
  planToFixpoint(state, 1_000, append);
  expect(state.nodes[0]?.status).toBe("queued");
  expect(daySettlement(state)).toMatchObject({ day: DAY, freed: { tokens: 4 }, used: NOTHING });
});

test("a run waits while other runs of the day may settle, and fails if it never fits (S2.21)", () => {
  const { state, append } = pending({ tokens: 4, per_day: { tokens: 10 } });
  expect(onTurn(state, { day: DAY, isGranted: false, spent: spent(6) }, 1_000)).toEqual([]);
  const facts = onTurn(state, { day: DAY, isGranted: false, spent: spent(7) }, 1_000);
  facts.forEach(append);
  expect(state.status).toBe("failed");
  expect(state.message).toContain(
    `budget_exceeded: the budget of 10 tokens for ${DAY} has 3 tokens left, and one run reserves 4 tokens`,
  );
  expect(daySettlement(state)).toBeUndefined();
});

test("a run that asks for it pauses for the daily budget instead (S2.21)", () => {
  const { state, append } = pending({ tokens: 4, per_day: { tokens: 10 }, on_exceeded: "pause" });
  onTurn(state, { day: DAY, isGranted: false, spent: spent(7) }, 1_000).forEach(append);
  expect(state).toMatchObject({ status: "paused", pause: { waitingFor: "budget" } });
});
