import { expect, test } from "vitest";
import {
  completed,
  EXECUTOR,
  expanded,
  failed,
  graphOf,
  sketch,
  startToyRun,
  type ToyRun,
} from "../../test/toy-run.ts";
import { handlerInput } from "../data/handler-input.ts";
import type { NodeContext } from "../data/scope.ts";
import type { Graph } from "../definition/graph.ts";
import { contextJson } from "../log/context.ts";
import { bindingsOf, nodeJson } from "../log/node-json.ts";
import type { Goto } from "../log/event.ts";
import { nodeId } from "../name/ids.ts";
import { onOutcome } from "./arrive.ts";
import { beforeFact, consequences } from "./consequences.ts";
import { followJump } from "./repeat.ts";
import type { Outcome } from "./result.ts";

/** start > draft > judge: judge:again leads back to draft, and `end` follows judge. */
function loop(more: { edge?: object; draft?: object; workflow?: object } = {}): Graph {
  return graphOf({
    ...more.workflow,
    nodes: [
      { id: "start", type: "start" },
      { id: "draft", type: "task", ...more.draft },
      { id: "judge", type: "task" },
      { id: "end", type: "task" },
    ],
    edges: [
      { source: "start", target: "draft", source_output_key: "text", target_param_label: "text" },
      { source: "draft", target: "judge" },
      { source: "judge", target: "end", source_handle: "done" },
      {
        source: "judge",
        target: "draft",
        source_handle: "again",
        loop: true,
        source_output_key: "better",
        target_param_label: "text",
        ...more.edge,
      },
    ],
  });
}

const goto = (id: string, kind: Goto["kind"] = "goto"): Partial<Outcome> => ({
  goto: { nodeId: nodeId(id), kind, reason: "test" },
});

/** Runs a round of the loop, whose iteration is `at`. */
function round(run: ToyRun, at: number, handle: string): void {
  run.complete(`draft#${at}`, { draft: at });
  run.complete(`judge#${at}`, { better: `text ${at}` }, { handle });
}

test("a loop edge runs its target and what follows again, until its source leaves another way (S2.9, X13)", () => {
  const run = startToyRun(loop());
  run.complete("start", { text: "first" });
  for (const at of [0, 1, 2, 3]) round(run, at, "again");
  round(run, 4, "done");
  expect(run.types().filter((type) => type.includes("end"))).toEqual(["node.queued end"]);
  run.complete("end");
  expect(run.state).toMatchObject({ status: "completed", iterationCount: 4 });
  expect(run.node("draft")).toMatchObject({ round: 4, base: 4, output: '{"draft":4}' });
  expect(run.events.filter(({ type }) => type === "node.invalidated")).toHaveLength(8);
});

test("the parameter of a loop edge takes the place of the others, in the rounds that it begins", () => {
  const run = startToyRun(loop());
  run.complete("start", { text: "first" });
  const inputAt = (at: number): unknown => {
    const index = run.index("draft");
    const context = JSON.parse(contextJson(run.state, index, at)) as NodeContext;
    const { node } = JSON.parse(nodeJson(run.state.graph, index, "node"));
    const made = handlerInput(node, bindingsOf(run.state.graph, index), context);
    return made.ok ? made.input : made;
  };
  expect(inputAt(0)).toEqual({ text: "first" });
  round(run, 0, "again");
  expect(inputAt(1)).toEqual({ text: "text 0" });
});

const ended = (run: ToyRun): unknown => {
  const last = run.events.at(-1);
  return last?.type === "run.failed" ? last.payload : last?.type;
};

test("a run that repeats more often than max_iterations allows fails with that cause (S2.10)", () => {
  const cases = [
    [{ workflow: { max_iterations: 2 } }, "the run may repeat 2 times"],
    [{ edge: { max_iterations: 2 } }, "its loop edge to draft may be taken 2 times"],
    [{ draft: { max_iterations: 3 } }, "node draft may run 3 times"],
  ] as const;
  for (const [more, why] of cases) {
    const run = startToyRun(loop(more));
    run.complete("start", { text: "" });
    for (const at of [0, 1, 2]) round(run, at, "again");
    const message = `node judge repeats too often: ${why}`;
    expect(ended(run)).toMatchObject({ failedNodeId: "judge", cause: "max_iterations", message });
    expect(run.node("end").status).toBe("cancelled");
  }
});

