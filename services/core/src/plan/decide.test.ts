import { expect, test } from "vitest";
import { sketch, startToyRun, type ToyRun } from "../../test/toy-run.ts";
import { fold } from "../log/fold.ts";
import { onDecision, type DecisionArrival, type DecisionResult } from "./decide.ts";
import { onCancel } from "./stop.ts";

const HOLD = { kind: "held", reason: "moderation_hold", durationMs: 7 } as const;

/** A run whose node `a` is held; `more` are further keys of the node. */
function held(phase: "input" | "output", more: Readonly<Record<string, unknown>> = {}): ToyRun {
  const run = startToyRun(sketch(["s", { id: "a", ...more }, "b"], ["s>a", "a>b"]));
  run.complete("s");
  run.claim("a");
  const checks = [{ type: "moderation.flagged", phase, detailsJson: "{}" }] as const;
  const output = phase === "output" ? { outputJson: '{"x":1}', handle: "h" } : {};
  run.report("a", { ...HOLD, phase, checks, ...output });
  return run;
}

function decide(run: ToyRun, decision: DecisionArrival["decision"], requestId = "r1") {
  const arrival = { iteration: 0, decision, comment: "looked", requestId, now: run.now };
  const result: DecisionResult = onDecision(run.state, { ...arrival, nodeIndex: run.index("a") });
  if (result.kind === "accepted") result.facts.forEach(run.append);
  run.plan();
  return result.kind;
}

test("a held node waits without a claim: a repeat of its outcome is a duplicate, and no other outcome is accepted", () => {
  const run = held("output");
  expect(run.types().slice(-3, -1)).toEqual(["moderation.flagged a", "node.blocked a"]);
  expect(run.node("a")).toMatchObject({ status: "waiting", hold: { reason: "moderation_hold" } });
  const again = run.report("a", { ...HOLD, phase: "output", outputJson: "1" });
  expect(again).toEqual({ kind: "duplicate" });
  expect(run.node("b").status).toBe("pending");
});

test("approving a held output completes the node with it, under the claim that made it", () => {
  const run = held("output");
  const epoch = run.node("a").epoch;
  expect(decide(run, "approve")).toBe("accepted");
  const [decided, completed] = run.events.slice(-4);
  expect(decided).toMatchObject({
    type: "node.decided",
    payload: { decision: "approve", reason: "moderation_hold", comment: "looked" },
  });
  expect(completed).toMatchObject({
    type: "node.completed",
    epoch,
    payload: { durationMs: 7, handle: "h" },
    value: '{"x":1}',
  });
  expect(run.node("a")).toMatchObject({ status: "completed", hold: undefined });
});

test("a response to a node that waits for a yes or no is refused and changes nothing (S0.54)", () => {
  const run = held("output");
  const arrival = { iteration: 0, comment: "", requestId: "r1", now: run.now, responseJson: "1" };
  const at = { ...arrival, nodeIndex: run.index("a"), decision: "approve" } as const;
  expect(onDecision(run.state, at)).toEqual({ kind: "takes_no_response" });
  expect(run.node("a").status).toBe("waiting");
});

test("approving a held input queues the same attempt again, and the approval stays with it", () => {
  const run = held("input");
  expect(run.node("a").isInputApproved).toBe(false);
  decide(run, "approve");
  expect(run.node("a")).toMatchObject({ status: "queued", attempt: 1, isInputApproved: true });
  run.complete("a", 1);
  expect(run.node("a").status).toBe("completed");
});

test("rejecting fails the node for good, or leaves it by its error handle", () => {
  const run = held("output", { retry: { attempts: 3 } });
  decide(run, "reject");
  expect(run.events.find((event) => event.type === "node.failed")?.payload).toMatchObject({
    cause: "moderation_blocked",
    message: "moderation_blocked: rejected: looked",
  });
  const lenient = held("input", { error_handling: "continue" });
  decide(lenient, "reject");
  expect(lenient.node("a")).toMatchObject({ status: "completed", handle: "error" });
});

test("a repeated decision is harmless; a different one is refused, and so is a decision about a node that is not held", () => {
  const run = held("output");
  decide(run, "approve");
  const length = run.events.length;
  expect(decide(run, "approve")).toBe("repeated");
  expect(decide(run, "approve", "r2")).toBe("repeated");
  expect(decide(run, "reject", "r3")).toBe("decided_otherwise");
  expect(run.events).toHaveLength(length);
  const free = startToyRun(sketch(["s", "a"], ["s>a"]));
  expect(decide(free, "approve")).toBe("not_held");
});

test("a repeated approval does not approve the next hold", () => {
  const run = held("input");
  decide(run, "approve", "r1");
  run.claim("a");
  run.report("a", { ...HOLD, phase: "output", outputJson: "1" });
  expect(decide(run, "approve", "r1")).toBe("repeated");
  expect(run.node("a").status).toBe("waiting");
  expect(decide(run, "reject", "r2")).toBe("accepted");
});

test("a held node is cancelled with its run, and is only log", () => {
  const run = held("output");
  const again = fold(run.state.runId, run.state.graph, run.events);
  expect(again.nodes[run.index("a")]).toEqual(run.node("a"));
  expect(onCancel(again, { reason: "no", requestId: "", now: 0 })).toMatchObject({
    facts: expect.arrayContaining([
      expect.objectContaining({ type: "node.cancelled", nodeId: "a" }),
    ]),
  });
});

test("a run waits once nothing of it can move without a person, and runs again when it was decided (S2.29, X8)", () => {
  const run = startToyRun(sketch(["s", "a", "b", "c"], ["s>a", "s>b", "a>c"]));
  run.complete("s");
  run.claim("a");
  run.claim("b");
  run.report("a", { ...HOLD, phase: "output", outputJson: "1" });
  expect(run.state.status).toBe("running");
  run.report("b", { ...HOLD, phase: "input" });
  expect(run.state).toMatchObject({ status: "waiting", activeCount: 0, blockedCount: 2 });
  expect(run.events.at(-1)).toMatchObject({ payload: { from: "running", to: "waiting" } });
  decide(run, "approve");
  expect(run.types().slice(-4)).toEqual([
    "node.decided a",
    "node.completed a",
    "node.queued c",
    "run.status.changed",
  ]);
  expect(run.state).toMatchObject({ status: "running", activeCount: 1, blockedCount: 1 });
  run.complete("c");
  expect(run.state.status).toBe("waiting");
});
