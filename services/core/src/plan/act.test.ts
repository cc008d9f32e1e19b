import { expect, test } from "vitest";
import { completed, graphOf, sketch, startToyRun, type ToyRun } from "../../test/toy-run.ts";
import type { Action } from "../action/kinds.ts";
import { LIMITS } from "../data/limits.ts";
import { APPROVAL, type RunStatus } from "../log/event.ts";
import { approvalId } from "../name/ids.ts";
import { maySet } from "./act.ts";
import { onOutcome } from "./arrive.ts";
import { onDecision } from "./decide.ts";

const update = (values: object): Action => ({
  type: "update_memory",
  valuesJson: JSON.stringify(values),
});
const setStatus = (
  status: string,
  more: { message?: string; outputJson?: string } = {},
): Action => ({
  ...{ type: "set_status", status, message: "", outputJson: "" },
  ...more,
});

/** A node `a` that runs, beside `b`, before `c`. */
function running(): ToyRun {
  const run = startToyRun(sketch(["start", "a", "b", "c"], ["start>a", "start>b", "a>c", "b>c"]));
  run.complete("start");
  run.claim("a");
  run.claim("b");
  return run;
}

const act = (run: ToyRun, actions: readonly Action[], id = "a"): void =>
  void run.report(id, completed({ own: true }, { actions }));

const failureOf = (run: ToyRun) => {
  const event = run.events.find(({ type }) => type === "node.failed");
  return event?.type === "node.failed" ? event.payload : undefined;
};

test("set_status completed ends the run with its output, and cancels the rest (S2.37)", () => {
  const run = running();
  act(run, [update({ done: 1 }), setStatus("completed", { outputJson: '{"n":1}' })]);
  expect(run.types().slice(-5)).toEqual([
    "node.completed a",
    "memory.updated a",
    "node.cancelled b",
    "node.cancelled c",
    "run.completed",
  ]);
  expect(run.state).toMatchObject({ status: "completed", output: '{"n":1}' });
});

test.each([
  ["completed", "run.completed"],
  ["failed", "run.failed"],
  ["cancelled", "run.cancelled"],
] as const)("set_status %s ends in %s without an output of its own (S2.37)", (status, type) => {
  const run = running();
  act(run, [setStatus(status, { message: "no stock" })]);
  expect(run.types().at(-1)).toBe(type);
  expect(run.state.status).toBe(status);
  expect(run.state.unsettledCount).toBe(0);
  if (status === "completed") expect(run.state.output).toBe('{"own":true}');
  else expect(run.state.message).toBe(`node a set the run to ${status}: no stock`);
});

test("set_status paused pauses the run, and what runs still ends (S2.37)", () => {
  const run = running();
  act(run, [setStatus("paused", { message: "look first" })]);
  expect(run.state).toMatchObject({
    status: "paused",
    pause: { scope: "run", who: "node a", reason: "look first" },
  });
  act(run, [setStatus("paused")], "b");
  expect(run.types().at(-1)).toBe("node.completed b");
  expect(run.node("c").status).toBe("pending");
});

test("an iteration that ends the run cancels its own node (S2.37)", () => {
  const body = { type: "task" };
  const run = startToyRun(
    graphOf({ nodes: [{ id: "m", type: "map", config: { items: [1, 2], body } }] }),
  );
  run.claim("m");
  run.report("m", { kind: "expanded", itemsJson: "[1,2]", width: 2, cut: false, durationMs: 1 });
  run.claim("m#1");
  act(run, [setStatus("failed")], "m#1");
  expect(run.types().slice(-4)).toEqual([
    "node.completed m#1",
    "node.cancelled m#2",
    "node.cancelled m",
    "run.failed",
  ]);
});

test("a status that no handler may give is illegal_transition, and nothing is written", () => {
  for (const status of ["running", "pending", "timeout", "compensating", "nonsense"]) {
    const run = running();
    act(run, [update({ a: 1 }), setStatus(status)]);
    expect(failureOf(run)?.cause).toBe("illegal_transition");
    expect(run.state.memory.size).toBe(0);
  }
});