test("a run repeats 50 times unless its definition says otherwise (S2.10)", () => {
  const run = startToyRun(loop());
  run.complete("start", { text: "" });
  for (let at = 0; at <= 50; at++) round(run, at, "again");
  expect(run.state).toMatchObject({ status: "failed", iterationCount: 51, maxIterations: 50 });
});

test("a loop edge counts again once its target is reached another way", () => {
  const edges = [
    { source: "outer", target: "inner" },
    { source: "inner", target: "check" },
    { source: "check", target: "inner", source_handle: "in", loop: true, max_iterations: 1 },
    { source: "check", target: "outer", source_handle: "out", loop: true },
  ];
  const nodes = ["outer", "inner", "check"].map((id) => ({ id, type: "task" }));
  const run = startToyRun(graphOf({ nodes, edges }));
  run.complete("outer");
  for (const [at, handle] of ["in", "out", "in", "out"].entries()) {
    run.complete(`inner#${at}`);
    run.complete(`check#${at}`, null, { handle });
    if (handle === "out") run.complete(`outer#${(at + 1) / 2}`);
  }
  run.complete("inner#4");
  run.complete("check#4", null, { handle: "in" });
  run.complete("inner#5");
  run.complete("check#5", null, { handle: "in" });
  expect(ended(run)).toMatchObject({ cause: "max_iterations" });
});

test("a goto runs a later node next and takes none of the node's edges; the nodes between are skipped", () => {
  const run = startToyRun(sketch(["a", "b", "c", "d"], ["a>b", "b>c", "b>d", "c>d"]));
  run.complete("a", "from a", goto("d", "handoff"));
  expect(run.execution("d").status).toBe("queued");
  expect(contextJson(run.state, run.index("d"), 0)).toContain('"a":"from a"');
  run.complete("d");
  expect(["b", "c"].map((id) => run.node(id).status)).toEqual(["skipped", "skipped"]);
  expect(run.state).toMatchObject({ status: "completed", iterationCount: 1 });
  expect(run.node("d").round).toBe(0);
});

test("a goto to a missing node, to the start or from an item fails the node and names the nodes", () => {
  const body = { type: "task" };
  const graph = graphOf({
    nodes: [
      { id: "start", type: "start" },
      { id: "a", type: "task" },
      { id: "each", type: "map", config: { items: [], body } },
    ],
    edges: [
      { source: "start", target: "a" },
      { source: "start", target: "each" },
    ],
  });
  const failureOf = (act: (run: ToyRun) => void): unknown => {
    const run = startToyRun(graph);
    run.complete("start");
    act(run);
    return run.events.find(({ type }) => type === "node.failed")?.payload;
  };
  const cause = "action_invalid";
  expect(failureOf((run) => run.complete("a", 1, goto("nowhere")))).toMatchObject({
    cause,
    message: "goto nowhere: there is no such node; the nodes are a, each",
  });
  expect(failureOf((run) => run.complete("a", 1, goto("start")))).toMatchObject({ cause });
  const fromItem = failureOf((run) => {
    run.claim("each");
    run.report("each", expanded([1]));
    run.complete("each#1", 1, goto("a"));
  });
  expect(fromItem).toMatchObject({ cause });
});

test("a goto back cancels the work of a running branch, and its late result is stale", () => {
  const run = startToyRun(sketch(["s", "a", "left", "right"], ["s>a", "a>left", "a>right"]));
  run.complete("s");
  run.complete("a");
  const epoch = run.claim("left");
  run.claim("right");
  const seen: unknown[] = [];
  const watched: ToyRun["append"] = (fact) => {
    const before = beforeFact(run.state, fact);
    run.append(fact);
    seen.push(...consequences(before, fact, run.state).map(({ kind }) => `${fact.nodeId} ${kind}`));
  };
  const landing = { nodeIndex: run.index("right"), iteration: 0, executorId: EXECUTOR, jitter: 1 };
  const at = { ...landing, epoch: run.execution("right").epoch, now: run.now };
  const arrival = onOutcome(run.state, { ...at, outcome: completed(null, goto("a")) });
  if (arrival.kind === "accepted") arrival.facts.forEach(watched);
  const jumped = followJump(run.state, run.now);
  if (jumped.kind === "facts") jumped.facts.forEach(watched);
  run.plan();
  expect(seen).toEqual(["right close_claim", "left close_claim"]);
  expect(run.execution("a#1").status).toBe("queued");
  expect(["left", "right"].map((id) => run.node(id).status)).toEqual(["pending", "pending"]);
  const late = { nodeIndex: run.index("left"), iteration: 0, executorId: EXECUTOR, jitter: 1 };
  const outcome = completed("late");
  expect(onOutcome(run.state, { ...late, epoch, now: run.now, outcome }).kind).toBe("stale");
});

