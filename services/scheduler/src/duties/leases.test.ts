import { LIMITS } from "@pawl/core/data/limits";
import { DatabaseClock } from "@pawl/platform/db/clock";
import { createMemoryStore } from "@pawl/platform/store/memory/store";
import { expect, test } from "vitest";
import { connect, createEngine, saveGraph } from "../tick/tick.fixture.ts";
import { LeaseGrace, RECONNECT_MS } from "./lease-grace.ts";
import { sweepLeases } from "./sweeps.ts";

const HOUR_MS = 3_600_000;
const LEASE_MS = 5_000;
const RENEW_MS = 1_000;
const SWEEP_MS = 2_000;
const PATIENCE_MS = RENEW_MS + RECONNECT_MS;

/** A run whose node is held by a living executor, on a store whose clock can step beside steady time. */
async function setup() {
  const at = { steady: 10_000, database: Date.parse("2026-06-15T12:00:00Z") };
  const store = createMemoryStore({ now: () => at.database });
  const leaseGrace = new LeaseGrace({ renewMs: RENEW_MS, sweepMs: SWEEP_MS, now: () => at.steady });
  const clock = new DatabaseClock({ steady: () => at.steady, onStep: () => leaseGrace.stepped() });
  const learnClock = async (): Promise<void> => clock.correct(at.database, at.steady, at.steady);
  await learnClock();
  const engine = createEngine(store, clock.now);
  const { session } = connect(engine, 1);
  const { executors } = store;
  const row = {
    schedulerId: null,
    instanceId: null,
    nodeTypes: ["start"],
    slots: 1,
    description: "",
    leaseMs: LEASE_MS,
  };
  const { executorId, sessionId } = session;
  await executors.register({ executorId, sessionId, ...row });
  const graph = { nodes: [{ id: "start", type: "start" }], edges: [] };
  const { runId } = await engine.start(await saveGraph(store, graph));
  const parts = {
    ...engine,
    executors,
    leaseGrace,
    learnClock,
    onAlarm: () => {},
    onWebhookDue: () => {},
    onBulkDue: () => {},
  };
  const pass = (ms: number): void => {
    at.steady += ms;
    at.database += ms;
  };
  return {
    at,
    pass,
    sweep: async (): Promise<void> => {
      pass(SWEEP_MS);
      await sweepLeases(parts);
    },
    renew: () => executors.renew([session], LEASE_MS),
    types: (): string[] => store.view.events(runId).map(({ type }) => type),
    recovered: (): number =>
      store.view.events(runId).filter(({ type }) => type === "run.recovered").length,
  };
}

test("a step of the database's clock over a lease takes nothing from an executor that lives (X14)", async () => {
  const { at, sweep, renew, recovered } = await setup();
  for (let turn = 0; turn < 3; turn += 1) {
    await renew();
    await sweep();
  }
  at.database += HOUR_MS;
  await sweep();
  expect(recovered()).toBe(0);
  await renew();
  for (let passed = 0; passed <= PATIENCE_MS; passed += SWEEP_MS) {
    await sweep();
    await renew();
  }
  await sweep();
  expect(recovered()).toBe(0);
});

test("an executor that stays silent after such a step loses its claims once it had the time to speak", async () => {
  const { at, sweep, recovered } = await setup();
  at.database += HOUR_MS;
  for (let passed = 0; passed <= PATIENCE_MS; passed += SWEEP_MS) await sweep();
  expect(recovered()).toBe(1);
});

test("a claim past its node's timeout ends although its executor renews, and not a moment before", async () => {
  const { sweep, renew, types } = await setup();
  const turn = async (): Promise<void> => {
    await renew();
    await sweep();
  };
  for (let passed = 0; passed <= PATIENCE_MS; passed += SWEEP_MS) await turn();
  const limitMs = LIMITS.nodeTimeoutMs + LIMITS.timeoutGraceMs;
  for (let passed = PATIENCE_MS + 3 * SWEEP_MS; passed < limitMs; passed += SWEEP_MS) await turn();
  expect(types()).not.toContain("node.timed_out");
  for (let passed = 0; passed <= 4 * SWEEP_MS; passed += SWEEP_MS) await turn();
  expect(types()).toContain("node.timed_out");
  expect(types()).not.toContain("run.recovered");
});

test("a step of the database's clock over a node's timeout ends nothing until the timeout has passed since", async () => {
  const { at, sweep, renew, types } = await setup();
  const turns = async (forMs: number): Promise<void> => {
    for (let passed = 0; passed < forMs; passed += SWEEP_MS) {
      await renew();
      await sweep();
    }
  };
  await turns(PATIENCE_MS + SWEEP_MS);
  at.database += HOUR_MS;
  await turns(PATIENCE_MS + 3 * SWEEP_MS);
  expect(types()).not.toContain("node.timed_out");
  await turns(LIMITS.nodeTimeoutMs + LIMITS.timeoutGraceMs);
  expect(types()).toContain("node.timed_out");
});
