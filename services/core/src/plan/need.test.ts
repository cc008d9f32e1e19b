import { expect, test } from "vitest";
import { completed, graphOf, startToyRun } from "../../test/toy-run.ts";
import { priceTable } from "../policy/price.ts";
import { NO_INLINE } from "./inline.ts";

const INPUT = { topic: "x".repeat(4_000) };
const PRICES = { ...NO_INLINE, priceOf: priceTable({ m: { input: 1, output: 2 } }) };

const llm = (id: string, config: object = {}, more: object = {}) => ({
  ...{ id, type: "llm", ...more },
  config: { model: "m", prompt: "About {{ ctx.input.topic }}", ...config },
});

/** What the first node reserves when it is queued. */
function reservedBy(node: object, budget: object = { tokens: 1e6, cost_usd: 1 }) {
  const run = startToyRun(graphOf({ budget, nodes: [node] }), INPUT, PRICES);
  const { payload } = run.events.find(({ type }) => type === "node.queued") ?? {};
  const { reserved } = payload as { reserved?: { tokens?: number; costMicros?: number } };
  return { tokens: 0, costMicros: 0, ...reserved };
}

test("a node that asks a model reserves its prompt, its answer and their price (S2.21, S2.23, X27)", () => {
  const whole = reservedBy(llm("a", { max_tokens: 100 }));
  expect(whole.tokens).toBeGreaterThan(1_100);
  expect(whole.tokens).toBeLessThan(1_200);
  expect(whole.costMicros).toBe(whole.tokens + 100);
  const short = reservedBy(llm("a", { max_tokens: 100, prompt: "Hello" }));
  expect(short.tokens).toBeLessThan(200);
});

test("an author's reserve replaces the estimate, and an unknown price reserves no cost (X27)", () => {
  expect(reservedBy(llm("a", {}, { reserve: { tokens: 1_500, cost_usd: 0.1 } }))).toMatchObject({
    ...{ tokens: 1_500, costMicros: 100_000 },
  });
  expect(reservedBy(llm("a", { model: "other" })).costMicros).toBe(0);
  expect(reservedBy({ id: "a", type: "task", config: { model: "m" } })).toMatchObject({
    ...{ tokens: 0, costMicros: 0 },
  });
});

test("an estimate is at most the budget, and not below the author's max_tokens (X27)", () => {
  expect(reservedBy(llm("a"), { tokens: 300, cost_usd: 0.0005 })).toMatchObject({
    ...{ tokens: 300, costMicros: 500 },
  });
  const own = llm("a", { max_tokens: 250 }, { budget: { tokens: 280 } });
  expect(reservedBy(own).tokens).toBe(280);
});

test("parallel nodes of a priced model cannot pass a cost budget together, without a reserve by hand (S2.21, X27)", () => {
  const nodes = ["a", "b", "c"].map((id) => llm(id, { max_tokens: 1_000, prompt: "Hello" }));
  const budget = { cost_usd: 0.005 };
  const run = startToyRun(graphOf({ budget, nodes }), INPUT, PRICES);
  const queued = () => run.types().filter((type) => type.startsWith("node.queued"));
  expect(queued()).toHaveLength(2);
  run.claim("a");
  run.report("a", completed(1, { usage: { inputTokens: 5, outputTokens: 10, costMicros: 25 } }));
  expect(queued()).toHaveLength(3);
});
