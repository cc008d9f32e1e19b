import { expect, test } from "vitest";
import { graphOf, sketch, startToyRun } from "../../test/toy-run.ts";
import { LIMITS } from "../data/limits.ts";
import { isFinal } from "../log/event.ts";
import { decide } from "./plan.ts";

test("a chain runs node by node and completes (S1.21, S3.22)", () => {
  const run = startToyRun(sketch(["a", "b", "c"], ["a>b", "b>c"]));
  for (const id of ["a", "b", "c"]) run.complete(id);
  expect(run.types()).toEqual(
    ["run.started"].concat(
      ["a", "b", "c"].flatMap((id) => [
        `node.queued ${id}`,
        `node.started ${id}`,
        `node.completed ${id}`,
      ]),
      "run.completed",
    ),
  );
});

test("nodes start as soon as they can, without waiting for their wave (S3.1, X12)", () => {
  const run = startToyRun(sketch(["a", "slow", "fast", "next"], ["a>slow", "a>fast", "fast>next"]));
  run.complete("a");
  run.claim("slow");
  run.complete("fast");
  expect(run.node("next").status).toBe("queued");
  expect(run.state.graph.nodes.map((node) => node.wave)).toEqual([0, 1, 1, 2]);
});

test("a join with mode all waits for every parent (S3.20)", () => {
  const run = startToyRun(sketch(["a", "b", "c", "d"], ["a>b", "a>c", "b>d", "c>d"]));
  run.complete("a");
  run.complete("b");
  expect(run.node("d").status).toBe("pending");
  run.complete("c");
  expect(run.node("d").status).toBe("queued");
});

test("a join with mode any fires once; late parents are ignored (S3.21, X11)", () => {
  const run = startToyRun(
    sketch(["a", "b", "c", { id: "d", join: "any" }], ["a>b", "a>c", "b>d", "c>d"]),
  );
  run.complete("a");
  run.complete("c");
  expect(run.node("d").status).toBe("queued");
  run.complete("d");
  run.complete("b");
  expect(run.types().filter((type) => type === "node.queued d")).toHaveLength(1);
  expect(run.state.status).toBe("completed");
});

test("a join of n of m fires with the n-th taken edge, and is skipped when n cannot be reached (X11)", () => {
  const graph = () =>
    sketch(
      ["a", "b", "c", "d", { id: "e", join: { n_of_m: 2 } }],
      ["a>b", "a>c", "a>d", "b>e", "c:x>e", "d>e"],
    );
  const run = startToyRun(graph());
  run.complete("a");
  run.complete("b");
  expect(run.node("e").status).toBe("pending");
  run.complete("d");
  expect(run.node("e").status).toBe("queued");
  const unreached = startToyRun(graph());
  unreached.complete("a");
  unreached.complete("b");
  unreached.complete("c");
  unreached.claim("d");
  unreached.report("d", { kind: "completed", outputJson: "1", handle: "error", durationMs: 1 });
  expect(unreached.node("e").status).toBe("skipped");
});

test("an untaken branch is skipped all the way down and does not hang the join behind it (S1.23, S3.28, X11)", () => {
  const run = startToyRun(
    sketch(
      ["a", "yes", "no", "no2", "join"],
      ["a:yes>yes", "a:no>no", "no>no2", "yes>join", "no2>join"],
    ),
  );
  run.complete("a", null, { handle: "yes" });
  expect(run.node("no")).toMatchObject({ status: "skipped", message: "untaken_branch" });
  expect(run.node("no2").status).toBe("skipped");
  run.complete("yes");
  expect(run.node("join").status).toBe("queued");
  run.complete("join");
  expect(run.state.status).toBe("completed");
});

const policies = (policy: string) =>
  startToyRun(
    sketch(["a", "b", { id: "c", on_parent_failure: policy }, "d"], ["a>b", "b>c", "c>d"]),
  );

test("on_parent_failure skip skips the node, and a dependent that propagates has no failure to pass on (S1.23)", () => {
  const run = policies("skip");
  run.complete("a");
  run.fail("b");
  expect(run.node("c")).toMatchObject({ status: "skipped", message: "parent_not_completed" });
  expect(run.node("d")).toMatchObject({ status: "skipped", message: "parent_not_completed" });
  expect(run.state).toMatchObject({ status: "completed", hasFailures: true });
});

