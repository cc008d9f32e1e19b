import { expect, test } from "vitest";
import { completed, expanded, failed, sketch, startToyRun } from "../../test/toy-run.ts";
import { LIMITS } from "../data/limits.ts";
import { contextJson } from "../log/context.ts";
import { nodeJson } from "../log/node-json.ts";
import { onCancel } from "./stop.ts";

const map = ({ body = {}, ...config }: { body?: object; [key: string]: unknown } = {}) => ({
  id: "m",
  type: "map",
  config: { items: [], body: { type: "task", ...body }, ...config },
});

/** A run whose map has these items. */
function setup(items: readonly unknown[], node: object = map(), edges = ["s>m", "m>after"]) {
  const run = startToyRun(sketch(["s", node as { id: string }, "after"], edges), { n: 1 });
  run.complete("s", ["a", "b"]);
  run.claim("m");
  run.report("m", expanded(items));
  return run;
}

test("a map gives its claim back and queues as many iterations as it may (S3.30)", () => {
  const run = setup([1, 2, 3], map({ parallelism: 2 }));
  expect(run.node("m")).toMatchObject({ status: "waiting", scope: { width: 3, openCount: 2 } });
  run.complete("m#2", "two");
  expect(run.types().slice(-1)).toEqual(["node.queued m#3"]);
  run.complete("m#3", "three");
  run.complete("m#1", "one");
  expect(run.node("m")).toMatchObject({
    status: "completed",
    handle: "loop",
    output: '["one","two","three"]',
  });
  expect(run.node("after").status).toBe("queued");
});

test("a map without items is done (S3.30)", () => {
  const run = setup([], map(), ["s>m", "m:done>after"]);
  expect(run.node("m")).toMatchObject({ status: "completed", handle: "done", output: "[]" });
  expect(run.node("after").status).toBe("queued");
});

test("the first iteration that fails for good fails the node and cancels the others", () => {
  const run = setup([1, 2, 3, 4], map({ parallelism: 3 }));
  run.claim("m#1");
  run.fail("m#2");
  expect(run.execution("m#1").status).toBe("cancelled");
  expect(run.execution("m#3").status).toBe("cancelled");
  expect(run.node("m")).toMatchObject({ status: "failed" });
  expect(run.node("m").message).toContain("iteration 2");
  expect(run.node("m").scope?.items).toHaveLength(3);
  expect(run.report("m#1", completed("late")).kind).toBe("stale");
  expect(run.state.status).toBe("failed");
});

test("with continue a failed iteration is null, and the run says so", () => {
  const run = setup([1, 2], map({ on_item_failure: "continue" }));
  run.fail("m#1");
  run.complete("m#2", 2);
  expect(run.node("m").output).toBe("[null,2]");
  expect(run.state.hasFailures).toBe(true);
});

test("a node with an error edge leaves by it when an iteration fails", () => {
  const run = setup([1], map(), ["s>m", "m:error>after"]);
  run.fail("m#1");
  expect(run.node("m")).toMatchObject({ status: "completed", handle: "error" });
  expect(run.node("m").output).toContain("item_failed");
});

test("an iteration is retried, lost and queued again by itself", () => {
  const run = setup([1, 2], map({ body: { retry: { attempts: 2 } } }));
  run.fail("m#1");
  expect(run.execution("m#1")).toMatchObject({ status: "queued", attempt: 2 });
  run.claim("m#2");
  run.lose("m#2");
  expect(run.execution("m#2")).toMatchObject({ status: "queued", attempt: 1, lostDeliveries: 1 });
  run.complete("m#1", 1);
  const epoch = run.claim("m#2");
  run.report("m#2", completed(2));
  expect(run.report("m#2", completed(2), epoch).kind).toBe("duplicate");
  expect(run.node("m").output).toBe("[1,2]");
});

test("outputs that are together too large for the log fail the node by name", () => {
  const run = setup([1, 2, 3], map({ parallelism: 1 }));
  const half = "x".repeat(LIMITS.valueBytes / 2 + 1);
  run.complete("m#1", half);
  run.complete("m#2", half);
  expect(run.node("m")).toMatchObject({ status: "failed" });
  expect(run.events.at(-3)?.payload).toMatchObject({ cause: "output_too_large" });
  expect(run.node("m").scope?.items).toHaveLength(2);
});