test("one table has the transitions: only a live run gets a status (S2.29, S2.30)", () => {
  const all: RunStatus[] = [
    ...(["pending", "scheduled", "running", "waiting", "retrying", "paused"] as const),
    ...(["compensating", "completed", "failed", "cancelled", "timeout"] as const),
  ];
  const live = all.filter((from) => maySet(from, "failed"));
  expect(live).toEqual(["pending", "scheduled", "running", "waiting", "retrying", "paused"]);
  for (const from of all)
    for (const to of ["running", "timeout", ""]) expect(maySet(from, to)).toBe(false);
});

test("merge_parallel_results merges keys or outputs of nodes into one key (S2.37)", () => {
  const run = running();
  act(run, [update({ x: "one", y: "two" })], "b");
  const merge = (more: object): Action => ({
    ...{ type: "merge_parallel_results", keys: [], nodes: [], into: "all", strategy: "array" },
    ...more,
  });
  act(run, [
    update({ z: "three" }),
    merge({ keys: ["x", "gone", "z"] }),
    merge({ nodes: ["b", "c"], into: "outputs", strategy: "json_object" }),
    merge({ keys: ["z", "y", "x"], into: "newest", strategy: "last_write_wins" }),
    merge({ keys: ["x", "y"], into: "text", strategy: "concat" }),
  ]);
  const read = (key: string): unknown => JSON.parse(run.state.memory.get(key)?.json ?? "null");
  expect(read("all")).toEqual(["one", "three"]);
  expect(read("outputs")).toEqual({ b: { own: true } });
  expect(read("newest")).toBe("three");
  expect(read("text")).toBe("one\n\ntwo");
});

test("a merge reads what the output and the earlier actions of its own outcome make of a key (S2.24, S2.37)", () => {
  const merge = (keys: string[], into: string, strategy: "array" | "last_write_wins"): Action => ({
    ...{ type: "merge_parallel_results", nodes: [], keys, into, strategy },
  });
  const nodes = [
    { id: "before", type: "task" },
    { id: "a", type: "task", write_key: "own" },
  ];
  const memory = { list: { merge: "array" }, own: { merge: "array" } };
  const edges = [{ source: "before", target: "a" }];
  const run = startToyRun(graphOf({ memory, nodes, edges }));
  run.complete("before", null, { actions: [update({ list: 1, old: 2 })] });
  run.complete("a", 9, {
    actions: [
      update({ list: 3 }),
      merge(["list", "own", "old"], "all", "array"),
      merge(["old", "own"], "newest", "last_write_wins"),
    ],
  });
  const read = (key: string): unknown => JSON.parse(run.state.memory.get(key)?.json ?? "null");
  expect(read("list")).toEqual([1, 3]);
  expect(read("all")).toEqual([[1, 3], [9], 2]);
  expect(read("newest")).toEqual([9]);
});

test("a merge of an unknown node is refused", () => {
  const run = running();
  act(run, [
    {
      ...{ type: "merge_parallel_results", keys: [], nodes: ["ghost"], into: "all" },
      strategy: "array",
    },
  ]);
  expect(failureOf(run)).toMatchObject({ cause: "action_invalid" });
});

/** A node `ask` that waits for a person, and a node `a` that runs. */
function asking() {
  const run = startToyRun(sketch(["start", "ask", "a"], ["start>ask", "start>a"]));
  run.complete("start");
  run.claim("ask");
  const approval = {
    approvalId: approvalId("01890000-0000-7000-8000-000000000001"),
    message: "Ship it?",
    assignees: [],
  };
  const held = { kind: "held", reason: APPROVAL, phase: "output", durationMs: 1 } as const;
  run.report("ask", { ...held, approval });
  run.claim("a");
  return run;
}
const answer = (more: Partial<Extract<Action, { type: "resume_from_human" }>> = {}): Action => ({
  ...{ type: "resume_from_human", node: "ask", iteration: 0, approvalId: "", decision: "approve" },
  ...{ responseJson: '{"ok":true}', comment: "" },
  ...more,
});

