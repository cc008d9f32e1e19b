import type { RunId } from "@pawl/core/name/ids";
import { createMemoryStore } from "@pawl/platform/store/memory/store";
import fc from "fast-check";
import { expect, test } from "vitest";
import { connect, createEngine, type Engine, saveGraph } from "../tick/tick.fixture.ts";
import { newRunId } from "../run-id.ts";
import type { NamedClaim } from "../inputs/input.ts";

fc.configureGlobal({ seed: 1 });

type Executor = ReturnType<typeof connect>;

const one = (node: object) => ({ nodes: [{ id: "work", type: "start", ...node }] });
const LIMITED = one({ concurrency: { key: "{{ ctx.input.customer }}", limit: 2 } });

function setup(engineCount = 1) {
  const clock = { now: 1_000_000 };
  const now = (): number => clock.now;
  const store = createMemoryStore({ now });
  const engines = Array.from({ length: engineCount }, () => createEngine(store, now));
  const engine = engines[0];
  if (engine === undefined) throw new Error("no engine");
  const statusOf = (runId: RunId) => store.view.run(runId)?.status;
  return { clock, store, engine, engines, statusOf };
}

/** Has every engine do a few ticks: what one has given, the next ones claim. */
async function quiet(engines: readonly Engine[]): Promise<void> {
  for (let turn = 0; turn < 3; turn++)
    for (const { loop } of engines)
      await new Promise<void>((resolve, reject) =>
        loop.submit({ kind: "deadline", runId: newRunId(0), answer: { resolve, reject } }),
      );
}

async function lose(engine: Engine, executor: Executor, claim: NamedClaim): Promise<void> {
  executor.session.letGo(claim);
  await new Promise((resolve, reject) =>
    engine.loop.submit({
      kind: "lost",
      claim,
      reason: "lease_expired",
      executorId: executor.session.executorId,
      answer: { resolve, reject },
    }),
  );
}

const cancel = (engine: Engine, runId: RunId) =>
  new Promise((resolve, reject) =>
    engine.loop.submit({
      kind: "cancel",
      runId,
      reason: "enough",
      requestId: "",
      answer: { resolve, reject },
    }),
  );

test("a key never has more claims than its limit, and others are not held up by it (X24)", async () => {
  const { store, engine } = setup();
  const executor = connect(engine, 100);
  const id = await saveGraph(store, LIMITED);
  for (let n = 0; n < 6; n++) await engine.start(id, null, "h", { input: '{"customer":"a"}' });
  await engine.start(id, null, "h", { input: '{"customer":"b"}' });
  await quiet([engine]);
  expect(executor.take()).toHaveLength(3);
  expect(store.view.slots().filter((row) => row.state === "waiting")).toHaveLength(4);
});

test("a freed slot goes to the most urgent waiter, then to the one that came first (X16)", async () => {
  const { store, engine } = setup();
  const executor = connect(engine, 100);
  const id = await saveGraph(store, one({ concurrency: { limit: 1 } }));
  const start = (priority: number) => engine.start(id, null, "h", { priority });
  const order = [await start(0), await start(5), await start(5), await start(-5)];
  const [holder, second, third, urgent] = order.map(({ runId }) => runId);
  const seen: (RunId | undefined)[] = [];
  for (let n = 0; n < 4; n++) {
    await quiet([engine]);
    const [claim, ...others] = executor.take();
    expect(others).toEqual([]);
    seen.push(claim?.runId);
    if (claim !== undefined) await engine.outcome(claim);
  }
  expect(seen).toEqual([holder, urgent, second, third]);
  expect(store.view.slots()).toEqual([]);
});

