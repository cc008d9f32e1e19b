import type { RunId } from "@pawl/core/name/ids";
import { createMemoryStore } from "@pawl/platform/store/memory/store";
import { expect, test } from "vitest";
import { askPause } from "../commands/pause-run.ts";
import { newRunId } from "../run-id.ts";
import { followPause } from "../commands/follow-pause.ts";
import {
  connect,
  createEngine,
  type Engine,
  saveGraph,
  workUntilQuiet,
} from "../tick/tick.fixture.ts";

const WORKFLOW = { scope: "workflow", tenantId: "default", name: "w" } as const;
const QUEUE = { scope: "queue", tenantId: "default", name: "noop" } as const;
const ADA = { by: "ada", reason: "a bad model" };
const BEN = { by: "ben", reason: "" };
const CHAIN = {
  nodes: [
    { id: "start", type: "start" },
    { id: "next", type: "noop" },
  ],
  edges: [{ source: "start", target: "next" }],
};

async function setup(graph: object = CHAIN) {
  const clock = { now: 1_000_000 };
  const now = (): number => clock.now;
  const store = createMemoryStore({ now });
  const engine = createEngine(store, now);
  const definition = await saveGraph(store, graph);
  const statusOf = (runId: RunId) => store.view.run(runId)?.status;
  const typesOf = (runId: RunId) => store.view.events(runId).map((event) => event.type);
  const hold = (runId: RunId, kind: "pause" | "resume") =>
    askPause(engine, kind, runId, { scope: "run", who: "cy", reason: "" });
  const pauseAll = async () => {
    const pause = await store.pauses.pause(WORKFLOW, ADA);
    await engine.known.reload();
    return pause;
  };
  const resumeAll = async () => {
    const pause = await store.pauses.resume(WORKFLOW, BEN);
    if (pause === undefined) throw new Error("it was not paused");
    await engine.known.reload();
    return pause;
  };
  return { clock, store, engine, definition, statusOf, typesOf, hold, pauseAll, resumeAll };
}

/** Has the loop do a tick. */
const tickOnce = (engine: Engine): Promise<void> =>
  new Promise((resolve, reject) =>
    engine.loop.submit({ kind: "deadline", runId: newRunId(0), answer: { resolve, reject } }),
  );

test("a run that is started while its workflow is paused is accepted and begins paused, in one commit", async () => {
  const { store, engine, definition, statusOf, typesOf, pauseAll, resumeAll } = await setup();
  const executor = connect(engine, 4);
  await pauseAll();
  const accepted = await engine.start(definition);
  const { runId } = accepted;
  expect([accepted, statusOf(runId)]).toMatchObject([{ status: "paused" }, "paused"]);
  expect(store.view.run(runId)?.version).toBe(1);
  expect(store.view.events(runId).at(-1)?.payload).toMatchObject({
    to: "paused",
    scope: "workflow",
    who: "ada",
    reason: "a bad model",
  });
  expect([executor.take(), store.view.jobs()]).toEqual([[], []]);
  await followPause(engine, await resumeAll());
  await workUntilQuiet([{ engine, executor }]);
  expect(statusOf(runId)).toBe("completed");
  expect(typesOf(runId).filter((type) => type === "run.status.changed")).toHaveLength(2);
  expect((await store.pauses.read()).pauses).toEqual([]);
});

test("a scheduler that does not know of a pause yet starts no node past it", async () => {
  const { store, engine, definition, statusOf } = await setup();
  await engine.start(definition);
  await store.pauses.pause(WORKFLOW, ADA);
  const { runId } = await engine.start(definition);
  expect(statusOf(runId)).toBe("paused");
  expect(engine.errors).toEqual([]);
});

test("a run that is paused before it has begun asks for its slot when its workflow is resumed", async () => {
  const { store, engine, definition, statusOf, pauseAll, resumeAll } = await setup();
  const executor = connect(engine, 4);
  await pauseAll();
  const limits = { slot: { key: "k", limit: 1, scope: "workflow" } } as const;
  const { runId } = await engine.start(definition, null, "h", { limits });
  expect([statusOf(runId), store.view.slots()]).toEqual(["paused", []]);
  await followPause(engine, await resumeAll());
  await tickOnce(engine);
  await workUntilQuiet([{ engine, executor }]);
  expect(statusOf(runId)).toBe("completed");
});