test.each([{}, { node: "", approvalId: "01890000-0000-7000-8000-000000000001" }])(
  "resume_from_human answers the question of another node in the same commit (S2.37)",
  (target) => {
    const run = asking();
    act(run, [answer(target)]);
    expect(run.types()).toContain("node.decided ask");
    expect(run.node("ask").output).toContain('"decision":"approved","response":{"ok":true}');
    expect(run.node("ask").output).toContain("node a");
    expect(run.state.status).toBe("completed");
  },
);

test("an answer to a node that does not wait is refused, and so is a response that does not fit", () => {
  for (const target of [{ node: "a" }, { node: "ghost" }, { iteration: 3 }]) {
    const run = asking();
    act(run, [answer(target)]);
    expect(failureOf(run)).toMatchObject({ cause: "action_invalid" });
    expect(run.node("ask").status).toBe("waiting");
  }
  const config = { message: "Ship it?", response_schema: { type: "object" } };
  const run = startToyRun(
    graphOf({
      nodes: [
        { id: "ask", type: "approval", config },
        { id: "a", type: "task" },
      ],
    }),
  );
  run.claim("ask");
  const held = { kind: "held", reason: APPROVAL, phase: "output", durationMs: 1 } as const;
  run.report("ask", { ...held });
  const epoch = run.claim("a");
  const arrival = { nodeIndex: 1, iteration: 0, epoch, jitter: 0, now: run.now };
  const { executorId } = run.node("a");
  if (executorId === undefined) throw new Error("a is claimed");
  const outcome = completed(1, { actions: [answer()] });
  const refused = onOutcome(run.state, { ...arrival, executorId, outcome }, () => "is no order");
  expect(refused).toMatchObject({
    facts: [{ type: "node.failed", payload: { cause: "action_invalid" } }],
  });
});

test("an answer that would not fit the log is refused, and the question stays open (S2.34)", () => {
  const run = asking();
  act(run, [answer({ responseJson: `"${"x".repeat(LIMITS.approvalResponseBytes)}"` })]);
  expect(failureOf(run)).toMatchObject({ cause: "action_invalid" });
  expect(run.node("ask").status).toBe("waiting");
});

test("an answer does not count if the outcome is refused", () => {
  const run = asking();
  const large = `"${"x".repeat(LIMITS.valueBytes)}"`;
  const tooLarge: Action = { type: "update_memory", valuesJson: `{"a":${large}}` };
  act(run, [tooLarge, answer()]);
  expect(failureOf(run)).toMatchObject({ cause: "memory_too_large" });
  expect(run.node("ask").status).toBe("waiting");
});

test("request_human_input and a handoff write the memory at once, beside their wait (S2.37)", () => {
  const run = running();
  const held = { kind: "held", reason: APPROVAL, phase: "output", durationMs: 1 } as const;
  run.report("a", { ...held, actions: [update({ asked: true })] });
  expect(run.types().slice(-2)).toEqual(["node.blocked a", "memory.updated a"]);
});

test("actions of an output that moderation holds wait for the person (S2.37)", () => {
  const run = running();
  const held = { kind: "held", reason: "moderation_hold", phase: "output", durationMs: 1 } as const;
  run.report("a", { ...held, outputJson: "1", actions: [update({ later: true })] });
  expect(run.state.memory.size).toBe(0);
  const decision = { nodeIndex: 1, iteration: 0, now: run.now, comment: "", requestId: "r" };
  const decided = onDecision(run.state, { ...decision, decision: "approve" });
  if (decided.kind !== "accepted") throw new Error(decided.kind);
  for (const fact of decided.facts) run.append(fact);
  expect(run.types().slice(-3)).toEqual(["node.decided a", "node.completed a", "memory.updated a"]);
  expect(run.state.memory.get("later")?.json).toBe("true");
});