test("of two jumps in one commit the later is void if the earlier ended its round", () => {
  const run = startToyRun(sketch(["s", "a", "b", "c"], ["s>a", "a>b", "a>c"]));
  run.complete("s");
  run.complete("a");
  for (const id of ["b", "c"]) {
    const epoch = run.claim(id);
    const landing = { nodeIndex: run.index(id), iteration: 0, executorId: EXECUTOR, jitter: 1 };
    const outcome = completed(id, goto("a"));
    const arrival = onOutcome(run.state, { ...landing, epoch, now: run.now, outcome });
    if (arrival.kind === "accepted") arrival.facts.forEach(run.append);
  }
  run.plan();
  expect(run.node("a")).toMatchObject({ round: 1, status: "queued", entry: { output: '"b"' } });
  expect(run.state.jumps).toEqual([]);
});

test("a join behind a loop fires once, and one that another branch fired keeps its result", () => {
  const nodes = [
    ...["a", "check", "side", "all"].map((id) => ({ id, type: "task" })),
    { id: "any", type: "task", join: "any" },
  ];
  const edges = [
    { source: "a", target: "check" },
    { source: "check", target: "a", source_handle: "again", loop: true },
    ...["all", "any"].map((target) => ({ source: "check", target, source_handle: "done" })),
    ...["all", "any"].map((target) => ({ source: "side", target })),
  ];
  const run = startToyRun(graphOf({ nodes, edges }));
  run.complete("side");
  run.complete("any");
  run.complete("a");
  run.complete("check", null, { handle: "again" });
  expect(run.node("any")).toMatchObject({ status: "completed", round: 0 });
  run.complete("a#1");
  run.complete("check#1", null, { handle: "done" });
  run.complete("all");
  expect(run.state.status).toBe("completed");
  for (const id of ["all", "any"])
    expect(run.types().filter((type) => type === `node.queued ${id}`)).toHaveLength(1);
});

test("a map in a loop runs its items again under iterations of their own", () => {
  const nodes = [
    { id: "each", type: "map", config: { items: [], body: { type: "task" }, parallelism: 3 } },
    { id: "check", type: "task" },
  ];
  const edges = [
    { source: "each", target: "check" },
    { source: "check", target: "each", source_handle: "again", loop: true },
  ];
  const run = startToyRun(graphOf({ nodes, edges }));
  run.claim("each");
  run.report("each", expanded(["x", "y"]));
  for (const at of [1, 2]) run.complete(`each#${at}`, at);
  run.complete("check", null, { handle: "again" });
  run.claim("each#3");
  run.report("each#3", expanded(["z"]));
  expect(contextJson(run.state, run.index("each"), 4)).toContain('"item":"z","index":0');
  run.complete("each#4", "last");
  expect(run.node("each")).toMatchObject({ base: 3, output: '["last"]' });
});

test("the failure of an ended round neither fails the run nor names it", () => {
  const run = startToyRun(sketch(["s", "a", "b", "c"], ["s>a", "s>b", "b>c"]));
  run.complete("s");
  run.claim("a");
  run.report("a", failed("provider_error", true));
  run.claim("b");
  run.report("b", completed(null, goto("a")));
  run.complete("a#1");
  expect(run.state).toMatchObject({ status: "completed", hasFailures: true });
  expect(run.state.firstFailedNode).toBeUndefined();
});

test("an output variable keeps its value until its node completes again", () => {
  const run = startToyRun(sketch(["s", { id: "a", output_variable: "x" }, "b"], ["s>a", "a>b"]));
  run.complete("s");
  run.complete("a", "old");
  run.complete("b", null, goto("a"));
  expect(contextJson(run.state, run.index("a"), 1)).toContain('"vars":{"x":"old"}');
  const bytes = run.state.variablesBytes;
  run.complete("a#1", "new");
  expect(contextJson(run.state, run.index("b"), 1)).toContain('"vars":{"x":"new"}');
  expect(run.state.variablesBytes).toBe(bytes);
});
