import { expect, test } from "vitest";
import {
  arrivalOf,
  begin,
  checkPayload,
  due,
  expectFolded,
  outputOf,
  setupWait,
  signal,
  wait,
} from "../../test/signal-run.ts";
import { completed, sketch } from "../../test/toy-run.ts";
import { LIMITS } from "../data/limits.ts";
import { causeOf } from "../log/cause.ts";
import { onSignal } from "./signal.ts";
import { onCancel, onDeadline } from "./stop.ts";

test("a node waits for a signal without a claim, the run waits, and the signal ends both (S2.17, S2.18, S2.29)", () => {
  const run = setupWait({ timeout_ms: 5_000 });
  expect(run.node("w")).toMatchObject({ status: "waiting", epoch: 0, attempt: 1 });
  expect(run.node("w").wait).toEqual({ name: "paid", since: 1_000, deadlineAt: 6_000 });
  expect(run.state).toMatchObject({ status: "waiting", waitingSince: 1_000, blockedCount: 1 });
  run.now = 3_000;
  expect(signal(run, { payloadJson: '{"n":1.50}' })).toBe("taken");
  expect(run.node("w")).toMatchObject({ status: "completed", handle: "received" });
  expect(run.node("w").output).toContain('"payload":{"n":1.50}');
  expect(outputOf(run)).toEqual({
    ...{ name: "paid", payload: { n: 1.5 } },
    receivedAt: 3_000,
  });
  expect(run.state).toMatchObject({ status: "running", blockedCount: 0, signalBytes: 0 });
  expect(run.node("b").status).toBe("queued");
  expectFolded(run);
});

test("the time that a run waits for a signal does not count against its deadline (X15)", () => {
  const run = setupWait();
  const { deadlineAt } = run.state;
  run.now = deadlineAt + 1;
  expect(onDeadline(run.state, run.now).kind).toBe("early");
  signal(run);
  expect(run.state.deadlineAt).toBe(deadlineAt + deadlineAt + 1 - 1_000);
});

test("a node that waits for a signal has no job and no lease: nothing queues or starts it (X17)", () => {
  const run = setupWait();
  expect(run.types()).toEqual([
    ...["run.started", "node.completed s", "node.blocked w", "run.status.changed"],
  ]);
});

test("a signal that comes early is kept, and the node takes it when it becomes ready", () => {
  const run = begin(sketch(["s", "a", wait("w"), "b"], ["s>a", "a>w", "w>b"]));
  expect(signal(run, { payloadJson: '"first"' })).toBe("kept");
  expect(signal(run, { payloadJson: '"second"' })).toBe("kept");
  run.claim("a");
  run.report("a", completed());
  expect(outputOf(run)).toMatchObject({ payload: "first" });
  expect([...run.state.signals.values()].map(({ json }) => json)).toEqual(['"second"']);
  expect(run.types()).not.toContain("node.blocked");
  expectFolded(run);
});

test("signals of a name end waits in the order of both, one each, and another name ends none", () => {
  const nodes = ["s", wait("one"), wait("two"), wait("other", { name: "shipped" })];
  const run = begin(sketch(nodes, ["s>one", "s>two", "s>other"]));
  expect(signal(run, { payloadJson: "1" })).toBe("taken");
  expect(run.node("two").status).toBe("waiting");
  expect(signal(run, { payloadJson: "2" })).toBe("taken");
  expect([outputOf(run, "one"), outputOf(run, "two")]).toMatchObject([
    { payload: 1 },
    { payload: 2 },
  ]);
  expect(run.node("other").status).toBe("waiting");
});

test("two nodes that become ready together take two kept signals, never the same one", () => {
  const nodes = ["s", "a", wait("one"), wait("two"), wait("three")];
  const run = begin(sketch(nodes, ["s>a", "a>one", "a>two", "a>three"]));
  signal(run, { payloadJson: "1" });
  signal(run, { payloadJson: "2" });
  run.claim("a");
  run.report("a", completed());
  expect([outputOf(run, "one"), outputOf(run, "two")]).toMatchObject([
    { payload: 1 },
    { payload: 2 },
  ]);
  expect(run.node("three").status).toBe("waiting");
  expectFolded(run);
});

test("the same request again changes nothing, also after the end; another body under its id is refused", () => {
  const run = setupWait({}, ["s>w"]);
  expect(signal(run, { requestId: "same" })).toBe("taken");
  expect(run.state.status).toBe("completed");
  const count = run.events.length;
  expect(signal(run, { requestId: "same" })).toBe("repeated");
  expect(signal(run, { requestId: "same", digest: "other" })).toBe("reused");
  expect(signal(run)).toBe("finished");
  expect(run.events).toHaveLength(count);
});

test("a name that no node waits for is refused with the names that are awaited, unless a template may give it", () => {
  const run = setupWait();
  expect(onSignal(run.state, arrivalOf("piad"), checkPayload)).toEqual({
    kind: "not_awaited",
    names: ["paid"],
  });
  const templated = begin(
    sketch(["s", wait("w", { name: "paid.{{ ctx.input.order }}" })], ["s>w"]),
    { order: 7 },
  );
  expect(signal(templated, { name: "other" })).toBe("kept");
  expect(signal(templated, { name: "paid.7" })).toBe("taken");
});