test("a lost claim, a failure and a cancelled run give their slots on; nothing leaks", async () => {
  const { store, engine, statusOf } = setup();
  const executor = connect(engine, 100);
  const id = await saveGraph(store, one({ concurrency: { limit: 1 } }));
  const runs = [];
  for (let n = 0; n < 4; n++) runs.push((await engine.start(id)).runId);
  await quiet([engine]);
  const [first] = executor.take();
  if (first === undefined) throw new Error("nothing was assigned");
  await lose(engine, executor, first);
  await quiet([engine]);
  // The run that lost its claim queues up again behind those that waited.
  const [second] = executor.take();
  expect(second?.runId).toBe(runs[1]);
  if (second === undefined) throw new Error("nothing was assigned");
  await cancel(engine, second.runId);
  await cancel(engine, runs[2] as RunId);
  await quiet([engine]);
  for (let n = 0; n < 3; n++) {
    for (const claim of executor.take())
      await engine.outcome(claim, {
        kind: "failed",
        cause: "handler_error",
        message: "no",
        permanent: true,
        durationMs: 1,
      });
    await quiet([engine]);
  }
  expect(runs.map(statusOf)).toEqual(["failed", "cancelled", "cancelled", "failed"]);
  expect(store.view.slots()).toEqual([]);
});

test("a node whose key cannot be filled in fails and says why", async () => {
  const { store, engine, statusOf } = setup();
  const { runId } = await engine.start(await saveGraph(store, LIMITED));
  expect(statusOf(runId)).toBe("failed");
  const failed = store.view.events(runId).find((event) => event.type === "node.failed");
  expect(failed?.payload).toMatchObject({
    cause: "limit_key_invalid",
    message: expect.stringContaining("ctx.input.customer"),
  });
});

test("iterations of a map share the slots of their keys", async () => {
  const { store, engine, statusOf } = setup();
  const executor = connect(engine, 100, ["start", "map", "noop"]);
  const body = { type: "noop", config: {} };
  const config = { items: "{{ ctx.input.items }}", body, parallelism: 10 };
  const concurrency = { key: "{{ item.shop }}", limit: 1 };
  const id = await saveGraph(store, {
    nodes: [
      { id: "start", type: "start" },
      { id: "m", type: "map", config, concurrency },
    ],
    edges: [{ source: "start", target: "m" }],
  });
  const { runId } = await engine.start(id);
  for (const claim of executor.take()) await engine.outcome(claim);
  const [map] = executor.take();
  if (map === undefined) throw new Error("nothing was assigned");
  const items = ["a", "a", "b", "a", "b"].map((shop) => ({ shop }));
  await engine.outcome(map, {
    kind: "expanded",
    itemsJson: JSON.stringify(items),
    width: items.length,
    cut: false,
    durationMs: 1,
  });
  const rounds: number[][] = [];
  for (let n = 0; n < 3; n++) {
    await quiet([engine]);
    const claims = executor.take();
    rounds.push(claims.map((claim) => claim.iteration).toSorted((a, b) => a - b));
    for (const claim of claims) await engine.outcome(claim);
  }
  expect(rounds).toEqual([[1, 3], [2, 5], [4]]);
  expect(statusOf(runId)).toBe("completed");
});

test("runs beyond their workflow's limit wait as pending, begin in order, and can be cancelled", async () => {
  const { store, engine, statusOf } = setup();
  const executor = connect(engine, 100);
  const id = await saveGraph(store, one({}));
  const limits = { slot: { key: "k", limit: 1, scope: "workflow" } } as const;
  const runs: RunId[] = [];
  for (let n = 0; n < 4; n++) runs.push((await engine.start(id, null, "h", { limits })).runId);
  await quiet([engine]);
  expect(runs.map(statusOf)).toEqual(["running", "pending", "pending", "pending"]);
  expect(store.view.events(runs[1] as RunId).map((event) => event.type)).toEqual(["run.started"]);
  await cancel(engine, runs[1] as RunId);
  for (let n = 0; n < 3; n++) {
    for (const claim of executor.take()) await engine.outcome(claim);
    await quiet([engine]);
  }
  expect(runs.map(statusOf)).toEqual(["completed", "cancelled", "completed", "completed"]);
  expect(store.view.events(runs[2] as RunId).map((event) => event.type)).toEqual([
    "run.started",
    "run.status.changed",
    "node.queued",
    "node.started",
    "node.completed",
    "run.completed",
  ]);
  expect(store.view.slots()).toEqual([]);
});

