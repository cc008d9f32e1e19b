import { expect, test } from "vitest";
import { completed, EXECUTOR, expanded, failed, graphOf, startToyRun } from "../../test/toy-run.ts";
import { fold } from "../log/fold.ts";
import { spentOf } from "../log/ledger.ts";
import { readSnapshot, SNAPSHOT_FORMAT, writeSnapshot } from "../log/snapshot.ts";
import { view } from "../log/view.ts";
import type { Usage } from "../log/event.ts";
import { onOverdue } from "./overdue.ts";
import { onPause } from "./pause.ts";
import { onRaise } from "./raise.ts";

const FAIL = { attempts: 3, backoff_ms: 0, jitter: false };
const used = (tokens: number, costMicros?: number): { readonly usage: Usage } => ({
  usage: {
    inputTokens: 0,
    outputTokens: tokens,
    ...(costMicros === undefined ? {} : { costMicros }),
  },
});

/** Nodes without edges, each of which reserves `reserve`. */
const fan = (count: number, budget: object, reserve: object = { tokens: 1 }, more: object = {}) =>
  graphOf({
    budget,
    nodes: Array.from({ length: count }, (_, at) => ({
      id: `n${at}`,
      type: "task",
      reserve,
      ...more,
    })),
  });

const queued = (run: ReturnType<typeof startToyRun>): string[] =>
  run.types().filter((type) => type.startsWith("node.queued"));

const raise = (run: ReturnType<typeof startToyRun>, amounts: object, requestId = "r1") => {
  const asked = { amounts, requestId, who: "ada", reason: "more" };
  const result = onRaise(run.state, asked, { now: run.now, mayResume: true });
  if (result.kind === "accepted") result.facts.forEach(run.append);
  run.plan();
  return result.kind;
};

test("a node is queued only if its reservation fits, and waits while others may settle (S2.21, X27)", () => {
  const run = startToyRun(fan(3, { tokens: 10 }, { tokens: 6 }));
  expect(queued(run)).toEqual(["node.queued n0"]);
  run.complete("n0", 1, used(3));
  expect(queued(run)).toEqual(["node.queued n0", "node.queued n1"]);
  expect(run.state.ledger).toMatchObject({ used: { outputTokens: 3 }, reserved: { tokens: 6 } });
});

test("a node that can never fit fails the run, names itself and cancels the rest (S2.21, S2.23)", () => {
  const run = startToyRun(fan(3, { cost_usd: 0.00001 }, { cost_usd: 0.000006 }));
  run.complete("n0", 1, used(3, 6));
  expect(run.state.status).toBe("failed");
  expect(run.events.at(-1)).toMatchObject({
    type: "run.failed",
    payload: { cause: "budget_exceeded", failedNodeId: "n1" },
  });
  expect(run.state.message).toContain("has $0.000004 left");
  expect(run.node("n2").status).toBe("cancelled");
  expect(run.state.ledger.reserved).toEqual({ tokens: 0, costMicros: 0, executions: 0 });
});

test("a run that used more than its budget fails, although nothing more is to run (S2.21)", () => {
  const run = startToyRun(fan(1, { tokens: 5 }));
  run.complete("n0", 1, used(6));
  expect(run.state).toMatchObject({ status: "failed" });
  expect(run.state.message).toContain("the run used 6 tokens of a budget of 5 tokens");
});

/** Nodes behind each other that reserve nothing. */
const chain = (budget: object) =>
  graphOf({
    budget,
    nodes: ["a", "b", "c"].map((id) => ({ id, type: "task" })),
    edges: [
      { source: "a", target: "b" },
      { source: "b", target: "c" },
    ],
  });

test("a budget also holds for a meter that no node reserves: no further node starts, and the run fails or pauses (S2.21)", () => {
  for (const on_exceeded of ["fail", "pause"]) {
    const run = startToyRun(chain({ cost_usd: 0.00001, on_exceeded }));
    run.complete("a", 1, used(3, 10));
    // Exactly the limit is not beyond it.
    expect(queued(run)).toEqual(["node.queued a", "node.queued b"]);
    run.complete("b", 1, used(3, 2));
    expect(queued(run)).toHaveLength(2);
    expect(run.state.status).toBe(on_exceeded === "pause" ? "paused" : "failed");
    const why = run.state.pause?.reason ?? run.state.message;
    expect(why).toContain("the run used $0.000012 of a budget of $0.00001");
    if (on_exceeded === "fail") continue;
    expect(raise(run, { costMicros: 1 })).toBe("accepted");
    expect(run.state.pause?.waitingFor).toBe("budget");
    expect(raise(run, { costMicros: 1 }, "r2")).toBe("accepted");
    run.complete("c");
    expect(run.state.status).toBe("completed");
  }
});

