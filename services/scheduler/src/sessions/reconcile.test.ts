import { createMemoryStore } from "@pawl/platform/store/memory/store";
import { expect, test } from "vitest";
import { until } from "../../../../test/support/until.ts";
import { createEngine, saveGraph } from "../tick/tick.fixture.ts";
import { ASSIGNMENT_GRACE_MS } from "./reconcile.ts";
import { connect, type Item } from "./work-stream.fixture.ts";

const GRAPH = { nodes: [{ id: "start", type: "start" }], edges: [] };
const hello = (executorId: string): Item => ({
  case: "register",
  value: { executorId, nodeTypes: ["start"], slots: 1 },
});

test("an assignment that an executor's last scheduler could not deliver is given out as soon as the executor finds another one (X10)", async () => {
  // No time passes: there is no grace to wait for on a stream that has just begun.
  const store = createMemoryStore({ now: () => 1_000 });
  const [first, second] = [1, 2].map(() => createEngine(store, () => 1_000));
  if (first === undefined || second === undefined) throw new Error("no engines");
  const executorId = crypto.randomUUID();
  const before = connect(store, first);
  before.say(hello(executorId));
  await before.hear("registered");
  const { runId } = await first.start(await saveGraph(store, GRAPH));
  const told = await before.hear("assignment");
  // It came too late, and the executor knows nothing of it.
  const after = connect(store, second);
  after.say(hello(executorId));
  const again = await after.hear("assignment");
  expect(again.claim).toMatchObject({ runId, nodeId: "start" });
  expect(again.claim?.epoch).toBeGreaterThan(Number(told.claim?.epoch));
  const recovered = store.view.events(runId).filter(({ type }) => type === "run.recovered");
  expect(recovered.map(({ payload }) => payload)).toMatchObject([{ reason: "not_held" }]);
});

test("a claim that a working executor does not name may be on its way, for a while (X10)", async () => {
  let now = 1_000;
  const store = createMemoryStore({ now: () => now });
  const engine = createEngine(store, () => now);
  const executor = connect(store, engine);
  executor.say(hello(crypto.randomUUID()));
  await executor.hear("registered");
  const definition = await saveGraph(store, GRAPH);
  const { runId } = await engine.start(definition);
  await executor.hear("assignment");
  const recovered = () => store.view.events(runId).filter(({ type }) => type === "run.recovered");
  executor.say({ case: "renew", value: {} });
  await executor.hear("renewed");
  // Another tick: whatever the renewal led to would have happened by now.
  await engine.start(definition);
  expect(recovered()).toEqual([]);
  now += ASSIGNMENT_GRACE_MS;
  executor.say({ case: "renew", value: {} });
  await executor.hear("assignment", 2);
  expect(recovered().map(({ payload }) => payload)).toMatchObject([{ reason: "not_held" }]);
});

test("an assignment that waits to be sent stays its executor's, and costs no delivery when the stream breaks (X10)", async () => {
  let now = 1_000;
  const store = createMemoryStore({ now: () => now });
  const engine = createEngine(store, () => now);
  const executorId = crypto.randomUUID();
  const slow = connect(store, engine);
  slow.say(hello(executorId));
  await slow.hear("registered");
  slow.clog();
  const definition = await saveGraph(store, GRAPH);
  const { runId } = await engine.start(definition);
  await engine.loop.afterTick();
  expect(store.view.leases()).toHaveLength(1);
  now += ASSIGNMENT_GRACE_MS;
  // It renews and knows nothing of the claim, which is still on this side.
  slow.say({ case: "renew", value: {} });
  await engine.start(definition);
  expect(store.view.events(runId).map(({ type }) => type)).not.toContain("run.recovered");
  slow.sever();
  await until(() => store.view.leases().length === 0, { what: "the claim to be given back" });
  const recovered = store.view.events(runId).filter(({ type }) => type === "run.recovered");
  expect(recovered.map(({ payload }) => payload)).toMatchObject([
    { reason: "released", lostDeliveries: 0 },
  ]);
});
