import { expect, test } from "vitest";
import { runId as runIdOf } from "@pawl/core/name/ids";
import { createMemoryStore } from "@pawl/platform/store/memory/store";
import { Inbox } from "./inbox.ts";
import type { Input } from "./input.ts";
import { connect, createEngine, saveGraph } from "../tick/tick.fixture.ts";

const answer = { resolve: () => {}, reject: () => {} };
const about = (run: string, what = ""): Input => ({
  kind: "cancel",
  runId: runIdOf(run),
  reason: what,
  requestId: "",
  answer,
});
const told = (inputs: readonly Input[]): string[] =>
  inputs.map((input) => (input.kind === "cancel" ? input.runId + input.reason : input.kind));

test("inputs are taken in the order of arrival, a bounded number at a time", () => {
  const inbox = new Inbox();
  for (let nth = 0; nth < 50; nth += 1) inbox.push(about(`r${nth}`));
  expect(told(inbox.take(40))).toEqual(Array.from({ length: 40 }, (_, nth) => `r${nth}`));
  expect(inbox.size).toBe(10);
});

test("the oldest left input goes first, new inputs go before the other left ones, and each run keeps its order", () => {
  const inbox = new Inbox();
  inbox.leave([about("a", "1"), about("b", "1"), about("a", "2"), about("c", "1")]);
  inbox.push(about("new"), about("c", "2"), about("a", "3"));
  expect(told(inbox.take(256))).toEqual(["a1", "a2", "a3", "new", "b1", "c1", "c2"]);
  expect(inbox.size).toBe(0);
});

test("inputs that a failed tick had taken go before those it had left, so that each run keeps its order", () => {
  const inbox = new Inbox();
  inbox.push(about("b", "1"));
  inbox.leave([about("a", "2")]);
  inbox.putBack([about("a", "1"), about("c", "1")]);
  expect(told(inbox.take(256))).toEqual(["a1", "c1", "a2", "b1"]);
});

test("however much was left, something new comes along", () => {
  const inbox = new Inbox();
  inbox.leave(Array.from({ length: 300 }, (_, nth) => about(`left${nth}`)));
  inbox.push(about("new"));
  const taken = told(inbox.take(256));
  expect(taken.slice(0, 3)).toEqual(["left0", "new", "left1"]);
  expect(taken).toHaveLength(301);
});

test("wide graphs that begin at once are spread over ticks, and a start does not wait for all of them", async () => {
  const store = createMemoryStore({ now: Date.now });
  const engine = createEngine(store, Date.now);
  const executor = connect(engine, 100, ["start"]);
  const WIDTH = 300;
  const RUNS = 30;
  const names = Array.from({ length: WIDTH }, (_, nth) => `n${nth}`);
  const wide = await saveGraph(store, {
    nodes: [{ id: "start", type: "start" }, ...names.map((id) => ({ id, type: "noop" }))],
    edges: names.map((target) => ({ source: "start", target })),
  });
  const one = await saveGraph(store, { nodes: [{ id: "start", type: "start" }], edges: [] });
  await Promise.all(Array.from({ length: RUNS }, () => engine.start(wide)));
  let settled = 0;
  const outcomes = executor.take().map(async (claim) => {
    await engine.outcome(claim);
    settled += 1;
  });
  expect(outcomes).toHaveLength(RUNS);
  await Promise.race(outcomes);
  await engine.start(one);
  expect(settled).toBeLessThan(RUNS);
  await Promise.all(outcomes);
  expect(Math.max(...engine.eventCounts)).toBeLessThan(2_000 + 2 * WIDTH);
  const depths = (await store.journal.survey()).queues;
  expect(depths.find(({ nodeType }) => nodeType === "noop")?.waitingCount).toBe(RUNS * WIDTH);
});
