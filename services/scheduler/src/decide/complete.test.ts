import { LIMITS } from "@pawl/core/data/limits";
import { createMemoryStore } from "@pawl/platform/store/memory/store";
import { GLUE } from "@pawl/platform/queue/queue";
import { expect, test } from "vitest";
import { turns } from "../../../../test/support/until.ts";
import { connect, createEngine, saveGraph, workUntilQuiet } from "../tick/tick.fixture.ts";

const chainOf = (nodes: readonly object[]) => {
  const ids = nodes.map((_, index) => `n${index}`);
  return {
    nodes: nodes.map((node, index) => ({ id: `n${index}`, ...node })),
    edges: ids.slice(1).map((target, index) => ({ source: `n${index}`, target })),
  };
};
const noop = { type: "noop" };
const delay = { type: "delay", config: { delay_ms: 1_000 } };

function setup(options: Parameters<typeof createEngine>[2] = { completesGlue: true }) {
  const clock = { now: 1_000_000 };
  const now = (): number => clock.now;
  const store = createMemoryStore({ now });
  const engine = createEngine(store, now, options);
  const typesOf = async (runId: Parameters<typeof store.journal.load>[0][number]["runId"]) =>
    ((await store.journal.load([{ runId, afterSeq: 0 }]))[0]?.events ?? []).map(
      ({ type, nodeId }) => `${type} ${nodeId}`.trim(),
    );
  const settled = async (): Promise<void> => {
    await turns(2);
    await engine.loop.afterTick();
  };
  return { clock, store, engine, typesOf, settled };
}

test("a chain of ten glue nodes is one commit, without an executor", async () => {
  const { store, engine, typesOf, settled } = setup();
  const graph = chainOf([
    { type: "start" },
    ...Array.from({ length: 8 }, () => noop),
    { type: "end" },
  ]);
  const { runId } = await engine.start(await saveGraph(store, graph));
  await settled();
  expect(engine.eventCounts).toEqual([12]);
  expect((await typesOf(runId)).at(-1)).toBe("run.completed");
});

test("an executor's outcome and the glue behind it are one commit", async () => {
  const { store, engine, typesOf } = setup();
  const executor = connect(engine, 1, ["step"]);
  const graph = chainOf([{ type: "start" }, { type: "step" }, noop, noop, { type: "end" }]);
  const { runId } = await engine.start(await saveGraph(store, graph));
  await workUntilQuiet([{ engine, executor }]);
  expect(engine.eventCounts).toEqual([4, 5]);
  expect((await typesOf(runId)).at(-1)).toBe("run.completed");
});

test("glue behind a delay is completed when its time comes, without an executor (S3.29)", async () => {
  const { clock, store, engine, typesOf, settled } = setup();
  const graph = chainOf([{ type: "start" }, delay, { type: "end" }]);
  const { runId } = await engine.start(await saveGraph(store, graph));
  expect((await typesOf(runId)).at(-1)).toBe("node.queued n2");
  clock.now += 999;
  engine.loop.poll();
  await settled();
  expect((await typesOf(runId)).at(-1)).toBe("node.queued n2");
  clock.now += 2;
  engine.loop.poll();
  await settled();
  expect((await typesOf(runId)).slice(-2)).toEqual(["node.completed n2", "run.completed"]);
});

test("a run that is cancelled takes the job of its waiting glue along", async () => {
  const { store, engine } = setup();
  const graph = chainOf([{ type: "start" }, delay, { type: "end" }]);
  const { runId } = await engine.start(await saveGraph(store, graph));
  const waiting = async (): Promise<number> =>
    (await store.journal.survey()).queues.find(({ nodeType }) => nodeType === GLUE)?.waitingCount ??
    0;
  expect(await waiting()).toBe(1);
  await new Promise((resolve, reject) =>
    engine.loop.submit({
      kind: "cancel",
      runId,
      reason: "enough",
      requestId: "",
      answer: { resolve, reject },
    }),
  );
  expect(await waiting()).toBe(0);
});

test("a tick that has spent its budget leaves the rest of the glue to the next ones", async () => {
  const { store, engine, typesOf, settled } = setup();
  const items = Array.from({ length: 5_000 }, (_, index) => index);
  const map = { type: "map", config: { items, parallelism: 1_000, body: { type: "noop" } } };
  const { runId } = await engine.start(await saveGraph(store, chainOf([{ type: "start" }, map])));
  while ((await typesOf(runId)).at(-1) !== "run.completed") await settled();
  expect(engine.eventCounts.length).toBeGreaterThan(2);
  const most = LIMITS.inlineBytes / LIMITS.inlineBytesMin;
  for (const count of engine.eventCounts) expect(count).toBeLessThan(2 * most);
});

test("glue that reads more than a tick may evaluate goes to an executor", async () => {
  const { store, engine, typesOf } = setup();
  const executor = connect(engine, 1, ["end"]);
  const id = await saveGraph(store, chainOf([{ type: "start" }, { type: "end" }]));
  const input = JSON.stringify("x".repeat(LIMITS.inlineBytes / 2));
  const { runId } = await engine.start(id, null, "hash", { input });
  expect(executor.take().map(({ nodeId }) => nodeId)).toEqual(["n1"]);
  expect(await typesOf(runId)).toContain("node.completed n0");
});

test("with hand-off and glue off every node passes through the queue (S3.1)", async () => {
  const { store, engine, typesOf, settled } = setup({ completesGlue: false, handsOff: false });
  const executor = connect(engine, 4);
  const { runId } = await engine.start(await saveGraph(store, chainOf([{ type: "start" }, noop])));
  expect((await typesOf(runId)).at(-1)).toBe("node.queued n0");
  for (let node = 0; node < 2; node += 1) {
    await settled();
    await workUntilQuiet([{ engine, executor }]);
  }
  expect(await typesOf(runId)).toEqual([
    "run.started",
    ...["n0", "n1"].flatMap((id) => [
      `node.queued ${id}`,
      `node.started ${id}`,
      `node.completed ${id}`,
    ]),
    "run.completed",
  ]);
});

test("a waiting glue node that another one's failure cancels is left alone (S3.33)", async () => {
  const { clock, store, engine, typesOf, settled } = setup();
  const bad = { branches: [{ id: "yes", when: "ctx.input.missing > 1" }] };
  const graph = {
    nodes: [
      { id: "rest", ...delay },
      { id: "bad", type: "condition", config: bad, error_handling: "fail_workflow" },
      { id: "other", type: "noop" },
    ],
    edges: [
      { source: "rest", target: "bad" },
      { source: "rest", target: "other" },
    ],
  };
  const { runId } = await engine.start(await saveGraph(store, graph));
  clock.now += 1_001;
  engine.loop.poll();
  await settled();
  expect((await typesOf(runId)).slice(-3)).toEqual([
    "node.failed bad",
    "node.cancelled other",
    "run.failed",
  ]);
  expect(engine.errors).toEqual([]);
});