test("only a map or a loop has items, and not too many", () => {
  const run = startToyRun(sketch(["s", "a"], ["s>a"]));
  run.complete("s");
  run.claim("a");
  run.report("a", expanded([1]));
  expect(run.node("a").status).toBe("failed");
  const wide = setup(Array.from({ length: LIMITS.scopeWidth + 1 }, () => 0));
  expect(wide.node("m").message).toContain("at most 10000");
});

test("a cancelled run cancels the iterations under way and queues no more", () => {
  const run = setup([1, 2, 3], map({ parallelism: 2 }));
  run.claim("m#1");
  const stop = onCancel(run.state, { reason: "enough", requestId: "", now: 0 });
  const told = stop.kind === "accepted" ? stop.facts : [];
  expect(told.map(({ type, nodeId, iteration }) => `${type} ${nodeId}#${iteration}`)).toEqual([
    "node.cancelled m#1",
    "node.cancelled m#2",
    "node.cancelled m#0",
    "node.cancelled after#0",
    "run.cancelled #0",
  ]);
});

test("an iteration reads its own item, and of the rest what its body names", () => {
  const body = { type: "http", config: { url: "http://x/{{item.id}}/{{ctx.nodes.s[0]}}" } };
  const run = setup([{ id: 1 }, { id: 2 }], map({ body }));
  expect(JSON.parse(contextJson(run.state, 1, 2))).toEqual({
    input: null,
    nodes: { s: ["a", "b"] },
    vars: {},
    item: { id: 2 },
    index: 1,
  });
  expect(JSON.parse(nodeJson(run.state.graph, 1, "body"))).toMatchObject({
    node: body,
    bindings: [],
  });
  const bare = setup([1], map({ body: { type: "noop" } }));
  expect(JSON.parse(contextJson(bare.state, 1, 1))).toMatchObject({ input: null, nodes: {} });
  const other = setup([1], map({ body: { type: "acme.any" } }));
  expect(JSON.parse(contextJson(other.state, 1, 1))).toMatchObject({
    input: { n: 1 },
    nodes: { s: ["a", "b"] },
  });
});

const loop = (more: object = {}) => ({
  id: "m",
  type: "loop",
  config: { times: 3, body: { type: "task" }, ...more },
});

test("a loop goes one by one and hands on what it gave (S3.30, X13)", () => {
  const run = setup([0, 1, 2], loop());
  expect(JSON.parse(contextJson(run.state, 1, 1))).toMatchObject({ previous: null, index: 0 });
  run.complete("m#1", "first");
  expect(run.node("m").scope?.openCount).toBe(1);
  expect(JSON.parse(contextJson(run.state, 1, 2))).toMatchObject({ previous: "first" });
  run.complete("m#2", "second", { stop: true });
  expect(run.node("m")).toMatchObject({ status: "completed", output: '["first","second"]' });
});

test("a loop that runs out of iterations before it ends fails by name (X13)", () => {
  const run = startToyRun(sketch(["s", loop()], ["s>m"]));
  run.complete("s");
  run.claim("m");
  run.report("m", expanded([0, 1], true));
  run.complete("m#1");
  run.complete("m#2");
  expect(run.node("m").status).toBe("failed");
  expect(run.events.at(-2)?.payload).toMatchObject({ cause: "max_iterations" });
});

test("a delay inside a loop holds the next iteration, inside a map the nodes after the map (S3.29)", () => {
  const run = setup([0, 1], loop());
  run.complete("m#1", null, { queueDelayMs: 500 });
  expect(run.execution("m#2").notBefore).toBe(run.now + 500);
  const wide = setup([0, 1], map({ parallelism: 1 }));
  wide.complete("m#1", null, { queueDelayMs: 500 });
  expect(wide.execution("m#2").notBefore).toBeUndefined();
  wide.complete("m#2");
  expect(wide.node("after").notBefore).toBe(wide.now + 500);
});

test("an iteration fails by its own timeout, and the cause tells the body's failure from the node's", () => {
  const run = setup([1], map({ body: { timeout_ms: 50 } }));
  run.claim("m#1");
  run.report("m#1", failed("timeout"));
  expect(run.execution("m#1")).toMatchObject({
    status: "timed_out",
    message: "timed out after 50 ms",
  });
  expect(run.node("m").status).toBe("failed");
});