test("a node that substitutes defaults runs behind nodes that were skipped after a failure (S1.23, S1.25)", () => {
  const nodes = [
    "a",
    { id: "b", on_parent_failure: "skip" },
    "c",
    { id: "d", on_parent_failure: "substitute_default" },
    "e",
  ];
  const run = startToyRun(sketch(nodes, ["a>b", "b>c", "c>d", "d>e"]));
  run.fail("a");
  expect(run.node("b").status).toBe("skipped");
  expect(run.node("c").status).toBe("skipped");
  run.complete("d");
  run.complete("e");
  expect(run.state).toMatchObject({ status: "completed", hasFailures: true });
});

test("a node that substitutes defaults stays skipped behind a branch that was not taken (S1.25, S3.28)", () => {
  const brave = { id: "brave", on_parent_failure: "substitute_default" };
  const run = startToyRun(sketch(["a", "yes", "no", brave], ["a:yes>yes", "a:no>no", "no>brave"]));
  run.complete("a", null, { handle: "yes" });
  expect(run.node("brave")).toMatchObject({ status: "skipped", message: "untaken_branch" });
});

test("on_parent_failure propagate fails the node without a call (S1.24)", () => {
  const run = policies("propagate");
  run.complete("a");
  run.fail("b");
  expect(run.node("c")).toMatchObject({
    status: "failed",
    message: "upstream_failure",
    attempt: 0,
    epoch: 0,
  });
  expect(run.state).toMatchObject({
    status: "failed",
    message: "node b failed: it broke: provider_error",
  });
});

test("on_parent_failure substitute_default runs the node (S1.25)", () => {
  const run = policies("substitute_default");
  run.complete("a");
  run.fail("b");
  run.complete("c");
  run.complete("d");
  expect(run.state).toMatchObject({ status: "completed", hasFailures: true });
});

test("a delay releases its children later without holding a worker (S3.29, S3.36)", () => {
  const run = startToyRun(sketch(["a", "b"], ["a>b"]));
  run.complete("a", null, { queueDelayMs: 60_000 });
  expect(run.node("b")).toMatchObject({ status: "queued", notBefore: run.now + 60_000 });
});

test("of several delays the latest counts, and one that has passed does not", () => {
  const run = startToyRun(sketch(["a", "b", "c", "d"], ["a>b", "a>c", "b>d", "c>d"]));
  run.complete("a");
  run.complete("b", null, { queueDelayMs: 100 });
  run.now += 1_000;
  run.complete("c", null, { queueDelayMs: 50 });
  expect(run.node("d").notBefore).toBe(run.now + 50);
  const passed = startToyRun(sketch(["a", "b", "c", "d"], ["a>b", "a>c", "b>d", "c>d"]));
  passed.complete("a");
  passed.complete("b", null, { queueDelayMs: 100 });
  passed.now += 1_000;
  passed.complete("c");
  expect(passed.node("d").notBefore).toBeUndefined();
});

test("fail_workflow cancels the rest and fails the run at once (S3.34)", () => {
  const run = startToyRun(
    sketch(["a", { id: "b", error_handling: "fail_workflow" }, "c", "d"], ["a>b", "a>c", "b>d"]),
  );
  run.complete("a");
  run.claim("c");
  run.fail("b");
  expect(run.node("c").status).toBe("cancelled");
  expect(run.node("d").status).toBe("cancelled");
  expect(run.state).toMatchObject({
    status: "failed",
    message: "node b failed: it broke: provider_error",
  });
  expect(run.types().at(-1)).toBe("run.failed");
});

