import { fromWire } from "@pawl/client";
import { type NodeView, type RunView, ViewFold } from "@pawl/core/log/view";
import { expect, test } from "vitest";
import { jsonBytesOf, scriptLog, viewOf } from "./scripted-events.fixture.ts";

function setup(): ReturnType<typeof scriptLog> & {
  fold: () => RunView;
  node: (id: string) => NodeView;
} {
  const log = scriptLog();
  const fold = (): RunView => viewOf(log.events);
  const node = (id: string): NodeView => {
    const found = fold().nodes.get(id);
    if (found === undefined) throw new Error(`no node ${id}`);
    return found;
  };
  log.add("run.started", "", { case: "runStarted", value: { inputJson: jsonBytesOf({ a: 1 }) } });
  return { ...log, fold, node };
}

const queued = { case: "nodeQueued", value: {} } as const;
const started = { case: "nodeStarted", value: { executorId: "e1" } } as const;
const delta = (deltaIndex: number, text: string) =>
  ({ case: "nodeStreamDelta", value: { deltaIndex, text } }) as const;

test("a run goes from scheduled to its verdict with its output", () => {
  const { add, fold } = setup();
  expect(fold()).toMatchObject({ status: "scheduled", input: '{"a":1}', startedAt: 1000 });
  add("run.completed", "", { case: "runCompleted", value: { outputJson: jsonBytesOf(2) } });
  expect(fold()).toMatchObject({ status: "completed", output: "2", endedAt: 1010, lastSeq: 2 });
});

test("events that come twice count once, wherever the stream was cut (S1.50)", () => {
  const { add, events, fold } = setup();
  add("node.queued", "a", queued);
  add("node.started", "a", started);
  add("node.stream.delta", "a", delta(0, "one "), { epoch: 3n });
  add("node.stream.delta", "a", delta(1, "two"), { epoch: 3n });
  const known = events.flatMap((event) => fromWire(event) ?? []);
  for (let cut = 0; cut <= known.length; cut++) {
    const resumed = new ViewFold();
    for (const event of known.slice(0, cut)) resumed.add(event);
    resumed.view();
    for (const event of known.slice(Math.max(cut - 2, 0))) resumed.add(event);
    expect(resumed.view()).toEqual(fold());
  }
});

test("a view never changes, and only the nodes that an event names become other objects", () => {
  const { add, events } = setup();
  add("node.queued", "a", queued);
  add("node.queued", "b", queued);
  add("node.started", "a", started);
  const steps = events.flatMap((event) => fromWire(event) ?? []);
  const folding = new ViewFold();
  for (const event of steps.slice(0, -1)) folding.add(event);
  const before = folding.view();
  const frozen = structuredClone(before);
  expect(folding.view()).toBe(before);
  for (const event of steps.slice(-1)) folding.add(event);
  const after = folding.view();
  expect(before).toEqual(frozen);
  expect(after.nodes.get("a")).toMatchObject({ status: "running" });
  expect(after.nodes.get("b")).toBe(before.nodes.get("b"));
});

test("a heartbeat and a fact that this console does not know are no events of the log (S1.45)", () => {
  const { add, events, fold } = setup();
  const before = fold();
  add("node.dreamt", "a", { case: undefined });
  add("heartbeat", "", { case: "heartbeat", value: {} });
  expect(events.slice(-2).map(fromWire)).toEqual([undefined, undefined]);
  expect(fold()).toEqual(before);
});

test("streamed text starts over with a new claim (S1.49)", () => {
  const { add, node } = setup();
  add("node.stream.delta", "a", delta(0, "lost "), { epoch: 3n });
  add("node.stream.delta", "a", delta(1, "words"), { epoch: 3n });
  add("node.stream.delta", "a", delta(0, "kept"), { epoch: 9n });
  expect(node("a").text).toBe("kept");
});

test("a retry ends one delivery and opens the next with its own attempt", () => {
  const { add, node } = setup();
  add("node.queued", "a", queued);
  add("node.started", "a", started);
  add("node.retried", "a", { case: "nodeRetried", value: { cause: "timeout", message: "slow" } });
  expect(node("a")).toMatchObject({ status: "retrying", cause: "timeout", message: "slow" });
  add("node.queued", "a", queued, { attempt: 2 });
  add("node.started", "a", started, { attempt: 2 });
  add(
    "node.completed",
    "a",
    { case: "nodeCompleted", value: { outputJson: jsonBytesOf("x") } },
    { attempt: 2 },
  );
  const { deliveries, ...rest } = node("a");
  expect(rest).toMatchObject({ status: "completed", attempt: 2, output: '"x"', message: "" });
  expect(deliveries.map(({ attempt, end }) => [attempt, end])).toEqual([
    [1, "retried"],
    [2, "completed"],
  ]);
});

test("a lost executor shows as a lost delivery of the same attempt", () => {
  const { add, node } = setup();
  add("node.queued", "a", queued);
  add("node.started", "a", started);
  const value = { reason: "lease_expired", executorId: "e1", lostDeliveries: 1 };
  add("run.recovered", "a", { case: "runRecovered", value });
  add("node.queued", "a", queued);
  const { deliveries, lostDeliveries, status } = node("a");
  expect({ lostDeliveries, status }).toEqual({ lostDeliveries: 1, status: "queued" });
  expect(deliveries.map(({ attempt, end }) => [attempt, end])).toEqual([
    [1, "lost"],
    [1, undefined],
  ]);
});

test("the executions of a node in a loop are kept apart", () => {
  const { events, add, fold } = setup();
  add("node.queued", "a", queued);
  add("node.queued", "a", queued);
  const second = events[2];
  if (second === undefined) throw new Error("no event");
  second.iteration = 1;
  expect([...fold().nodes.keys()]).toEqual(["a", "a#1"]);
});

test("a failure has its cause, its message and its details", () => {
  const { add, fold, node } = setup();
  add("node.queued", "a", queued);
  add("node.started", "a", started);
  const value = {
    cause: "provider_error",
    message: "503",
    detailsJson: jsonBytesOf({ status: 503 }),
  };
  add("node.failed", "a", { case: "nodeFailed", value });
  expect(node("a")).toMatchObject({
    status: "failed",
    cause: "provider_error",
    message: "503",
    details: '{"status":503}',
  });
  add("run.failed", "", {
    case: "runFailed",
    value: { failedNodeId: "a", message: "a failed: 503" },
  });
  expect(fold()).toMatchObject({ status: "failed", hasFailures: true, message: "a failed: 503" });
});

test("a map counts its iterations as they settle, each once (S3.30)", () => {
  const { add, events, node } = setup();
  add("node.expanded", "each", { case: "nodeExpanded", value: { width: 3 } });
  const item = (type: string, iteration: number, fact: Parameters<typeof add>[2]): void => {
    add(type, "each", fact);
    const last = events.at(-1);
    if (last !== undefined) last.iteration = iteration;
  };
  item("node.queued", 1, queued);
  item("node.completed", 1, { case: "nodeCompleted", value: {} });
  item("node.failed", 2, { case: "nodeFailed", value: { cause: "x" } });
  expect(node("each")).toMatchObject({ status: "waiting", width: 3, settledCount: 2 });
  expect(node("each#2")).toMatchObject({ status: "failed", iteration: 2 });
});
