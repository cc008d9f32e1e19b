// One process at a time speaks for an executor: which of two is refused or ended, and that neither harms the other (ADR 39).

import { createMemoryStore } from "@pawl/platform/store/memory/store";
import { Secret } from "@pawl/platform/config/secret";
import { expect, test } from "vitest";
import { createEngine, saveGraph } from "../tick/tick.fixture.ts";
import { quiet } from "../tick/held-store.fixture.ts";
import { connect, type Item } from "./work-stream.fixture.ts";

const GRAPH = { nodes: [{ id: "start", type: "start" }], edges: [] };
const TAKEN = { reason: "EXECUTOR_ID_TAKEN" };

const register = (executorId: string, more: object = {}): Item => ({
  case: "register",
  value: { executorId, nodeTypes: ["start"], slots: 1, ...more },
});

/** Two schedulers on one store, and an executor registered at the first. */
async function setup(more: object = {}) {
  const store = createMemoryStore({ now: () => 1_000 });
  const engines = [createEngine(store, () => 1_000), createEngine(store, () => 1_000)] as const;
  const executorId = crypto.randomUUID();
  const first = connect(store, engines[0]);
  first.say(register(executorId, more));
  await first.hear("registered");
  const definition = await saveGraph(store, GRAPH);
  return { store, engines, executorId, first, definition };
}

test.each([0, 1] as const)(
  "a second process with the id of a live executor is refused, and the first continues to work (at scheduler %i)",
  async (at) => {
    const scene = await setup({ instanceId: crypto.randomUUID() });
    const { store, engines, executorId, first, definition } = scene;
    for (const more of [{ instanceId: crypto.randomUUID() }, {}]) {
      const second = connect(store, engines[at]);
      second.say(register(executorId, more));
      await expect(second.failed).resolves.toMatchObject(TAKEN);
    }
    const { runId } = await engines[0].start(definition);
    expect((await first.hear("assignment")).claim).toMatchObject({ runId });
    first.say({ case: "renew", value: { held: [] } });
    await first.hear("renewed");
    expect((await store.executors.leasesOf(executorId as never, 0)).length).toBe(1);
  },
);

test("an older stream of a client that names no process is ended where a newer one registers at the same scheduler", async () => {
  const { store, engines, executorId, first, definition } = await setup();
  const second = connect(store, engines[0]);
  second.say(register(executorId));
  await expect(first.failed).resolves.toMatchObject(TAKEN);
  await second.hear("registered");
  const { runId } = await engines[0].start(definition);
  expect((await second.hear("assignment")).claim).toMatchObject({ runId });
});

test("the renewal of a session is refused and its stream ended, once a newer one speaks for the executor elsewhere", async () => {
  const instanceId = crypto.randomUUID();
  const { store, engines, executorId, first, definition } = await setup({ instanceId });
  const second = connect(store, engines[1]);
  second.say(register(executorId, { instanceId }));
  await second.hear("registered");
  first.say({ case: "renew", value: { held: [] } });
  await expect(first.failed).resolves.toMatchObject(TAKEN);
  first.sever();
  // What is ready at its scheduler waits for others.
  await engines[0].start(definition);
  expect(first.heard.map(({ case: kind }) => kind)).not.toContain("assignment");
});

test.each(["goodbye", "a broken connection"] as const)(
  "%s of an older session neither ends the newer one's life nor gives back its claims",
  async (end) => {
    const instanceId = crypto.randomUUID();
    const { store, engines, executorId, first, definition } = await setup({ instanceId });
    const { runId } = await engines[0].start(definition);
    const { claim } = await first.hear("assignment");
    const second = connect(store, engines[1]);
    second.say(register(executorId, { instanceId, held: [claim] }));
    await second.hear("registered");
    if (end === "goodbye") first.say({ case: "goodbye", value: {} });
    else first.sever();
    // Behind whatever its leaving led to.
    await quiet();
    await engines[0].loop.afterTick();
    expect(await store.executors.countAlive()).toBe(1);
    expect(store.view.events(runId).map(({ type }) => type)).not.toContain("run.recovered");
    second.say({
      case: "outcome",
      value: { ...(claim && { claim }), result: { case: "completed", value: {} } },
    });
    expect((await second.hear("settled")).claim).toEqual(claim);
  },
);

test("only an executor that presents the token may serve built-in node types", async () => {
  const store = createMemoryStore({ now: () => 1_000 });
  const engine = createEngine(store, () => 1_000);
  const token = new Secret("a-token-that-is-long");
  const builtIns = { types: new Set(["start", "http"]), token };
  for (const more of [{}, { token: "another" }]) {
    const stranger = connect(store, engine, { builtIns });
    stranger.say(register(crypto.randomUUID(), { nodeTypes: ["mine", "http"], ...more }));
    await expect(stranger.failed).resolves.toMatchObject({
      reason: "FORBIDDEN",
      message: expect.stringContaining("PAWL_EXECUTOR_TOKEN"),
    });
  }
  expect(await store.executors.countAlive()).toBe(0);
  const own = connect(store, engine, { builtIns });
  own.say(register(crypto.randomUUID(), { nodeTypes: ["mine"] }));
  await own.hear("registered");
  const house = connect(store, engine, { builtIns });
  house.say(register(crypto.randomUUID(), { token: token.reveal() }));
  await house.hear("registered");
});
