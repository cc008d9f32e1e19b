import { expect, test } from "vitest";
import { sketch, startToyRun } from "../../test/toy-run.ts";
import { causeOf } from "../log/cause.ts";
import { mayCause } from "../log/meaning.ts";
import { LIMITS } from "../data/limits.ts";
import type { InlineBudget } from "./inline.ts";

const budget = (bytes: number = LIMITS.inlineBytes): InlineBudget => ({
  mayComplete: () => true,
  bytes,
});

const noop = (id: string, more: object = {}) => ({ id, type: "noop", ...more });
const end = { id: "end", type: "end" };
const branch = (when: string) => ({
  id: "c",
  type: "condition",
  config: { branches: [{ id: "yes", when }] },
});

test("a chain of glue is over as soon as it is planned, with one event a node (S3.24, S3.25)", () => {
  const ids = Array.from({ length: 8 }, (_, index) => `n${index}`);
  const edges = ["s", ...ids].map((id, index) => `${id}>${ids[index] ?? "end"}`);
  const run = startToyRun(sketch(["s", ...ids.map((id) => noop(id)), end], edges), 1, budget());
  expect(run.state.status).toBe("completed");
  expect(run.types()).toEqual([
    "run.started",
    ...["s", ...ids, "end"].map((id) => `node.completed ${id}`),
    "run.completed",
  ]);
  expect(run.node("n3")).toMatchObject({ attempt: 1, startedAt: run.now, settledAt: run.now });
  for (const event of run.events.slice(1)) {
    const cause = run.events[causeOf(event) - 1];
    expect(cause && mayCause(cause.type, event.type), event.type).toBe(true);
  }
});

test("a condition decides between steps of executors without one of its own (S3.28)", () => {
  const graph = sketch(
    ["s", "first", branch("ctx.nodes.first.n > 1"), "then", "other", end],
    ["s>first", "first>c", "c:yes>then", "c:else>other", "then>end", "other>end"],
  );
  const run = startToyRun(graph, null, budget());
  run.complete("first", { n: 2 });
  expect(run.node("c")).toMatchObject({ status: "completed", handle: "yes" });
  expect(run.node("other").status).toBe("skipped");
  run.complete("then", { total: 7 });
  expect(run.state).toMatchObject({ status: "completed", output: '{"total":7}' });
});

test("a glue node that fails follows its own error handling (S3.33)", () => {
  const bad = (more: object) => ({ ...branch("ctx.input.missing > 1"), ...more });
  const failing = startToyRun(sketch(["s", bad({})], ["s>c"]), {}, budget());
  expect(failing.state.status).toBe("failed");
  expect(failing.types()).toContain("node.failed c");
  const handled = sketch(["s", bad({}), noop("rescue")], ["s>c", "c:error>rescue"]);
  const going = startToyRun(handled, {}, budget());
  expect(going.state.status).toBe("completed");
  expect(going.node("rescue").status).toBe("completed");
});

test("a node behind a delay is queued until its time (S3.29)", () => {
  const delay = { id: "d", type: "delay", config: { delay_ms: 500 } };
  const run = startToyRun(sketch(["s", delay, end], ["s>d", "d>end"]), null, budget());
  expect(run.node("d").status).toBe("completed");
  expect(run.node("end")).toMatchObject({ status: "queued", notBefore: run.now + 500 });
});

test("a glue join with late: cancel cancels the branch that lost (S3.21)", () => {
  const first = noop("first", { join: "any", late: "cancel" });
  const graph = sketch(
    ["s", "slow", noop("quick"), first, end],
    ["s>slow", "s>quick", "slow>first", "quick>first", "first>end"],
  );
  const run = startToyRun(graph, null, budget());
  expect(run.node("slow").status).toBe("cancelled");
  expect(run.state.status).toBe("completed");
});

test("a map over a glue body is complete at once, with its items in order (S3.30)", () => {
  const map = (items: unknown) => ({
    id: "m",
    type: "map",
    config: { items, parallelism: 2, body: { type: "noop" } },
  });
  const run = startToyRun(sketch(["s", map([1, 2, 3])], ["s>m"]), null, budget());
  expect(run.state).toMatchObject({ status: "completed", output: '{"m":[{},{},{}]}' });
  const empty = startToyRun(sketch(["s", map([])], ["s>m"]), null, budget());
  expect(empty.node("m")).toMatchObject({ status: "completed", handle: "done" });
});

