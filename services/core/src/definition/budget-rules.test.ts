import { expect, test } from "vitest";
import { priceTable } from "../policy/price.ts";
import { parseDefinition } from "./parse.ts";

const llm = (more: object = {}) => ({
  id: "a",
  type: "llm",
  config: { model: "m", prompt: "p" },
  ...more,
});

function reasonsOf(definition: object) {
  const parsed = parseDefinition(JSON.stringify(definition, null, 1));
  const list = parsed.ok ? parsed.warnings : parsed.violations;
  return list.map(({ path, reason }) => `${reason} ${path}`);
}

test.each([-1, 0, 1.5, "5", null, "NaN", true, {}, 1e13])(
  "a budget of %j tokens is refused at its place (S2.21)",
  (tokens) => {
    const parsed = parseDefinition(JSON.stringify({ budget: { tokens }, nodes: [llm()] }, null, 1));
    expect(parsed).toMatchObject({
      ok: false,
      violations: [{ path: "budget.tokens", position: { line: 3 } }],
    });
  },
);

test.each([-1, 0, 1e-9, "0.5", 1e9])("a budget of %j dollars is refused (S2.23)", (usd) => {
  expect(reasonsOf({ budget: { cost_usd: usd }, nodes: [llm()] })).toHaveLength(1);
});

test("NaN and 1e400 are no budgets in JSON or YAML (S2.23)", () => {
  for (const usd of ["NaN", ".nan", "1e400", ".inf"])
    expect(parseDefinition(`budget: { cost_usd: ${usd} }\nnodes: [{ id: a, type: noop }]`).ok).toBe(
      false,
    );
});

test("an unknown limit is refused (S2.21)", () => {
  expect(reasonsOf({ budget: { minutes: 5 }, nodes: [llm()] })).toHaveLength(1);
  expect(reasonsOf({ budget: { tokens: 5000, on_exceeded: "wait" }, nodes: [llm()] })).toHaveLength(
    1,
  );
});

test("a node that can never fit is refused when it is saved (X27)", () => {
  const asked = llm({ config: { model: "m", prompt: "p", max_tokens: 50 } });
  expect(reasonsOf({ budget: { tokens: 10 }, nodes: [asked] })).toEqual([
    "BUDGET_TOO_SMALL nodes[0]",
  ]);
  expect(reasonsOf({ nodes: [llm({ reserve: { tokens: 9 }, budget: { tokens: 8 } })] })).toEqual([
    "BUDGET_TOO_SMALL nodes[0]",
  ]);
  // A model without a bound reserves at most the whole budget.
  expect(reasonsOf({ budget: { tokens: 10 }, nodes: [llm()] })).toEqual([]);
});

test("a node that the scheduler completes itself takes no budget", () => {
  const nodes = [{ id: "a", type: "noop", budget: { tokens: 5 }, reserve: { tokens: 1 } }];
  expect(reasonsOf({ nodes })).toEqual([
    "BUDGET_UNUSED nodes[0].budget",
    "BUDGET_UNUSED nodes[0].reserve",
  ]);
});

test("a cost budget without a reserved cost is a warning (S2.23, X27)", () => {
  expect(reasonsOf({ budget: { cost_usd: 1 }, nodes: [llm()] })).toEqual([
    "COST_NOT_RESERVED nodes[0]",
  ]);
  const reserving = llm({ reserve: { cost_usd: 0.1 } });
  expect(reasonsOf({ budget: { cost_usd: 1 }, nodes: [reserving] })).toEqual([]);
});

test("a cost budget over a model whose price is known is no warning (S2.23, X27)", () => {
  const text = JSON.stringify({ budget: { cost_usd: 1 }, nodes: [llm()] });
  const priceOf = priceTable({ m: { input: 1, output: 2 } });
  expect(parseDefinition(text, { priceOf })).toMatchObject({ ok: true, warnings: [] });
});

test("wall_time_ms is the deadline of the run, and the lower of the two counts", () => {
  const deadlineOf = (more: object): number | undefined => {
    const parsed = parseDefinition(JSON.stringify({ nodes: [llm()], ...more }));
    return parsed.ok ? parsed.definition.deadlineMs : undefined;
  };
  expect(deadlineOf({ deadline_ms: 5_000, budget: { wall_time_ms: 7_000 } })).toBe(5_000);
  expect(deadlineOf({ deadline_ms: 9_000, budget: { wall_time_ms: 7_000 } })).toBe(7_000);
});

test("a daily budget needs a budget of a run that fits into it (S2.21, X27)", () => {
  const daily = (budget: object) => reasonsOf({ budget, nodes: [llm()] });
  expect(daily({ tokens: 10, per_day: { tokens: 10 } })).toEqual([]);
  expect(daily({ tokens: 11, per_day: { tokens: 10 } })).toEqual([
    "BUDGET_TOO_SMALL budget.per_day",
  ]);
  expect(daily({ tokens: 5, per_day: { node_executions: 10 } })).toEqual([
    "DAILY_BUDGET_OPEN budget.per_day",
  ]);
});

test.each([-1, 0, 1.5, "9", null])("a daily budget of %j tokens is refused (S2.21)", (tokens) => {
  const parsed = parseDefinition(
    JSON.stringify({ nodes: [llm()], budget: { tokens: 1, per_day: { tokens } } }),
  );
  expect(parsed.ok ? [] : parsed.violations.map(({ path }) => path)).toEqual([
    "budget.per_day.tokens",
  ]);
});
