import { expect, test } from "vitest";
import { expanded, sketch, startToyRun, type ToyRun } from "../../test/toy-run.ts";
import { fold } from "../log/fold.ts";
import { approvalId } from "../name/ids.ts";
import { onApprovalDue, onDecision, type DecisionArrival } from "./decide.ts";
import { onCancel } from "./stop.ts";

const ID = approvalId("0199a000-0000-7000-8000-0000000000a1");
const OTHER = approvalId("0199a000-0000-7000-8000-0000000000a2");

const ask = (approval = ID, deadlineMs?: number) =>
  ({
    kind: "held",
    reason: "approval",
    phase: "output",
    durationMs: 3,
    outputJson: '{"order":7}',
    approval: {
      approvalId: approval,
      message: "Ship it?",
      assignees: ["ops"],
      ...(deadlineMs === undefined ? {} : { deadlineMs }),
    },
  }) as const;

/** A run whose approval `a` is open, with `b` behind it. */
function setup(config: object = {}, edges: readonly string[] = ["s>a", "a>b"]): ToyRun {
  const node = { id: "a", type: "approval", config: { message: "Ship it?", ...config } };
  const run = startToyRun(sketch(["s", node, "b", "no", "late"], edges));
  run.complete("s");
  run.claim("a");
  run.report("a", ask(ID, 5_000));
  return run;
}

function decide(run: ToyRun, said: Partial<DecisionArrival> & { readonly name?: string } = {}) {
  const { name = "a", ...more } = said;
  const result = onDecision(run.state, {
    nodeIndex: run.index(name),
    iteration: Number(name.split("#")[1] ?? 0),
    decision: "approve",
    comment: "",
    requestId: "",
    now: run.now,
    ...more,
  });
  if (result.kind === "accepted") result.facts.forEach(run.append);
  run.plan();
  return result.kind;
}

function due(run: ToyRun, id = ID) {
  const place = { nodeIndex: run.index("a"), iteration: 0, now: run.now };
  const result = onApprovalDue(run.state, { ...place, approvalId: id });
  if (result.kind === "accepted") result.facts.forEach(run.append);
  run.plan();
  return result.kind;
}

const outputOf = (run: ToyRun): unknown => JSON.parse(run.node("a").output ?? "null");

test("an approved approval completes with the answer and the name of the person (S0.54)", () => {
  const run = setup();
  expect(run.node("a").hold).toMatchObject({ reason: "approval", deadlineAt: run.now + 5_000 });
  const said = { approvalId: ID, responseJson: '{"n":1.50}', decidedBy: "ada", comment: "fine" };
  expect(decide(run, said)).toBe("accepted");
  expect(run.node("a")).toMatchObject({ status: "completed", handle: "approved" });
  expect(run.node("a").output).toContain('"response":{"n":1.50}');
  expect(outputOf(run)).toEqual({
    decision: "approved",
    response: { n: 1.5 },
    comment: "fine",
    decidedBy: "ada",
    approvalId: ID,
  });
  expect(run.node("b").status).toBe("queued");
});

test("a rejection leaves by an edge 'rejected' if there is one, and the plain edge is not taken", () => {
  const run = setup({}, ["s>a", "a>b", "a:rejected>no"]);
  decide(run, { decision: "reject", comment: "too dear" });
  expect(run.node("a")).toMatchObject({ status: "completed", handle: "rejected" });
  expect(outputOf(run)).toMatchObject({
    decision: "rejected",
    response: null,
    comment: "too dear",
  });
  expect([run.node("b").status, run.node("no").status]).toEqual(["skipped", "queued"]);
});

test("a rejection without such an edge fails the node for good, and is not tried again", () => {
  const run = setup();
  decide(run, { decision: "reject", comment: "no" });
  expect(run.node("a")).toMatchObject({
    status: "failed",
    message: "approval_rejected: rejected: no",
  });
  expect(run.types()).not.toContain("node.retried a");
});

test("if no person answers in time, the node fails, leaves by timeout, or completes with its default", () => {
  const failing = setup();
  expect(due(failing)).toBe("accepted");
  expect(failing.node("a").status).toBe("failed");
  expect(failing.node("a").message).toContain("approval_timeout");
  const leaving = setup({}, ["s>a", "a>b", "a:timeout>late"]);
  due(leaving);
  expect(leaving.node("a").handle).toBe("timeout");
  expect([leaving.node("b").status, leaving.node("late").status]).toEqual(["skipped", "queued"]);
  const config = { deadline_ms: 5_000, on_deadline: "default", default: { n: 2 } };
  const answered = setup(config, ["s>a", "a>b", "a:timeout>late"]);
  due(answered);
  expect(answered.node("a").handle).toBe("approved");
  expect(outputOf(answered)).toMatchObject({ decision: "default", response: { n: 2 } });
});

