import { expect, test } from "vitest";
import { createMemoryStore } from "@pawl/platform/store/memory/memory-store";
import { connect, createEngine, saveGraph } from "../tick/tick.fixture.ts";
import { drainExecutors } from "./drain.ts";
import { connect as connectStream, type Item } from "./work-stream.fixture.ts";

test("executors are sent away behind what the tick under way has for them, and get nothing more (S0.47, X18)", async () => {
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
  const engine = createEngine(
    { ...store, journal: { ...store.journal, transact: held } },
    Date.now,
  );
  const executor = connect(engine, 4);
  // A tick that has to read the pauses first would be tried twice.
  await engine.known.reload();
  const definition = await saveGraph(store, { nodes: [{ id: "start", type: "start" }], edges: [] });
  const early = engine.start(definition);
  await begun.promise;
  const drained = drainExecutors(engine.roster, engine.loop);
  const late = engine.start(definition);
  expect(executor.items).toEqual([]);
  commit.resolve();
  await Promise.all([early, late, drained]);
  expect(executor.items.map(({ item }) => item.case)).toEqual(["assignment", "drain"]);
  expect(executor.session.heldCount).toBe(1);
});

test("who registers with a scheduler that is stopping is refused, also where the drain began meanwhile (S0.47)", async () => {
  const store = createMemoryStore({ now: Date.now });
  const engine = createEngine(store, Date.now);
  const begun = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const ensureQueues = async (): Promise<void> => {
    begun.resolve();
    await goOn.promise;
  };
  const hello = (): Item => ({
    case: "register",
    value: { executorId: crypto.randomUUID(), nodeTypes: ["start"], slots: 1 },
  });
  const early = connectStream(store, engine, { ensureQueues });
  early.say(hello());
  await begun.promise;
  await drainExecutors(engine.roster, engine.loop);
  goOn.resolve();
  expect(await early.failed).toMatchObject({ reason: "DRAINING" });
  const late = connectStream(store, engine);
  late.say(hello());
  expect(await late.failed).toMatchObject({ reason: "DRAINING" });
  expect(late.heard).toEqual([]);
  expect(engine.roster.sessions).toEqual([]);
});
