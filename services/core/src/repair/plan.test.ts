import { expect, test } from "vitest";
import { completed, failed, RUN, sketch, startToyRun, type ToyRun } from "../../test/toy-run.ts";
import type { Graph } from "../definition/graph.ts";
import { eventsUpTo } from "./ends.ts";
import { isAgain, planRepair, planText, type RepairPlan, type RepairRequest } from "./plan.ts";

const NOTE = { who: "ada", reason: "fix" };

function planned(run: ToyRun, asked: Partial<RepairRequest> & { seq?: number } = {}) {
  const { graph } = run.state;
  const { seq, ...rest } = asked;
  const events = seq === undefined ? run.events : eventsUpTo(run.events, seq);
  const none = { fromNodes: new Set<string>(), keepNodes: new Set<string>(), outputs: [] };
  return planRepair({ runId: RUN, graph, events }, { graph, ...none, note: NOTE, ...rest }, 5_000);
}

function planOf(run: ToyRun, asked?: Parameters<typeof planned>[1]): RepairPlan {
  const made = planned(run, asked);
  if (!made.ok) throw new Error(made.message);
  return made.plan;
}

const wordsOf = ({ nodes }: RepairPlan) =>
  Object.fromEntries(nodes.map(({ nodeId, action, reason }) => [nodeId, `${action}: ${reason}`]));

/** start, a and b completed; c failed; d was never reached. */
function failedChain(graph: Graph = chain()): ToyRun {
  const run = startToyRun(graph);
  for (const id of ["start", "a", "b"]) run.complete(id, id);
  run.fail("c", "provider_error", true);
  return run;
}

const chain = (config: object = {}) =>
  sketch(["start", { id: "a", config }, "b", "c", "d"], ["start>a", "a>b", "b>c", "c>d"]);

test("a plan reuses what completed, with the events that prove it, and runs the rest with the reason (X28)", () => {
  const run = failedChain();
  const plan = planOf(run);
  expect(wordsOf(plan)).toEqual({
    start: "reuse: completed",
    a: "reuse: completed",
    b: "reuse: completed",
    c: "run: failed",
    d: "run: failed",
  });
  const [, a] = plan.nodes;
  expect(run.events[(a?.eventId ?? 0) - 1]).toMatchObject({ type: "node.completed", nodeId: "a" });
  expect(plan.facts.map(({ payload: { reused } }) => reused)).toEqual(
    plan.nodes.slice(0, 3).map(({ eventId }) => eventId),
  );
});

test("a changed node runs again with what was decided on it, unless the user keeps it; other fields are no change (X28)", () => {
  const run = failedChain();
  const graph = chain({ url: "x" });
  const plan = planOf(run, { graph });
  expect(wordsOf(plan)).toMatchObject({ a: "run: its definition changed", b: "run: a runs again" });
  expect(plan.nodes[1]).toMatchObject({ change: "changed", changedFields: ["config"] });
  const kept = planOf(run, { graph, keepNodes: new Set(["a"]) });
  expect(wordsOf(kept)).toMatchObject({ a: "reuse: completed", b: "reuse: completed" });
  expect(kept.warnings).toEqual(["node a: its config changed, and its result is kept"]);
  const later = sketch(
    [
      "start",
      { id: "a", config: {}, label: "A", retry: { attempts: 9 }, timeout_ms: 7 },
      "b",
      "c",
      "d",
    ],
    ["start>a", "a>b", "b>c", "c>d"],
  );
  expect(planOf(run, { graph: later }).nodes[1]).toMatchObject({ action: "reuse", change: "none" });
});

test("a node that reads memory or variables of a node that runs again runs again, although no edge leads there (X28)", () => {
  const graph = sketch(
    [
      "start",
      { id: "w", write_key: "k" },
      { id: "gate" },
      { id: "r", read_keys: ["k"] },
      { id: "n", read_keys: [] },
    ],
    ["start>w", "start>gate", "gate>r", "gate>n"],
  );
  const run = startToyRun(graph);
  for (const id of ["start", "w", "gate", "r", "n"]) run.complete(id, id);
  expect(wordsOf(planOf(run, { fromNodes: new Set(["w"]) }))).toMatchObject({
    w: "run: as asked",
    gate: "reuse: completed",
    r: "run: it reads values that change",
    n: "reuse: completed",
  });
});

