import { expect, test } from "vitest";
import {
  compensation,
  task,
  undo,
  diamond,
  done,
  cancel,
  queued,
  lastOf,
} from "../../test/saga.ts";
import { expanded, graphOf, sketch, startToyRun } from "../../test/toy-run.ts";
import { contextJson } from "../log/context.ts";
import { executionDefinition } from "../log/execution.ts";
import { nodeJson } from "../log/node-json.ts";
import { undoOf } from "../log/undo-iteration.ts";

test("a run that fails is compensating, and undoes completed nodes in reverse order before it ends (S2.16, X8)", () => {
  const run = diamond();
  done(run, "s", "a", "b", "c");
  run.fail("d");
  expect(run.state.status).toBe("compensating");
  expect(run.events.findLast(({ type }) => type === "run.status.changed")?.payload).toMatchObject({
    from: "running",
    to: "compensating",
    deadlineAt: run.now + run.state.graph.definition.compensationTimeoutMs,
    ending: {
      end: "failed",
      failedNodeId: "d",
      message: "node d failed: it broke: provider_error",
    },
  });
  // b and c are independent of each other; a waits for both.
  expect(queued(run)).toEqual(["b#0", "c#0"]);
  run.complete(undo("c"));
  expect(queued(run)).toEqual(["b#0"]);
  run.complete(undo("b"));
  expect(queued(run)).toEqual(["a#0"]);
  run.complete(undo("a"), "undone");
  expect(lastOf(run)).toMatchObject({
    type: "run.failed",
    payload: { failedNodeId: "d", compensation: { undone: 3, left: 0, named: [] } },
  });
  expect(run.state).toMatchObject({ status: "failed", ending: undefined });
});

test("a compensation reads the output of its node and the input of the run, and nothing else (S2.16)", () => {
  const run = startToyRun(
    sketch(["s", task("a", { output_variable: "x", write_key: "k" }), "z"], ["s>a", "a>z"]),
    { order: 7 },
  );
  done(run, "s", "a");
  run.fail("z");
  const at = undoOf(0);
  expect(JSON.parse(contextJson(run.state, 1, at))).toEqual({
    input: { order: 7 },
    nodes: {},
    vars: { output: { did: "a" } },
  });
  const { node, bindings } = JSON.parse(nodeJson(run.state.graph, 1, "undo"));
  expect(bindings).toEqual([]);
  expect(node).toMatchObject({ id: "a", type: "undo", config: {}, input: "{{ ctx.output }}" });
  expect(node).not.toHaveProperty("compensation");
  expect(executionDefinition(run.state, 1, at)).toMatchObject({
    type: "undo",
    errorHandling: "fail_node",
  });
  // Its output is no output of the node: variables and memory stay.
  const before = run.state.memory.get("k")?.json;
  run.complete(undo("a"), "other");
  expect(run.state.memory.get("k")?.json).toBe(before);
  expect(run.node("a").output).toBe('{"did":"a"}');
});

test("a node that failed, was skipped or left by error has nothing to undo; a run without entries ends at once (S2.16)", () => {
  const run = startToyRun(
    sketch(["s", task("a", { error_handling: "continue" }), task("b")], ["s>a", "a>b"]),
  );
  done(run, "s");
  run.fail("a");
  expect(run.node("a")).toMatchObject({ status: "completed", handle: "error" });
  expect(run.state.undos.size).toBe(0);
  const other = diamond();
  done(other, "s");
  cancel(other);
  expect(lastOf(other)).toMatchObject({ type: "run.cancelled" });
  expect(lastOf(other)?.payload).not.toHaveProperty("compensation");
});

test("a compensation is retried by its own policy, and one that fails holds up no other (S2.16)", () => {
  const twice = { type: "undo", retry: { attempts: 2, jitter: false, backoff_ms: 10 } };
  const run = startToyRun(
    sketch(["s", task("a"), task("b", { compensation: twice }), "c"], ["s>a", "a>b", "b>c"]),
  );
  done(run, "s", "a", "b");
  run.fail("c");
  run.fail(undo("b"));
  expect(run.execution(undo("b"))).toMatchObject({ status: "queued", attempt: 2 });
  run.fail(undo("b"));
  expect(queued(run)).toEqual(["a#0"]);
  run.complete(undo("a"));
  const why: unknown = expect.stringMatching(/^it broke: provider_error .*attempt 2 of 2/);
  const named = [{ nodeId: "b", iteration: 0, why }];
  expect(lastOf(run)?.payload).toMatchObject({ compensation: { undone: 1, left: 1, named } });
});

