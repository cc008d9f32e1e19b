import type { RunId } from "@pawl/core/name/ids";
import { createMemoryStore } from "@pawl/platform/store/memory/store";
import { expect, test } from "vitest";
import { askPause } from "../commands/pause-run.ts";
import { newRunId } from "../run-id.ts";
import {
  connect,
  createEngine,
  type Engine,
  saveGraph,
  workUntilQuiet,
} from "../tick/tick.fixture.ts";

const HOUR_MS = 3_600_000;
const GRAPH = { nodes: [{ id: "start", type: "start" }], edges: [] };
const SLOT = { limits: { slot: { key: "k", limit: 1, scope: "workflow" } } } as const;
const LINE = { thread: { threadId: "line", isCreated: true, strategy: "enqueue" } } as const;

async function setup() {
  const clock = { now: 1_000_000 };
  const now = (): number => clock.now;
  const store = createMemoryStore({ now });
  const engine = createEngine(store, now);
  const executor = connect(engine, 9);
  const definition = await saveGraph(store, GRAPH);
  const start = async (more: Parameters<Engine["start"]>[3] = {}): Promise<RunId> =>
    (await engine.start(definition, null, "h", more)).runId;
  const statusOf = (runId: RunId) => store.view.run(runId)?.status;
  const typesOf = (runId: RunId) => store.view.events(runId).map(({ type }) => type);
  const hold = (runId: RunId, kind: "pause" | "resume") =>
    askPause(engine, kind, runId, { scope: "run", who: "cy", reason: "" });
  const cancel = (runId: RunId) =>
    new Promise((resolve, reject) =>
      engine.loop.submit({
        ...{ kind: "cancel", runId, reason: "no", requestId: "" },
        answer: { resolve, reject },
      }),
    );
  const work = () => workAll(clock, engine, executor);
  return { clock, store, engine, executor, start, statusOf, typesOf, hold, cancel, work };
}

/** Has the engine look into its queues, and ends what it hands out. It takes ten milliseconds. */
async function workAll(
  clock: { now: number },
  engine: Engine,
  executor: ReturnType<typeof connect>,
): Promise<void> {
  // A job that asks for a thread or a slot comes back with it, and a job that came too early, too: a later tick takes it.
  for (let turn = 0; turn < 5; turn++) {
    clock.now += 2;
    await tickOnce(engine);
    await workUntilQuiet([{ engine, executor }]);
  }
}

/** Has the loop do a tick. */
const tickOnce = (engine: Engine): Promise<void> =>
  new Promise((resolve, reject) =>
    engine.loop.submit({ kind: "deadline", runId: newRunId(0), answer: { resolve, reject } }),
  );

test("nothing of a delayed run is planned before its time, and it begins then (S4.4)", async () => {
  const { clock, start, statusOf, typesOf, work } = await setup();
  const startAt = clock.now + HOUR_MS;
  const runId = await start({ startAt });
  clock.now = startAt - 11;
  await work();
  expect([statusOf(runId), typesOf(runId)]).toEqual(["pending", ["run.started"]]);
  clock.now = startAt + 1;
  await work();
  expect(statusOf(runId)).toBe("completed");
});

test("a scheduler that did not accept the run begins it on time", async () => {
  const { clock, store, engine, start, statusOf } = await setup();
  const startAt = clock.now + HOUR_MS;
  const runId = await start({ startAt });
  await engine.loop.stop();
  const successor = createEngine(store, () => clock.now);
  const executor = connect(successor, 9);
  for (const { nodeType, dueInMs } of (await store.journal.survey()).queues)
    if (dueInMs !== undefined) successor.waiting.enqueued(nodeType, dueInMs);
  clock.now = startAt + 1;
  await workAll(clock, successor, executor);
  expect(statusOf(runId)).toBe("completed");
});

test("a delayed run takes no slot of its workflow before its time", async () => {
  const { clock, store, start, statusOf, work } = await setup();
  const startAt = clock.now + HOUR_MS;
  const runId = await start({ startAt, ...SLOT });
  await work();
  expect(store.view.slots()).toEqual([]);
  const other = await start(SLOT);
  await work();
  expect([statusOf(other), statusOf(runId)]).toEqual(["completed", "pending"]);
  clock.now = startAt + 1;
  await work();
  expect([statusOf(runId), store.view.slots()]).toEqual(["completed", []]);
});

test("a delayed run neither holds its thread nor blocks the runs behind it, and goes before later ones once its time has come (S4.4, S4.29)", async () => {
  const { clock, executor, engine, start, statusOf, typesOf, work } = await setup();
  const startAt = clock.now + HOUR_MS;
  const delayed = await start({ startAt, ...LINE });
  const holder = await start(LINE);
  const [claim] = executor.take();
  if (claim === undefined) throw new Error("nothing was handed out");
  clock.now = startAt + 1;
  const later = await start(LINE);
  await tickOnce(engine);
  expect([delayed, holder, later].map(statusOf)).toEqual(["pending", "running", "pending"]);
  executor.session.letGo(claim);
  await engine.outcome(claim);
  expect([typesOf(delayed)[1], statusOf(later)]).toEqual(["run.thread.taken", "pending"]);
  await work();
  expect([delayed, holder, later].map(statusOf)).toEqual(["completed", "completed", "completed"]);
});