test("a loop over a glue body ends by its condition (S3.30)", () => {
  const loop = {
    id: "l",
    type: "loop",
    config: { until: "index == 2", max_iterations: 10, body: { type: "noop" } },
  };
  const run = startToyRun(sketch(["s", loop], ["s>l"]), null, budget());
  expect(run.node("l")).toMatchObject({ status: "completed", output: "[{},{},{}]" });
});

test("the body of a map that a user wrote is queued for executors", () => {
  const map = { id: "m", type: "map", config: { items: [1], body: { type: "task" } } };
  const run = startToyRun(sketch(["s", map], ["s>m"]), null, budget());
  expect(run.types().slice(-2)).toEqual(["node.expanded m", "node.queued m#1"]);
});

test.each([
  ["a limit", { concurrency: { key: "k", limit: 1 } }],
  ["a contract", { contracts: { input: { type: "object" } } }],
  ["moderation", { moderation: "input" }],
])("a glue node with %s is queued for an executor", (_what, more) => {
  const run = startToyRun(sketch(["s", noop("n", more)], ["s>n"]), null, budget());
  expect(run.node("n").status).toBe("queued");
});

test("a glue type whose queue is paused is queued", () => {
  const held = { ...budget(), mayComplete: (type: string) => type !== "noop" };
  const run = startToyRun(sketch(["s", noop("n")], ["s>n"]), null, held);
  expect(run.node("s").status).toBe("completed");
  expect(run.node("n").status).toBe("queued");
});

test("beyond the budget of a tick a glue node is queued for a later tick", () => {
  const small = budget(900);
  const graph = sketch(["s", noop("a"), noop("b"), noop("c")], ["s>a", "a>b", "b>c"]);
  const run = startToyRun(graph, null, small);
  expect(run.node("s").status).toBe("completed");
  expect(run.types().at(-1)).toMatch(/^node\.queued /);
});

test("a condition that loops is charged for every part of it, once for each value it may visit", () => {
  const spent = (when: string): number => {
    const left = budget();
    startToyRun(sketch(["s", branch(when)], ["s>c"]), { list: Array(500).fill(1) }, left);
    return LIMITS.inlineBytes - left.bytes;
  };
  const plain = spent("ctx.input.list[0] == 1");
  expect(spent("ctx.input.list.exists(x, x == 2 || x == 3 || x == 4)")).toBeGreaterThan(4 * plain);
});

const sanitize = (value: string, pattern: string) => ({
  ...{ id: "n", type: "sanitize" },
  config: { value, drop: ["net"], reason: "checked", pattern },
});

test("a sanitize node is charged for each instruction of its pattern, also for each template of its value", () => {
  const spent = (value: string, pattern: string): number => {
    const left = budget();
    startToyRun(sketch(["s", sanitize(value, pattern)], ["s>n"]), { text: "a".repeat(200) }, left);
    return LIMITS.inlineBytes - left.bytes;
  };
  const one = spent("{{ ctx.input.text }}", "a");
  const more = spent("{{ ctx.input.text }}", "(?:a|b){1,40}");
  expect(more).toBeGreaterThan(10 * one);
  expect(spent("{{ ctx.input.text }}{{ ctx.input.text }}", "(?:a|b){1,40}")).toBeGreaterThan(
    1.5 * more,
  );
});

test.each([
  ["a template brings in", "{{ ctx.input.text }}", "a".repeat(1_000)],
  ["its config has", "a".repeat(1_000), ""],
])(
  "a pattern that would stall the scheduler on a text that %s is matched by an executor",
  (_, value, text) => {
    const pattern = "(?:[ab]{1,40}a){1,22}[cd]$";
    const run = startToyRun(sketch(["s", sanitize(value, pattern)], ["s>n"]), { text }, budget());
    expect(run.node("n").status).toBe("queued");
  },
);