test("a lost executor costs a delivery and no attempt of a compensation; three losses give it up (S2.16)", () => {
  const run = diamond();
  done(run, "s", "a");
  cancel(run);
  for (const lost of [1, 2]) {
    run.claim(undo("a"));
    run.lose(undo("a"));
    expect(run.execution(undo("a"))).toMatchObject({
      status: "queued",
      attempt: 1,
      lostDeliveries: lost,
    });
  }
  run.claim(undo("a"));
  run.lose(undo("a"));
  expect(run.execution(undo("a")).status).toBe("failed");
  expect(run.state.status).toBe("cancelled");
});

test("items of a map are undone at most as many at once as it runs, those of a loop one after the other (S2.16)", () => {
  const config = { items: [], body: { type: "task" }, parallelism: 2 };
  const map = { id: "m", type: "map", config, compensation };
  const run = startToyRun(sketch(["s", map, "z"], ["s>m", "m>z"]));
  done(run, "s");
  run.claim("m");
  run.report("m", expanded([1, 2, 3]));
  done(run, "m#1", "m#2", "m#3");
  run.fail("z");
  expect(queued(run)).toHaveLength(2);
  expect(run.state.undos.size).toBe(3);
  const loop = {
    id: "l",
    type: "loop",
    config: { times: 3, body: { type: "task" } },
    compensation,
  };
  const other = startToyRun(sketch(["s", loop, "z"], ["s>l", "l>z"]));
  done(other, "s");
  other.claim("l");
  other.report("l", expanded([1, 2]));
  done(other, "l#1", "l#2");
  other.fail("z");
  expect(queued(other)).toEqual(["l#2"]);
  other.complete(undo("l", 2));
  expect(queued(other)).toEqual(["l#1"]);
});

test("rounds are undone from the last to the first (S2.16)", () => {
  const graph = graphOf({
    nodes: [task("a"), task("b"), { id: "z", type: "task" }],
    edges: [
      { source: "a", target: "b" },
      { source: "b", target: "a", source_handle: "again", loop: true },
      { source: "b", target: "z", source_handle: "ok" },
    ],
  });
  const run = startToyRun(graph);
  run.complete("a");
  run.complete("b", null, { handle: "again" });
  run.complete("a#1");
  run.complete("b#1", null, { handle: "ok" });
  run.fail("z");
  for (const [id, iteration] of [
    ["b", 1],
    ["a", 1],
    ["b", 0],
    ["a", 0],
  ] as const) {
    expect(queued(run)).toEqual([`${id}#${iteration}`]);
    run.complete(undo(id, iteration));
  }
  expect(run.state.status).toBe("failed");
});

test("a compensation cannot jump, change the status of the run or have items (S2.16)", () => {
  const asked: readonly [object, string][] = [
    [{ goto: { nodeId: "b", kind: "goto", reason: "" } }, "action_invalid"],
    [
      { actions: [{ type: "set_status", status: "completed", message: "", outputJson: "" }] },
      "illegal_transition",
    ],
  ];
  for (const [more, cause] of asked) {
    const run = diamond();
    done(run, "s", "a");
    cancel(run);
    run.complete(undo("a"), null, more);
    expect(run.events.at(-2)).toMatchObject({ type: "node.failed", payload: { cause } });
    expect(run.state.status).toBe("cancelled");
  }
  const run = diamond();
  done(run, "s", "a");
  cancel(run);
  run.claim(undo("a"));
  run.report(undo("a"), expanded([1]));
  expect(run.events.at(-2)).toMatchObject({
    type: "node.failed",
    payload: { cause: "output_invalid" },
  });
});

test("a handler that fails the run with its output is undone too (S2.16)", () => {
  const run = diamond();
  done(run, "s");
  const fail = { type: "set_status", status: "failed", message: "", outputJson: "" } as const;
  run.complete("a", { did: "a" }, { actions: [fail] });
  expect(queued(run)).toEqual(["a#0"]);
});