test("a template that gives no name of a signal fails the node (S2.17)", () => {
  for (const order of ["__proto__", "a b", ""]) {
    const graph = sketch(["s", wait("w", { name: "{{ ctx.input.order }}" })], ["s>w"]);
    const run = begin(graph, { order });
    expect(run.node("w")).toMatchObject({ status: "failed" });
    expect(run.node("w").message).toContain("1-128 characters");
  }
});

test("a payload that does not fit is refused, whether the node waits or not, and the log stays as it is", () => {
  const schema = { schema: { type: "object" } };
  const waiting = setupWait(schema);
  const early = begin(sketch(["s", "a", wait("w", schema)], ["s>a", "a>w"]));
  for (const run of [waiting, early]) {
    const count = run.events.length;
    expect(signal(run, { payloadJson: "{}" })).toBe("misfit");
    expect(run.events).toHaveLength(count);
  }
  expect(signal(waiting, { payloadJson: '{"amount":1}' })).toBe("taken");
  expect(signal(early, { payloadJson: '{"amount":1}' })).toBe("kept");
});

test("a kept signal whose schema only the name of a template has fails the node, and is used up", () => {
  const config = { name: "{{ ctx.input.name }}", schema: { type: "object" } };
  const run = begin(sketch(["s", "a", wait("w", config)], ["s>a", "a>w"]), { name: "paid" });
  expect(signal(run, { payloadJson: "{}" })).toBe("kept");
  run.claim("a");
  run.report("a", completed());
  expect(run.node("w").message).toBe(
    "the payload of signal paid: payload_json.amount must be a number",
  );
  expect(run.events.find(({ nodeId }) => nodeId === "w")?.payload).toMatchObject({
    cause: "input_contract_violation",
  });
  expect(run.state.signals.size).toBe(0);
});

test("a wait whose time is up fails with signal_timeout, or leaves by an edge timeout (S2.19)", () => {
  const failing = setupWait({ timeout_ms: 10 });
  failing.now = 1_010;
  expect(due(failing)).toBe("accepted");
  expect(failing.node("w")).toMatchObject({ status: "failed" });
  expect(failing.events.find(({ type }) => type === "node.failed")?.payload).toMatchObject({
    cause: "signal_timeout",
  });
  const leaving = setupWait({ timeout_ms: 10 }, ["s>w", "w>b", "w:timeout>late"]);
  expect(due(leaving)).toBe("accepted");
  expect(leaving.node("w")).toMatchObject({ status: "completed", handle: "timeout" });
  expect(outputOf(leaving)).toEqual({ name: "paid", payload: null, receivedAt: null });
  expect([leaving.node("b").status, leaving.node("late").status]).toEqual(["skipped", "queued"]);
});

test("of a signal, a timeout and a cancel the first in the log counts, and the others find no wait", () => {
  const taken = setupWait({ timeout_ms: 10 });
  signal(taken);
  expect(due(taken)).toBe("stale");
  const late = setupWait({ timeout_ms: 10 }, ["s>w", "w>b", "w:timeout>late"]);
  due(late);
  expect(signal(late)).toBe("kept");
  expect(due(late)).toBe("stale");
  const cancelled = setupWait({ timeout_ms: 10 });
  const stop = onCancel(cancelled.state, { reason: "enough", requestId: "", now: 0 });
  if (stop.kind === "accepted") stop.facts.forEach(cancelled.append);
  expect([due(cancelled), signal(cancelled)]).toEqual(["stale", "finished"]);
  expect(cancelled.node("w")).toMatchObject({ status: "cancelled", wait: undefined });
  expect(cancelled.state.waits.size).toBe(0);
  expect(due(setupWait())).toBe("stale");
});

test("a run keeps a bounded number of signals, and a bounded number of bytes", () => {
  const run = begin(sketch(["s", "a", wait("w"), wait("v", { name: "x" })], ["s>a", "a>w", "s>v"]));
  for (let at = 0; at < LIMITS.signalsKept; at += 1) expect(signal(run)).toBe("kept");
  expect(onSignal(run.state, arrivalOf("paid"), checkPayload)).toEqual({
    kind: "full",
    limit: "signalsKept",
  });
  // A signal that a node takes at once is not kept.
  expect(signal(run, { name: "x" })).toBe("taken");
  const other = begin(sketch(["s", "a", wait("w")], ["s>a", "a>w"]));
  const payloadJson = JSON.stringify("x".repeat(LIMITS.signalBytes - 2));
  for (let at = 0; at < 4; at += 1) expect(signal(other, { payloadJson })).toBe("kept");
  expect(signal(other, { payloadJson })).toBe("full");
});

test("the signal is the cause of the end of a wait, and what made a node ready is that of an early one", () => {
  const run = setupWait();
  signal(run);
  const at = run.events.findIndex(({ type }) => type === "run.signalled");
  const [signalled, ended] = run.events.slice(at);
  expect([signalled?.type, ended?.type]).toEqual(["run.signalled", "node.completed"]);
  expect(ended !== undefined && causeOf(ended)).toBe(signalled?.seq);
});