test("a run that waits for its time makes its thread busy for no strategy, and no strategy stops it", async () => {
  const { clock, start, statusOf, work } = await setup();
  const startAt = clock.now + HOUR_MS;
  const delayed = await start({ startAt, ...LINE });
  for (const strategy of ["reject", "interrupt", "rollback"] as const) {
    const runId = await start({ thread: { ...LINE.thread, strategy } });
    await work();
    expect([statusOf(runId), statusOf(delayed)], strategy).toEqual(["completed", "pending"]);
  }
  clock.now = startAt + 1;
  await work();
  expect(statusOf(delayed)).toBe("completed");
});

test("the strategy of a delayed run is about the runs at its acceptance: it is refused, or stops them at once", async () => {
  const { clock, executor, start, statusOf } = await setup();
  const startAt = clock.now + HOUR_MS;
  const holder = await start(LINE);
  executor.take();
  const asks = (strategy: "reject" | "interrupt") =>
    start({ startAt, thread: { ...LINE.thread, strategy } });
  await expect(asks("reject")).rejects.toMatchObject({ reason: "THREAD_BUSY" });
  expect(statusOf(holder)).toBe("running");
  const delayed = await asks("interrupt");
  expect([statusOf(holder), statusOf(delayed)]).toEqual(["cancelled", "pending"]);
});

test("a delayed run of a thread with a slot takes its thread and its slot once each, whatever gave it the thread", async () => {
  const { clock, store, executor, engine, start, statusOf, typesOf, work } = await setup();
  const startAt = clock.now + HOUR_MS;
  const holder = await start(LINE);
  const [claim] = executor.take();
  if (claim === undefined) throw new Error("nothing was handed out");
  const delayed = await start({ startAt, ...LINE, ...SLOT });
  // The holder ends after the time has come and before the scheduler takes the job of the delayed run.
  clock.now = startAt + 1;
  executor.session.letGo(claim);
  await engine.outcome(claim);
  await work();
  expect([holder, delayed].map(statusOf)).toEqual(["completed", "completed"]);
  expect(typesOf(delayed).filter((type) => type === "run.thread.taken")).toHaveLength(1);
  expect([store.view.slots(), store.view.jobs()]).toEqual([[], []]);
});

test("a delayed run that is paused and resumed keeps its time and its deadline; past its time it begins when it is resumed (X15)", async () => {
  const { clock, store, start, statusOf, hold, work } = await setup();
  const startAt = clock.now + HOUR_MS;
  const [early, late] = [await start({ startAt }), await start({ startAt })];
  const { deadlineAt } = store.view.run(early) ?? {};
  for (const runId of [early, late]) await hold(runId, "pause");
  expect(store.view.jobs()).toEqual([]);
  clock.now += HOUR_MS / 2;
  await work();
  await hold(early, "resume");
  await work();
  expect([statusOf(early), store.view.run(early)?.deadlineAt]).toEqual(["pending", deadlineAt]);
  clock.now = startAt + 1;
  await work();
  expect([early, late].map(statusOf)).toEqual(["completed", "paused"]);
  clock.now += 500;
  await work();
  await hold(late, "resume");
  expect(store.view.run(late)?.deadlineAt).toBe((deadlineAt ?? 0) + clock.now - startAt);
  await work();
  expect(statusOf(late)).toBe("completed");
});

test("a delayed run that is cancelled leaves no job behind, and a delayed run of a paused workflow begins paused", async () => {
  const { clock, store, engine, start, statusOf, cancel } = await setup();
  const startAt = clock.now + HOUR_MS;
  const runId = await start({ startAt });
  expect(store.view.jobs()).toHaveLength(1);
  await cancel(runId);
  expect([statusOf(runId), store.view.jobs()]).toEqual(["cancelled", []]);
  const workflow = { scope: "workflow", tenantId: "default", name: "w" } as const;
  await store.pauses.pause(workflow, { by: "ada", reason: "" });
  await engine.known.reload();
  const held = await start({ startAt });
  expect([statusOf(held), store.view.jobs()]).toEqual(["paused", []]);
});

test("a start that a run in quarantine refuses stops no other run of the thread (S4.27, S4.28)", async () => {
  const { engine, start, typesOf } = await setup();
  const [holder, broken] = [await start(LINE), await start(LINE)];
  await engine.mark(broken, { reason: "EVENT_LOG_CORRUPTION", detail: "a gap" });
  engine.cache.drop(broken);
  for (const strategy of ["interrupt", "rollback"] as const)
    await expect(start({ thread: { ...LINE.thread, strategy } })).rejects.toMatchObject({
      reason: "THREAD_BUSY",
    });
  await tickOnce(engine);
  expect(typesOf(holder)).not.toContain("run.cancelled");
});
