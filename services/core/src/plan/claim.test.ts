import { expect, test } from "vitest";
import { completed, EXECUTOR, sketch, startToyRun } from "../../test/toy-run.ts";
import { LIMITS } from "../data/limits.ts";
import { causeOf } from "../log/cause.ts";
import { mayCause } from "../log/meaning.ts";
import { claimFact, onLeaseLost } from "./claim.ts";

test("only a queued node can be claimed, and only once", () => {
  const run = startToyRun(sketch(["a", "b"], ["a>b"]));
  expect(claimFact(run.state, 1, 0, EXECUTOR)).toBeUndefined();
  expect(claimFact(run.state, 99, 0, EXECUTOR)).toBeUndefined();
  expect(claimFact(run.state, 0, 0, EXECUTOR)).toMatchObject({
    type: "node.started",
    attempt: 1,
    epoch: 0,
  });
  run.claim("a");
  expect(claimFact(run.state, 0, 0, EXECUTOR)).toBeUndefined();
});

test("a lost claim is recovered with the same attempt and a larger epoch (S0.11, S0.41, X6)", () => {
  const run = startToyRun(sketch(["a"], []));
  const first = run.claim("a");
  run.lose("a");
  expect(run.types().slice(-2)).toEqual(["run.recovered a", "node.queued a"]);
  expect(run.node("a")).toMatchObject({ status: "queued", attempt: 1, lostDeliveries: 1 });
  expect(run.claim("a")).toBeGreaterThan(first);
});

test("a node that keeps losing its executors fails by name, at no cost to its attempts (S0.56, S4.17, X10)", () => {
  const run = startToyRun(sketch([{ id: "a", retry: { attempts: 5 } }], []));
  for (let lost = 1; lost <= LIMITS.deliveriesMax; lost++) {
    run.claim("a");
    run.lose("a");
  }
  expect(run.node("a")).toMatchObject({
    status: "failed",
    attempt: 1,
    lostDeliveries: LIMITS.deliveriesMax,
  });
  expect(run.events.find((event) => event.type === "node.failed")?.payload).toMatchObject({
    cause: "delivery_exhausted",
    message: expect.stringMatching(/node a: lost 3 deliveries, and at most 3 .*asynchronous I\/O/),
  });
  expect(run.node("a").message).toContain(run.state.runId);
});

test("a claim released at a graceful stop counts for nothing (S0.51, X18)", () => {
  const run = startToyRun(sketch(["a"], []));
  for (let round = 0; round < LIMITS.deliveriesMax + 2; round++) {
    run.claim("a");
    run.lose("a", "released");
  }
  expect(run.node("a")).toMatchObject({ status: "queued", lostDeliveries: 0, attempt: 1 });
});

test("losing a claim that is not live is stale", () => {
  const run = startToyRun(sketch(["a"], []));
  const epoch = run.claim("a");
  const loss = {
    nodeIndex: 0,
    iteration: 0,
    epoch,
    reason: "lease_expired",
    executorId: EXECUTOR,
    now: 0,
  } as const;
  expect(onLeaseLost(run.state, { ...loss, epoch: epoch + 1 })).toEqual({ kind: "stale" });
  expect(onLeaseLost(run.state, { ...loss, nodeIndex: 9 })).toEqual({ kind: "stale" });
  run.report("a", { kind: "completed", outputJson: "1", durationMs: 1 });
  expect(onLeaseLost(run.state, loss)).toEqual({ kind: "stale" });
});

test("with continue a node that keeps losing its executors leaves by handle error (S0.56, X9)", () => {
  const run = startToyRun(sketch(["a", "ok", "oops"], ["a>ok", "a:error>oops"]));
  for (let lost = 1; lost <= LIMITS.deliveriesMax; lost++) {
    const epoch = run.claim("a");
    run.lose("a");
    expect(run.report("a", completed("late"), epoch).kind).toBe("stale");
  }
  expect(run.node("a")).toMatchObject({ status: "completed", handle: "error", attempt: 1 });
  expect(JSON.parse(run.node("a").output ?? "")).toMatchObject({
    error: { cause: "delivery_exhausted", message: expect.stringContaining("lost 3 deliveries") },
  });
  expect(run.types().slice(-4)).toEqual([
    "run.recovered a",
    "node.completed a",
    "node.skipped ok",
    "node.queued oops",
  ]);
  for (const event of run.events.slice(1)) {
    const cause = run.events[causeOf(event) - 1];
    expect(cause !== undefined && mayCause(cause.type, event.type), event.type).toBe(true);
  }
  run.complete("oops");
  expect(run.state).toMatchObject({ status: "completed", hasFailures: true });
});
