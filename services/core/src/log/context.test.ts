import { expect, test } from "vitest";
import { graphOf, sketch, startToyRun } from "../../test/toy-run.ts";
import { LIMITS } from "../data/limits.ts";
import { utf8Bytes } from "../data/utf8.ts";
import {
  CONTEXT_OMITTED,
  contextBytes,
  contextJson,
  OUTPUT_OMITTED,
  runContextJson,
  runOutputJson,
} from "./context.ts";
import { nodeJson } from "./node-json.ts";

const context = (run: ReturnType<typeof startToyRun>, id: string): unknown =>
  JSON.parse(contextJson(run.state, run.index(id), 0));

test("the context holds the run's input, the parents' outputs and the variables so far (S3.14, S3.15)", () => {
  const run = startToyRun(
    sketch([{ id: "a", output_variable: "first" }, "b", "c"], ["a>b", "b>c"]),
    { n: 1 },
  );
  run.complete("a", [1]);
  expect(context(run, "b")).toEqual({ input: { n: 1 }, nodes: { a: [1] }, vars: { first: [1] } });
  run.complete("b", "two");
  expect(context(run, "c")).toEqual({ input: { n: 1 }, nodes: { b: "two" }, vars: { first: [1] } });
});

test("a parent that did not lead here is absent, and handles name the way taken", () => {
  const run = startToyRun(
    sketch(
      ["a", "b", "c", { id: "d", on_parent_failure: "substitute_default" }],
      ["a>b", "a>c", "b:left>d", "c>d"],
    ),
  );
  run.complete("a");
  run.complete("b", 1, { handle: "left" });
  run.fail("c");
  expect(context(run, "d")).toEqual({
    input: null,
    nodes: { b: 1 },
    vars: {},
    handles: { b: "left" },
  });
});

test("contextBytes is an upper bound of the context's size", () => {
  const run = startToyRun(sketch([{ id: "a", output_variable: "v" }, "b"], ["a>b"]), {
    text: "äöü€😀",
  });
  run.complete("a", "€".repeat(100), { handle: '"\n"' });
  expect(contextBytes(run.state, 1, 0)).toBeGreaterThanOrEqual(
    utf8Bytes(contextJson(run.state, 1, 0)),
  );
});

test("a parent counts once, however many edges lead from it, and not at all where they were not taken", () => {
  const run = startToyRun(sketch(["a", "b", "c"], ["a:x>b", "a:y>b", "a:x>c"]));
  run.complete("a", "x".repeat(10_000), { handle: "x" });
  const exact = utf8Bytes(contextJson(run.state, 1, 0));
  expect(contextBytes(run.state, 1, 0)).toBeGreaterThanOrEqual(exact);
  expect(contextBytes(run.state, 1, 0)).toBeLessThan(exact + 200);
});

test("outputs are carried as text and never parsed", () => {
  const run = startToyRun(sketch(["a", "b"], ["a>b"]));
  run.claim("a");
  run.report("a", { kind: "completed", outputJson: '{"n":1.50}', durationMs: 1 });
  expect(contextJson(run.state, 1, 0)).toContain('"a":{"n":1.50}');
});

test("a node goes to its executor with its definition and one binding per incoming edge (S1.2, S1.3)", () => {
  const graph = graphOf({
    nodes: [
      { id: "a", type: "start" },
      { id: "b", type: "task", label: "The b", config: { k: "v" }, merge: "array" },
    ],
    edges: [
      {
        source: "a",
        target: "b",
        source_output_key: "x.y",
        target_param_label: "p",
        merge_strategy: "concat",
      },
    ],
  });
  const parsed: unknown = JSON.parse(nodeJson(graph, 1, "node"));
  expect(parsed).toMatchObject({
    node: { id: "b", type: "task", label: "The b", ordinal: 1, config: { k: "v" }, merge: "array" },
    bindings: [
      {
        source: "a",
        sourceLabel: "a",
        sourceHandle: null,
        sourceOutputKey: "x.y",
        targetParamLabel: "p",
        mergeStrategy: "concat",
      },
    ],
  });
  expect(nodeJson(graph, 1, "node")).toBe(nodeJson(graph, 1, "node"));
});

test("the output of the completed end node is the run's output (S3.15, S3.25)", () => {
  const run = startToyRun(sketch(["a", { id: "z", type: "end" }, "side"], ["a>z", "a>side"]));
  run.complete("a");
  run.complete("side", "no");
  run.complete("z", { done: true });
  expect(run.state).toMatchObject({ status: "completed", output: '{"done":true}' });
});

test("several end nodes give an object by id, none gives the leaves by id", () => {
  const ends = startToyRun(
    sketch(["a", { id: "x", type: "end" }, { id: "y", type: "end" }], ["a>x", "a>y"]),
  );
  ends.complete("a");
  ends.complete("x", 1);
  ends.complete("y", 2);
  expect(ends.state.output).toBe('{"x":1,"y":2}');
  const leaves = startToyRun(sketch(["a", "b", "c"], ["a>b", "a:never>c"]));
  leaves.complete("a");
  leaves.complete("b", 3);
  expect(leaves.state.output).toBe('{"b":3}');
});

test("a run output larger than any value of the log is left out by name", () => {
  const run = startToyRun(sketch(["a", "b", "c"], ["a>b", "a>c"]));
  run.complete("a");
  const half = "x".repeat(LIMITS.valueBytes - 10);
  run.complete("b", half);
  run.complete("c", half);
  expect(runOutputJson(run.state)).toBe(OUTPUT_OMITTED);
});

test("the context of a run has all outputs so far and variables; one that is too large is left out by name (S3.43)", () => {
  const big = "x".repeat(LIMITS.valueBytes - 10);
  const ids = Array.from(
    { length: LIMITS.contextBytes / LIMITS.valueBytes + 1 },
    (_, n) => `n${n}`,
  );
  const first = { id: "a", output_variable: "first" };
  const run = startToyRun(
    sketch(
      [first, ...ids],
      ids.map((id) => `a>${id}`),
    ),
  );
  run.complete("a", 1);
  expect(JSON.parse(runContextJson(run.state))).toMatchObject({
    nodes: { a: 1 },
    vars: { first: 1 },
  });
  for (const id of ids) run.complete(id, big);
  expect(runContextJson(run.state)).toBe(CONTEXT_OMITTED);
});