test("of a decision and the deadline the first counts; the second changes nothing and is answered so", () => {
  const decided = setup();
  decide(decided, { approvalId: ID });
  expect(due(decided)).toBe("stale");
  const late = setup();
  due(late);
  const { length } = late.events;
  expect(decide(late, { approvalId: ID })).toBe("timed_out");
  expect(decide(late)).toBe("timed_out");
  expect(late.events).toHaveLength(length);
});

test("the same answer again is harmless, another answer is refused, and an answer to another question changes nothing", () => {
  const run = setup();
  expect(decide(run, { approvalId: OTHER })).toBe("not_held");
  expect(decide(run, { approvalId: ID, requestId: "r1" })).toBe("accepted");
  expect(decide(run, { approvalId: ID, requestId: "r2" })).toBe("repeated");
  expect(decide(run, { approvalId: ID, decision: "reject" })).toBe("decided_otherwise");
  expect(decide(run, { approvalId: OTHER })).toBe("not_held");
});

test("approving again with another response is another decision; the same value in other words is the same", () => {
  const run = setup();
  expect(decide(run, { approvalId: ID, responseJson: '{"a":1,"n":1.50}' })).toBe("accepted");
  const { length } = run.events;
  expect(decide(run, { approvalId: ID, responseJson: '{"n": 1.5, "a": 1}' })).toBe("repeated");
  expect(decide(run, { approvalId: ID, responseJson: '{"a":2,"n":1.5}' })).toBe(
    "decided_otherwise",
  );
  // The same request with another body is no repeat either.
  const again = fold(run.state.runId, run.state.graph, run.events);
  const said = {
    nodeIndex: run.index("a"),
    iteration: 0,
    comment: "",
    requestId: "",
    now: run.now,
  };
  expect(onDecision(again, { ...said, decision: "approve", responseJson: "null" }).kind).toBe(
    "decided_otherwise",
  );
  // DecideNode says nothing about a response.
  expect(onDecision(again, { ...said, decision: "approve" }).kind).toBe("repeated");
  expect(run.events).toHaveLength(length);
});

test("an approval without a response is repeated by one without, and by null", () => {
  const run = setup();
  decide(run, { approvalId: ID });
  expect(decide(run, { approvalId: ID, responseJson: "null" })).toBe("repeated");
  expect(decide(run, { approvalId: ID, responseJson: "0" })).toBe("decided_otherwise");
});

test("an approval with a schema is not approved without a response", () => {
  const run = setup({ response_schema: { type: "object" } });
  expect(decide(run)).toBe("needs_response");
  expect(decide(run, { responseJson: "{}" })).toBe("accepted");
});

test("iterations of a map ask beside each other, and each is answered by itself (X17)", () => {
  const body = { type: "approval", config: { message: "{{ item }}?" } };
  const each = { id: "each", type: "map", config: { items: [1, 2], body } };
  const run = startToyRun(sketch(["s", each], ["s>each"]));
  run.complete("s");
  run.claim("each");
  run.report("each", expanded([1, 2]));
  for (const [name, id] of [
    ["each#1", ID],
    ["each#2", OTHER],
  ] as const) {
    run.claim(name);
    run.report(name, ask(id));
  }
  expect(run.state).toMatchObject({ status: "waiting", activeCount: 0, blockedCount: 2 });
  decide(run, { name: "each#2", approvalId: OTHER });
  expect(run.state.status).toBe("waiting");
  decide(run, { name: "each#1", approvalId: ID, decision: "reject" });
  expect(run.execution("each#1").message).toContain("approval_rejected");
  expect(run.state.status).toBe("failed");
});

test("a run that is cancelled ends its approvals unanswered", () => {
  const run = setup();
  const stop = onCancel(run.state, { reason: "no", requestId: "", now: 0 });
  if (stop.kind === "accepted") stop.facts.forEach(run.append);
  expect(run.node("a")).toMatchObject({ status: "cancelled", hold: undefined });
  expect(decide(run, { approvalId: ID })).toBe("not_held");
});