test("the budget of a map holds for a meter that its items do not reserve (S2.21)", () => {
  const map = {
    ...{ id: "m", type: "map", budget: { cost_usd: 0.00001 } },
    config: { items: "{{ ctx.input }}", body: { type: "task", config: {} }, parallelism: 1 },
  };
  const run = startToyRun(graphOf({ nodes: [map] }), [1, 2, 3]);
  run.claim("m");
  run.report("m", expanded([1, 2, 3]));
  run.complete("m#1", 1, used(1, 6));
  run.complete("m#2", 1, used(1, 6));
  expect(run.node("m").status).toBe("failed");
  const { payload } = run.events.find(({ type }) => type === "node.failed") ?? {};
  expect(payload).toMatchObject({
    cause: "budget_exceeded",
    message: expect.stringContaining("the node used $0.000012 of a budget of $0.00001") as string,
  });
});

test("the usage of failed, timed-out and retried attempts counts (S2.20, S2.22)", () => {
  const run = startToyRun(fan(1, { tokens: 100 }, { tokens: 1 }, { retry: FAIL }));
  run.claim("n0");
  run.report("n0", { ...failed(), ...used(10, 7) });
  run.claim("n0");
  run.report("n0", { ...failed("timeout"), ...used(20) });
  run.claim("n0");
  run.report("n0", { ...failed("timeout", true), ...used(30, 5) });
  expect(run.events.filter(({ payload }) => "usage" in payload).map(({ type }) => type)).toEqual([
    "node.retried",
    "node.retried",
    "node.timed_out",
  ]);
  expect(run.state.ledger.used).toEqual({
    ...{ inputTokens: 0, outputTokens: 60, costMicros: 12, executions: 3 },
  });
});

test("usage counts without a budget, and costs no event and no reservation (S2.20)", () => {
  const run = startToyRun(graphOf({ nodes: [{ id: "a", type: "task", retry: FAIL }] }));
  run.claim("a");
  run.report("a", { ...failed(), ...used(4) });
  run.complete("a", 1, used(5));
  expect(run.state.ledger).toMatchObject({ used: { outputTokens: 9, executions: 2 } });
  expect(run.types()).toEqual([
    "run.started",
    "node.queued a",
    "node.started a",
    "node.retried a",
    "node.queued a",
    "node.started a",
    "node.completed a",
    "run.completed",
  ]);
});

test("a lost claim counts with its whole reservation, and needs another one (X27)", () => {
  const run = startToyRun(fan(1, { tokens: 5 }, { tokens: 2 }));
  run.claim("n0");
  run.lose("n0");
  expect(spentOf(run.state.ledger).tokens).toBe(2);
  run.claim("n0");
  run.lose("n0");
  expect(run.state.status).toBe("failed");
  expect(run.state.message).toContain("has 1 token left, and one execution reserves 2 tokens");
});

test("a claim that the scheduler ends without a report counts with its whole reservation (X27)", () => {
  const run = startToyRun(fan(1, { tokens: 5 }, { tokens: 2 }, { retry: FAIL }));
  const epoch = run.claim("n0");
  const late = { nodeIndex: 0, iteration: 0, epoch, executorId: EXECUTOR, now: run.now };
  const result = onOverdue(run.state, late);
  if (result.kind === "accepted") result.facts.forEach(run.append);
  run.plan();
  expect(run.state.ledger.assumed.tokens).toBe(2);
  expect(run.execution("n0").status).toBe("queued");
});

test.each([
  ["retried", { retry: FAIL }],
  ["timed out", {}],
  ["completed by its error handling", { error_handling: "continue" }],
])("a timeout without usage counts with its whole reservation: %s (S2.22)", (_, more) => {
  const run = startToyRun(fan(1, { tokens: 5 }, { tokens: 2 }, more));
  run.claim("n0");
  run.report("n0", failed("timeout"));
  expect(run.state.ledger.assumed.tokens).toBe(2);
  expect(run.state.ledger.used.outputTokens).toBe(0);
});

test("any other failure without usage counts nothing, and neither does a timeout beyond what it reports (S2.22)", () => {
  const run = startToyRun(fan(1, { tokens: 5 }, { tokens: 2 }, { retry: FAIL }));
  run.claim("n0");
  run.report("n0", failed());
  run.claim("n0");
  run.report("n0", { ...failed("timeout"), ...used(1, 1) });
  expect(spentOf(run.state.ledger).tokens).toBe(1);
});