test("a rate lets no more starts into any window than it says, and wastes none", async () => {
  const { store, engine, clock } = setup();
  const executor = connect(engine, 100);
  const id = await saveGraph(store, one({ rate: { limit: 3, per_ms: 1_000 } }));
  const starts: number[] = [];
  for (let n = 0; n < 10; n++) await engine.start(id);
  for (let step = 0; step < 60; step++) {
    await quiet([engine]);
    for (const claim of executor.take()) {
      starts.push(clock.now);
      await engine.outcome(claim);
    }
    clock.now += 100;
  }
  expect(starts).toHaveLength(10);
  for (const [index, at] of starts.entries())
    if (index >= 3) expect(at - (starts[index - 3] ?? 0)).toBeGreaterThanOrEqual(1_000);
  expect((starts.at(-1) ?? 0) - (starts[0] ?? 0)).toBeLessThanOrEqual(3_300);
});

const step = fc.oneof(
  fc.record({ kind: fc.constant("start" as const), key: fc.integer({ min: 0, max: 2 }) }),
  fc.record({
    kind: fc.constantFrom("finish" as const, "lose" as const, "cancel" as const),
    pick: fc.nat(20),
    by: fc.nat(1),
  }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Two schedulers with an executor each, and what their executors hold. */
async function stage() {
  const { store, engines } = setup(2);
  const crew = engines.map((engine) => ({ engine, executor: connect(engine, 3) }));
  const id = await saveGraph(store, LIMITED);
  const held: { claim: NamedClaim; engine: Engine; executor: Executor }[] = [];
  const settle = async (): Promise<void> => {
    for (const engine of engines) engine.waiting.enqueued("start");
    await quiet(engines);
    for (const { engine, executor } of crew)
      for (const claim of executor.take()) held.push({ claim, engine, executor });
    checkSlots(store);
  };
  const end = async (at: number, isLost: boolean): Promise<void> => {
    const [found] = held.splice(at % Math.max(1, held.length), 1);
    if (found === undefined) return;
    const { claim, engine, executor } = found;
    if (isLost) return await lose(engine, executor, claim);
    executor.session.letGo(claim);
    await engine.outcome(claim);
  };
  const act = async (each: Step): Promise<void> => {
    if (each.kind === "start") {
      const input = `{"customer":${each.key}}`;
      await engines[each.key % 2]?.start(id, null, "h", { input });
    } else if (each.kind === "cancel") {
      const runs = store.view.runs();
      const run = runs[each.pick % Math.max(1, runs.length)];
      const engine = engines[each.by];
      if (run !== undefined && engine !== undefined) await cancel(engine, run.runId);
    } else await end(each.pick, each.kind === "lose");
    await settle();
  };
  const finish = async (): Promise<void> => {
    for (let round = 0; round < 100 && store.view.slots().length > 0; round++) {
      while (held.length > 0) await end(0, false);
      await settle();
    }
  };
  return { store, engines, act, finish };
}

test("whatever happens in whatever order, slots are never overrun and never leak (X24)", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const { store, engines, act, finish } = await stage();
      for (const each of steps) await act(each);
      await finish();
      expect(store.view.slots()).toEqual([]);
      expect(store.view.runs().every((run) => run.endedAt !== null)).toBe(true);
      expect(engines.flatMap((engine) => engine.errors)).toEqual([]);
    }),
    { numRuns: 25 },
  );
});

/** Held slots and live claims are within the limit, and no run waits while a slot is free. */
function checkSlots(store: ReturnType<typeof createMemoryStore>): void {
  for (const rows of Map.groupBy(store.view.slots(), (row) => row.key).values()) {
    const held = rows.filter((row) => row.state === "held").length;
    expect(held).toBeLessThanOrEqual(2);
    if (rows.length > held) expect(held).toBe(2);
  }
}
