import { expect, test } from "vitest";
import { createHeldStore, promptTimers, quiet, received, report } from "./held-store.fixture.ts";
import { connect, createEngine, saveGraph } from "./tick.fixture.ts";

const ONE = { nodes: [{ id: "start", type: "start" }], edges: [] };
const FAN = {
  nodes: ["start", "a", "b", "c"].map((id) => ({ id, type: id === "start" ? "start" : "noop" })),
  edges: ["a", "b", "c"].map((target) => ({ source: "start", target })),
};

async function setup() {
  const now = (): number => 1_000_000;
  const store = createHeldStore(now);
  const engine = createEngine(store, now, { timers: promptTimers });
  await engine.known.reload();
  const executor = connect(engine, 16);
  const claims = () => received(executor).given.map(({ claim }) => claim);
  return { store, engine, executor, claims };
}

test("a claim is sent to its executor only after its commit, and its caller is answered only then", async () => {
  const { store, engine, claims } = await setup();
  const id = await saveGraph(store, ONE);
  store.hold();
  let isAnswered = false;
  const started = engine.start(id).finally(() => (isAnswered = true));
  await quiet();
  expect(store.waitingCount()).toBe(1);
  expect(claims()).toEqual([]);
  expect(isAnswered).toBe(false);
  store.letAllGo();
  const { runId } = await started;
  expect(claims()).toMatchObject([{ runId, nodeId: "start", epoch: 3 }]);
});

test("a commit that fails has sent nothing, and the run starts once when it is tried again", async () => {
  const { store, engine, executor, claims } = await setup();
  const id = await saveGraph(store, ONE);
  store.hold();
  const started = engine.start(id);
  await quiet();
  store.letGo("moved");
  await quiet();
  expect(executor.items).toEqual([]);
  store.letAllGo();
  const { runId } = await started;
  expect(claims()).toMatchObject([{ runId, nodeId: "start", epoch: 3 }]);
  expect(executor.session).toMatchObject({ heldCount: 1, reserved: 0 });
});

test("inputs about other runs are drafted during a commit, and all of them are the next commit", async () => {
  const { store, engine } = await setup();
  const id = await saveGraph(store, ONE);
  store.hold();
  const first = engine.start(id);
  await quiet();
  const others = [engine.start(id), engine.start(id)];
  await quiet();
  expect(store.waitingCount()).toBe(1);
  store.letGo();
  await first;
  await quiet();
  expect(store.waitingCount()).toBe(1);
  store.letAllGo();
  await Promise.all(others);
  await engine.loop.afterTick();
  expect(engine.eventCounts).toEqual([3, 6]);
});

test("inputs about a run that is being committed join the very next commit, in their order", async () => {
  const { store, engine, executor, claims } = await setup();
  const other = await saveGraph(store, ONE);
  const { runId } = await engine.start(await saveGraph(store, FAN));
  for (const claim of claims()) await report(engine, executor, claim);
  const [first, ...others] = claims();
  if (first === undefined) throw new Error("no node was assigned");
  await engine.loop.afterTick();
  const before = engine.eventCounts.length;
  store.hold();
  const outcomes = [report(engine, executor, first)];
  await quiet();
  outcomes.push(...others.map((claim) => report(engine, executor, claim)));
  // Another run in the same tick does not make them wait for one commit more.
  const started = engine.start(other);
  await quiet();
  expect(store.waitingCount()).toBe(1);
  store.letGo();
  await quiet();
  expect(store.waitingCount()).toBe(1);
  store.letAllGo();
  expect(await Promise.all(outcomes)).toEqual(["settled", "settled", "settled"]);
  await started;
  await engine.loop.afterTick();
  expect(engine.eventCounts.length - before).toBe(2);
  const completed = store.view.events(runId).filter(({ type }) => type === "node.completed");
  expect(completed.map(({ nodeId }) => nodeId)).toEqual([
    "start",
    ...[first, ...others].map(({ nodeId }) => nodeId),
  ]);
});

test("partial output and the outcome behind it are two commits where the first is under way, with seqs that follow", async () => {
  const { store, engine, executor, claims } = await setup();
  const { runId } = await engine.start(await saveGraph(store, ONE));
  const [claim] = claims();
  if (claim === undefined) throw new Error("no node was assigned");
  store.hold();
  const kept = new Promise((resolve, reject) =>
    engine.loop.submit({
      kind: "streamed",
      fact: {
        ...claim,
        executorId: executor.session.executorId,
        ordinal: 0,
        type: "node.stream.delta",
        payload: { deltaIndex: 0, text: "a" },
      },
      answer: { resolve, reject },
    }),
  );
  await quiet();
  const settled = report(engine, executor, claim);
  await quiet();
  store.letAllGo();
  expect(await kept).toBe("held");
  expect(await settled).toBe("settled");
  const events = store.view.events(runId);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
  expect(events.map(({ type }) => type).slice(-3)).toEqual([
    "node.stream.delta",
    "node.completed",
    "run.completed",
  ]);
  expect(engine.conflicts.count).toBe(0);
});

test("inputs of the tick above a failed one are not lost, and none of them is answered early", async () => {
  const { store, engine, executor, claims } = await setup();
  const id = await saveGraph(store, ONE);
  await Promise.all([engine.start(id), engine.start(id)]);
  const [one, two] = claims();
  if (one === undefined || two === undefined) throw new Error("two nodes were not assigned");
  store.hold();
  const first = report(engine, executor, one);
  await quiet();
  const second = report(engine, executor, two);
  await quiet();
  store.letGo("moved");
  await quiet();
  expect(store.view.runs().every(({ endedAt }) => endedAt === null)).toBe(true);
  store.letAllGo();
  expect(await Promise.all([first, second])).toEqual(["settled", "settled"]);
  expect(store.view.runs().every(({ status }) => status === "completed")).toBe(true);
  expect(engine.errors).toEqual([]);
});