test("the live runs of a workflow follow its pause, and runs paused by hand stay paused when it is resumed", async () => {
  const { store, engine, definition, statusOf, hold, pauseAll, resumeAll } = await setup();
  const executor = connect(engine, 4);
  const [free, byHand] = [await engine.start(definition), await engine.start(definition)];
  const running = executor.take();
  await hold(byHand.runId, "pause");
  await followPause(engine, await pauseAll());
  expect([free, byHand].map(({ runId }) => statusOf(runId))).toEqual(["paused", "paused"]);
  // What runs finishes, and nothing follows from it.
  for (const claim of running) {
    executor.session.letGo(claim);
    expect(await engine.outcome(claim)).toBe("settled");
  }
  expect([executor.take(), store.view.jobs()]).toEqual([[], []]);
  expect(await hold(byHand.runId, "resume")).toBe("held_by_workflow");
  expect(await hold(free.runId, "resume")).toBe("held_by_workflow");
  await followPause(engine, await resumeAll());
  await workUntilQuiet([{ engine, executor }]);
  expect([free, byHand].map(({ runId }) => statusOf(runId))).toEqual(["completed", "paused"]);
  expect(await hold(byHand.runId, "resume")).toBe("done");
  await workUntilQuiet([{ engine, executor }]);
  expect(statusOf(byHand.runId)).toBe("completed");
});

test("what is offered for a pause or a resumption that is over changes nothing", async () => {
  const { engine, definition, statusOf, pauseAll, resumeAll } = await setup();
  const { runId } = await engine.start(definition);
  const pausing = await pauseAll();
  await followPause(engine, pausing);
  const resuming = await resumeAll();
  await pauseAll();
  await followPause(engine, resuming);
  expect(statusOf(runId)).toBe("paused");
  await followPause(engine, await resumeAll());
  await followPause(engine, pausing);
  expect(statusOf(runId)).toBe("scheduled");
});

test("a node of a paused type waits in the queue, and is claimed as soon as it is resumed", async () => {
  const { store, engine, definition, statusOf } = await setup();
  const executor = connect(engine, 4);
  await store.pauses.pause(QUEUE, ADA);
  await engine.known.reload();
  const { runId } = await engine.start(definition);
  await workUntilQuiet([{ engine, executor }]);
  expect(store.view.jobs().map((job) => job.nodeType)).toEqual(["noop"]);
  expect(statusOf(runId)).toBe("running");
  await store.pauses.resume(QUEUE, BEN);
  await engine.known.reload();
  await tickOnce(engine);
  await workUntilQuiet([{ engine, executor }]);
  expect(statusOf(runId)).toBe("completed");
});

test("a scheduler that does not know of a queue's pause yet claims nothing of it, from the queue or straight away", async () => {
  const { store, engine, definition, typesOf } = await setup();
  const queued = await engine.start(definition);
  const executor = connect(engine, 4);
  await tickOnce(engine);
  const [claim] = executor.take();
  if (claim === undefined) throw new Error("nothing was handed out");
  await store.pauses.pause(QUEUE, ADA);
  executor.session.letGo(claim);
  expect(await engine.outcome(claim)).toBe("settled");
  expect(executor.take()).toEqual([]);
  const epoch = engine.known.current.epoch;
  expect(epoch).toBe((await store.pauses.read()).epoch);
  // Now one that believes the queue is free, with a job in it.
  await store.pauses.resume(QUEUE, BEN);
  await engine.known.reload();
  await store.pauses.pause(QUEUE, ADA);
  await tickOnce(engine);
  expect(executor.take()).toEqual([]);
  expect(typesOf(queued.runId).filter((type) => type === "node.started")).toHaveLength(1);
  expect(store.view.jobs()).toHaveLength(1);
});
