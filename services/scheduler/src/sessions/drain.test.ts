import { expect, test } from "vitest";
import { createMemoryStore } from "@pawl/platform/store/memory/store";
import { until } from "../../../../test/support/until.ts";
import { connect, createEngine, saveGraph } from "../tick/tick.fixture.ts";
import { drainExecutors } from "./give-back.ts";
import { connect as connectStream, type Item } from "./work-stream.fixture.ts";

const GRAPH = { nodes: [{ id: "start", type: "start" }], edges: [] };
const hello = (): Item => ({
  case: "register",
  value: { executorId: crypto.randomUUID(), nodeTypes: ["start"], slots: 1 },
});

/** A scheduler whose commits are held back. `begun` resolves when a commit waits; `commit` releases all of them. */
async function slowScheduler() {
  const store = createMemoryStore({ now: Date.now });
  const begun = Promise.withResolvers<void>();
  const commit = Promise.withResolvers<void>();
  const held: typeof store.journal.transact = (work) =>
    store.journal.transact(async (tx) => {
      const result = await work(tx);
      begun.resolve();
      await commit.promise;
      return result;
    });
  const journal = { ...store.journal, transact: held };
  const engine = createEngine({ ...store, journal }, Date.now);
  // A tick that has to read the pauses first would be tried twice.
  await engine.known.reload();
  const definition = await saveGraph(store, GRAPH);
  return { store, engine, definition, begun: begun.promise, commit: () => commit.resolve() };
}

test("executors are sent away behind what the tick under way has for them, and get nothing more (S0.47, X18)", async () => {
  const { engine, definition, begun, commit } = await slowScheduler();
  const executor = connect(engine, 4);
  const early = engine.start(definition);
  await begun;
  const drained = drainExecutors(engine.connected, engine.loop, engine.log);
  const late = engine.start(definition);
  expect(executor.items).toEqual([]);
  commit();
  await Promise.all([early, late, drained]);
  expect(executor.items.map(({ item }) => item.case)).toEqual(["assignment", "drain"]);
  expect(executor.session.heldCount).toBe(1);
});

test("an assignment for an executor that says goodbye meanwhile is given back, and costs no delivery (X18)", async () => {
  const { store, engine, definition, begun, commit } = await slowScheduler();
  const leaving = connectStream(store, engine);
  leaving.say(hello());
  await leaving.hear("registered");
  await until(() => engine.connected.sessions.length === 1, { what: "the executor to join" });
  const started = engine.start(definition);
  await begun;
  leaving.say({ case: "goodbye", value: {} });
  commit();
  const { runId } = await started;
  await until(() => store.view.leases().length === 0, { what: "the claim to be given back" });
  const recovered = store.view.events(runId).filter(({ type }) => type === "run.recovered");
  expect(recovered.map(({ payload }) => payload)).toMatchObject([
    { reason: "released", lostDeliveries: 0 },
  ]);
  const staying = connectStream(store, engine);
  staying.say(hello());
  expect((await staying.hear("assignment")).claim).toMatchObject({ runId, nodeId: "start" });
});

test("an executor that registers with a stopping scheduler is refused, also if the drain began meanwhile (S0.47)", async () => {
  const store = createMemoryStore({ now: Date.now });
  const engine = createEngine(store, Date.now);
  const begun = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const ensureQueues = async (): Promise<void> => {
    begun.resolve();
    await goOn.promise;
  };
  const early = connectStream(store, engine, { ensureQueues });
  early.say(hello());
  await begun.promise;
  await drainExecutors(engine.connected, engine.loop, engine.log);
  goOn.resolve();
  expect(await early.failed).toMatchObject({ reason: "DRAINING" });
  const late = connectStream(store, engine);
  late.say(hello());
  expect(await late.failed).toMatchObject({ reason: "DRAINING" });
  expect(late.heard).toEqual([]);
  expect(engine.connected.sessions).toEqual([]);
});

test("an assignment that a stream does not take before its scheduler stops is given back, and costs no delivery (X10, X18)", async () => {
  const store = createMemoryStore({ now: Date.now });
  const engine = createEngine(store, Date.now);
  const slow = connectStream(store, engine);
  slow.say(hello());
  await slow.hear("registered");
  slow.clog();
  const { runId } = await engine.start(await saveGraph(store, GRAPH));
  await drainExecutors(engine.connected, engine.loop, engine.log);
  await engine.loop.stop();
  expect(store.view.leases()).toEqual([]);
  const recovered = store.view.events(runId).filter(({ type }) => type === "run.recovered");
  expect(recovered.map(({ payload }) => payload)).toMatchObject([
    { reason: "released", lostDeliveries: 0 },
  ]);
});