test("an output set by hand completes its node with name and reason; what the node cannot have is refused (X28)", () => {
  const run = failedChain();
  const set = (handle?: string) => ({ outputs: [{ nodeId: "c", json: '{"x":1}', handle }] });
  const plan = planOf(run, set());
  expect(wordsOf(plan)).toMatchObject({ c: "set: a user sets its output", d: "run: failed" });
  expect(plan.facts.at(-1)).toMatchObject({ value: '{"x":1}', payload: { set: NOTE } });
  expect(planned(run, set("no"))).toMatchObject({ ok: false, nodeId: "c" });
  const branch = sketch(["start", "c", "yes"], ["start>c", "c:yes>yes"]);
  const other = startToyRun(branch);
  other.complete("start");
  other.fail("c", "provider_error", true);
  expect(planned(other, set())).toMatchObject({
    message: expect.stringContaining("needs a handle"),
  });
  expect(planned(other, set("yes"))).toMatchObject({ ok: true });
});

test("from an event, nothing that happened later is reused (X28)", () => {
  const run = failedChain();
  const seq = run.events.find(
    ({ type, nodeId }) => type === "node.completed" && nodeId === "a",
  )?.seq;
  expect(wordsOf(planOf(run, { seq: seq ?? 0 }))).toMatchObject({
    a: "reuse: completed",
    b: "run: was not reached",
  });
});

test("the same request gives the same plan; another one gives another (X28)", () => {
  const run = failedChain();
  expect(planText(planOf(run))).toBe(planText(planOf(run)));
  expect(planText(planOf(run))).not.toBe(planText(planOf(run, { fromNodes: new Set(["b"]) })));
});

test("usage and effects are those of what runs again: tokens count once, and items that are reused do not count (X28)", () => {
  const graph = sketch(
    [
      "start",
      "llm",
      {
        id: "m",
        type: "map",
        config: { items: [], body: { type: "task" }, on_item_failure: "continue", parallelism: 3 },
      },
    ],
    ["start>llm", "start>m"],
  );
  const run = startToyRun(graph);
  run.complete("start");
  run.complete("llm", "text", { usage: { inputTokens: 3, outputTokens: 4 } });
  run.claim("m");
  run.report("m", { kind: "expanded", itemsJson: "[1,2,3]", width: 3, cut: false, durationMs: 1 });
  run.complete("m#1", 1);
  run.claim("m#2");
  run.report("m#2", { kind: "failed", cause: "x", message: "x", permanent: true, durationMs: 1 });
  run.claim("m#3");
  run.report("m#3", completed(3));
  const plan = planOf(run, { fromNodes: new Set(["llm"]) });
  expect(plan.usage).toEqual({ inputTokens: 3, outputTokens: 4 });
  const map = plan.nodes.find(({ nodeId }) => nodeId === "m");
  expect(map).toMatchObject({ action: "run_items", itemsReused: 2, itemsAgain: 1 });
  expect([1, 2, 3].map((item) => map !== undefined && isAgain(map, item))).toEqual([
    false,
    true,
    false,
  ]);
  expect(plan.facts.every(({ payload }) => !("usage" in payload))).toBe(true);
});

test("the plan counts what nodes reserve that the finished run never started (X28)", () => {
  const run = startToyRun(
    sketch(
      [
        { id: "a", reserve: { tokens: 7, cost_usd: 1 } },
        { id: "b", reserve: { tokens: 20, cost_usd: 0.5 } },
        { id: "c", type: "llm", config: { model: "m", prompt: "p", max_tokens: 100 } },
      ],
      ["a>b", "b>c"],
    ),
  );
  run.claim("a");
  run.report("a", failed("x", true));
  const { usage, reserved } = planOf(run);
  expect(usage).toEqual({ inputTokens: 0, outputTokens: 0 });
  expect(reserved.tokens).toBeGreaterThan(120);
  expect(reserved.tokens).toBeLessThan(200);
  expect(reserved.costMicros).toBe(500_000);
});

test("the plan counts the tokens and the cost of failed and retried attempts, and nothing of outputs that a user sets (X28)", () => {
  const graph = sketch(
    ["start", "a", { id: "b", type: "task", retry: { attempts: 2, backoff_ms: 0, jitter: false } }],
    ["start>a", "a>b"],
  );
  const usage = { inputTokens: 3, outputTokens: 4, costMicros: 50, model: "m" };
  const failure = { kind: "failed", cause: "x", message: "x", durationMs: 1, usage } as const;
  const run = startToyRun(graph);
  run.complete("start");
  run.complete("a", 1, { usage });
  run.claim("b");
  run.report("b", { ...failure, permanent: false });
  run.claim("b");
  run.report("b", { ...failure, permanent: true });
  expect(planOf(run).usage).toEqual({ inputTokens: 6, outputTokens: 8, costMicros: 100 });
  const outputs = [{ nodeId: "b", json: "1", handle: undefined }];
  expect(planOf(run, { outputs }).usage).toEqual({ inputTokens: 0, outputTokens: 0 });
});