test("tokens of a model without a price count with the reserved cost (S2.23)", () => {
  const run = startToyRun(fan(2, { cost_usd: 0.00001 }, { cost_usd: 0.000006 }));
  run.complete("n0", 1, used(3));
  expect(spentOf(run.state.ledger).costMicros).toBe(6);
  expect(run.state.status).toBe("failed");
});

test("a retry that does not fit waits, and is queued when another node settles (X27)", () => {
  const run = startToyRun(fan(2, { tokens: 10 }, { tokens: 5 }, { retry: FAIL }));
  run.claim("n0");
  run.claim("n1");
  run.report("n0", { ...failed(), ...used(2) });
  expect(run.execution("n0").status).toBe("retrying");
  expect(run.state.unfunded).toHaveLength(1);
  run.report("n1", completed(1, used(1)));
  expect(run.execution("n0")).toMatchObject({ status: "queued", attempt: 2 });
  expect(run.state.unfunded).toEqual([]);
});

test("the items of a map reserve one by one, and the node's own budget fails the node (X27)", () => {
  const run = startToyRun(
    graphOf({
      nodes: [
        {
          ...{ id: "m", type: "map", reserve: { tokens: 2 }, budget: { tokens: 5 } },
          config: { items: "{{ ctx.input }}", body: { type: "task", config: {} }, parallelism: 10 },
        },
      ],
    }),
    [1, 2, 3],
  );
  run.claim("m");
  run.report("m", expanded([1, 2, 3]));
  expect(queued(run).slice(1)).toEqual(["node.queued m#1", "node.queued m#2"]);
  run.complete("m#1", 1, used(2));
  run.complete("m#2", 1, used(2));
  expect(run.node("m")).toMatchObject({ status: "failed" });
  expect(run.events.find(({ type }) => type === "node.failed")?.payload).toMatchObject({
    cause: "budget_exceeded",
  });
  expect(run.events.at(-1)?.payload).toMatchObject({ failedNodeId: "m" });
});

test("a paused run waits for a raise, continues with it, and the same request counts once (S2.21)", () => {
  const run = startToyRun(fan(2, { tokens: 3, on_exceeded: "pause" }, { tokens: 2 }));
  run.complete("n0", 1, used(2));
  expect(run.state).toMatchObject({ status: "paused", pause: { waitingFor: "budget" } });
  expect(raise(run, { costMicros: 5 })).toBe("not_limited");
  expect(raise(run, { tokens: 1 })).toBe("accepted");
  expect(run.execution("n1").status).toBe("queued");
  expect(raise(run, { tokens: 1 })).toBe("repeated");
  expect(raise(run, { tokens: 2 })).toBe("reused");
  expect(run.state.budget).toMatchObject({ tokens: 4 });
  run.complete("n1", 1, used(2));
  expect(run.state.status).toBe("completed");
  expect(raise(run, { tokens: 1 }, "r2")).toBe("finished");
});

test("a raise that is too small pauses the run again, and a run that a user paused stays paused", () => {
  const run = startToyRun(fan(2, { tokens: 3, on_exceeded: "pause" }, { tokens: 3 }));
  run.complete("n0", 1, used(3));
  raise(run, { tokens: 2 });
  expect(run.state.pause?.waitingFor).toBe("budget");
  const paused = onPause(run.state, { scope: "workflow", who: "bob", reason: "" });
  expect(paused.kind).toBe("repeated");
  const other = startToyRun(fan(1, { tokens: 3, on_exceeded: "pause" }));
  const note = onPause(other.state, { scope: "run", who: "bob", reason: "" });
  if (note.kind === "accepted") note.facts.forEach(other.append);
  expect(raise(other, { tokens: 1 })).toBe("accepted");
  expect(other.state).toMatchObject({ status: "paused", budget: { tokens: 4 } });
});

test("the ledger of a snapshot equals the ledger of the whole log", () => {
  const run = startToyRun(fan(3, { tokens: 10 }, { tokens: 4 }, { retry: FAIL }));
  run.claim("n0");
  run.report("n0", { ...failed(), ...used(2) });
  raise(run, { tokens: 5 });
  const again = fold(run.state.runId, run.state.graph, run.events);
  const { ledger, unfunded, raises, budget } = run.state;
  expect(again).toMatchObject({ ledger, unfunded, raises, budget });
  expect(ledger.reserved.tokens).toBe(12);
  expect(view(run.events).spending.reserved).toEqual(ledger.reserved);
  const body = writeSnapshot(run.state);
  const read = readSnapshot(run.state.runId, run.state.graph, { format: SNAPSHOT_FORMAT, body });
  expect(read).toMatchObject({ ledger, unfunded, raises, budget });
});