test("a node that would read too much fails by name and is never sent", () => {
  const big = (id: string) => ({ id, output_variable: id });
  const ids = Array.from({ length: 9 }, (_, index) => `v${index}`);
  const run = startToyRun(
    sketch(
      ["a", ...ids.map(big), "z"],
      ids.flatMap((id) => [`a>${id}`, `${id}>z`]),
    ),
  );
  run.complete("a");
  for (const id of ids) run.complete(id, "x".repeat(LIMITS.valueBytes - 2));
  expect(run.node("z").status).toBe("failed");
  expect(run.events.find((event) => event.type === "node.failed")?.payload).toMatchObject({
    cause: "context_too_large",
  });
});

test("a failure before the first attempt is handled as any other; a parent's is not the node's own (X9)", () => {
  const concurrency = { key: "{{ ctx.input.shop }}", limit: 1 };
  const node = { id: "a", concurrency, error_handling: "continue" };
  const child = { id: "b", error_handling: "continue" };
  const handled = startToyRun(sketch([node, child], ["a:error>b"]), {});
  expect(handled.types()).toEqual(["run.started", "node.completed a", "node.queued b"]);
  expect(JSON.parse(handled.node("a").output ?? "")).toMatchObject({
    error: { cause: "limit_key_invalid" },
  });
  const upstream = startToyRun(sketch(["a", child], ["a>b"]));
  upstream.fail("a");
  expect(upstream.node("b")).toMatchObject({ status: "failed", message: "upstream_failure" });
});

test("a join of nine thousand small parents is sent", () => {
  const ids = Array.from({ length: 9_000 }, (_, index) => `parent-number-${index}`);
  const graph = sketch(
    ["a", ...ids, "z"],
    ids.flatMap((id) => [`a>${id}`, `${id}>z`]),
  );
  const run = startToyRun(graph);
  run.complete("a");
  for (const id of ids) run.complete(id, { from: id }, { handle: "out" });
  expect(run.node("z").status).toBe("queued");
});

test("planning again adds nothing, and a finished run decides nothing", () => {
  const run = startToyRun(sketch(["a", "b"], ["a>b"]));
  expect(decide(run.state, run.now)).toEqual([]);
  run.complete("a");
  expect(decide(run.state, run.now)).toEqual([]);
  run.complete("b");
  expect(isFinal(run.state.status)).toBe(true);
  expect(decide(run.state, run.now)).toEqual([]);
});

test("a join that is not ready is looked at once per parent, not once per plan (S3.19)", () => {
  const run = startToyRun(sketch(["a", "b", "c", "d"], ["a>b", "a>c", "b>d", "c>d"]));
  run.complete("a");
  run.complete("b");
  expect(run.node("d").status).toBe("pending");
  expect(run.state.frontier.size).toBe(0);
});

test("ten thousand skipped nodes in a chain cascade without recursion (S3.19)", () => {
  const count = 9_999;
  const run = startToyRun(
    graphOf({
      nodes: [
        { id: "s", type: "start" },
        ...Array.from({ length: count }, (_, index) => ({ id: `n${index}`, type: "noop" })),
      ],
      edges: Array.from({ length: count }, (_, index) =>
        index === 0
          ? { source: "s", target: "n0", source_handle: "never" }
          : { source: `n${index - 1}`, target: `n${index}` },
      ),
    }),
  );
  run.complete("s");
  expect(run.state.status).toBe("completed");
  expect(run.events.filter((event) => event.type === "node.skipped")).toHaveLength(count);
});

test("a result looks at the children of its node and at nothing else (S3.19)", () => {
  // A counting proxy in place of a clock: reads of node states per result must not grow with the graph.
  const readsFor = (width: number): number => {
    const ids = Array.from({ length: width }, (_, index) => `w${index}`);
    const run = startToyRun(
      sketch(
        ["a", ...ids, "join"],
        ids.flatMap((id) => [`a>${id}`, `${id}>join`]),
      ),
    );
    run.complete("a");
    run.claim("w0");
    let reads = 0;
    const nodes = run.state.nodes;
    const counted = nodes.map((node) => ({ ...node }));
    for (const [index, node] of counted.entries())
      Object.defineProperty(nodes, index, {
        get: () => {
          reads++;
          return node;
        },
      });
    run.report("w0", { kind: "completed", outputJson: "1", durationMs: 1 });
    return reads;
  };
  expect(readsFor(2_000)).toBe(readsFor(20));
});
