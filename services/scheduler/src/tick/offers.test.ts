import { nodeId } from "@pawl/core/name/ids";
import { expect, test } from "vitest";
import { ManualTimers } from "@pawl/platform/lifecycle/manual-timers.fixture";
import { createHeldStore, hear, INSTANT, quiet, report } from "./offers.fixture.ts";
import { connect, createEngine, saveGraph } from "./tick.fixture.ts";

const chain = (length: number, more: object = {}) => {
  const nodes = Array.from({ length }, (_, at) => ({
    id: `n${at}`,
    type: at === 0 ? "start" : "noop",
    ...more,
  }));
  const edges = nodes.slice(1).map(({ id }, at) => ({ source: `n${at}`, target: id }));
  return { nodes, edges };
};

async function setup(instantTypes: readonly string[] = INSTANT, linger?: ManualTimers) {
  const now = (): number => 1_000_000;
  const store = createHeldStore(now);
  const engine = createEngine(store, now, linger && { linger });
  await engine.known.reload();
  const executor = connect(engine, 16, INSTANT, instantTypes);
  const nodesGiven = () => hear(executor).given.map(({ claim }) => claim);
  return { store, engine, executor, nodesGiven };
}

/** The only one. */
function only<T>(list: readonly T[]): T {
  const [first, ...others] = list;
  if (first === undefined || others.length > 0) throw new Error(`${list.length} instead of one`);
  return first;
}

test("an instant node is offered while its claim is being committed; nobody else hears of it before", async () => {
  const { store, engine, nodesGiven } = await setup();
  const id = await saveGraph(store, chain(1));
  store.hold();
  let answered = false;
  const started = engine.start(id).then((answer) => {
    answered = true;
    return answer;
  });
  await quiet();
  expect(only(nodesGiven())).toMatchObject({
    nodeId: "n0",
    epoch: 3,
    offer: { id: expect.any(Number) },
  });
  expect(store.view.runs()).toEqual([]);
  expect(answered).toBe(false);
  store.letAllGo();
  const { runId } = await started;
  expect(store.view.leases()).toMatchObject([{ runId, nodeId: "n0", epoch: 3 }]);
});

test("what executors answer meanwhile is committed together, as the log of single commits would be", async () => {
  const logOf = async (instantTypes: readonly string[]) => {
    const { store, engine, executor } = await setup(instantTypes);
    const id = await saveGraph(store, chain(5));
    if (instantTypes.length > 0) store.hold();
    const started = engine.start(id);
    for (let hop = 0; hop < 5; hop += 1) {
      await quiet();
      for (const { claim } of hear(executor).given) void report(engine, executor, claim, { hop });
    }
    await quiet();
    if (instantTypes.length > 0) expect(store.waitingCount()).toBe(1);
    store.letAllGo();
    const { runId } = await started;
    await engine.loop.afterTick();
    expect(store.view.leases()).toEqual([]);
    return {
      commits: engine.eventCounts.length,
      events: store.view
        .events(runId)
        .map(({ seq, type, nodeId: node, epoch, value }) => ({ seq, type, node, epoch, value })),
    };
  };
  const offered = await logOf(INSTANT);
  const claimed = await logOf([]);
  expect(offered.events).toEqual(claimed.events);
  expect(offered.events.at(-1)?.type).toBe("run.completed");
  expect(offered.commits).toBe(2);
  expect(claimed.commits).toBe(6);
});

test("what executors answer at once goes into the very commit that claims it", async () => {
  const { store, engine, executor } = await setup(INSTANT, new ManualTimers());
  const id = await saveGraph(store, chain(2));
  const started = engine.start(id);
  for (let hop = 0; hop < 2; hop += 1) {
    await quiet();
    expect(store.view.runs()).toEqual([]);
    for (const { claim } of hear(executor).given) void report(engine, executor, claim, { hop });
  }
  const { runId } = await started;
  expect(store.view.events(runId).at(-1)?.type).toBe("run.completed");
  await engine.loop.afterTick();
  expect(engine.eventCounts).toEqual([store.view.events(runId).length]);
});

test("a tick waits a moment for what it offers, and no longer; what comes meanwhile is in it", async () => {
  const time = new ManualTimers();
  const { store, engine, executor } = await setup(INSTANT, time);
  const id = await saveGraph(store, chain(1));
  store.hold();
  const both = [engine.start(id)];
  await quiet();
  both.push(engine.start(id));
  await quiet();
  expect(hear(executor).given).toHaveLength(2);
  expect(store.waitingCount()).toBe(0);
  await time.advance(10);
  await quiet();
  expect(store.waitingCount()).toBe(1);
  store.letAllGo();
  await Promise.all(both);
  expect(store.view.leases()).toHaveLength(2);
});

test("an offer whose commit fails is withdrawn; its late outcome is not taken for one of the claim that has its epoch (S0.43)", async () => {
  const { store, engine, executor } = await setup();
  const id = await saveGraph(store, chain(2));
  store.hold();
  const started = engine.start(id);
  await quiet();
  const offer = only(hear(executor).given).claim;
  store.letGo("moved");
  await quiet();
  const { given, lost } = hear(executor);
  expect(lost).toMatchObject([{ nodeId: "n0", epoch: 3, offer: { id: offer.offer?.id } }]);
  // Done again without offers, so nobody has it until it is committed.
  expect(given).toEqual([]);
  store.letAllGo();
  const { runId } = await started;
  await quiet();
  const claim = only(hear(executor).given).claim;
  expect(claim).toMatchObject({ nodeId: "n0", epoch: 3 });
  expect(claim.offer).toBeUndefined();
  expect(report(engine, executor, offer, { from: "the offer" })).toBeUndefined();
  expect(executor.session.claimOn(runId, nodeId("n0"), 0)).toMatchObject({ epoch: 3 });
  await report(engine, executor, claim, { from: "the claim" });
  expect(store.view.events(runId).find(({ type }) => type === "node.completed")?.value).toBe(
    '{"from":"the claim"}',
  );
});

test("an outcome that came before its offer was withdrawn is refused, and what was drafted on it is gone", async () => {
  const { store, engine, executor } = await setup();
  const id = await saveGraph(store, chain(3));
  store.hold();
  const started = engine.start(id);
  await quiet();
  const first = report(engine, executor, only(hear(executor).given).claim, { from: "the offer" });
  await quiet();
  const second = only(hear(executor).given).claim;
  expect(second.nodeId).toBe("n1");
  store.letGo("moved");
  await quiet();
  expect(hear(executor).lost.map((claim) => claim.nodeId)).toEqual(["n0", "n1"]);
  store.letAllGo();
  const { runId } = await started;
  expect(await first).toBe("stale");
  expect(store.view.events(runId).map(({ type }) => type)).toEqual([
    "run.started",
    "node.queued",
    "node.started",
  ]);
  expect(engine.errors).toEqual([]);
});

test("a claim committed without anybody hearing of it is no offer any more, and is found by its lease", async () => {
  const { store, engine, executor } = await setup();
  const id = await saveGraph(store, chain(1));
  store.hold();
  const started = engine.start(id);
  await quiet();
  const offer = only(hear(executor).given).claim;
  store.letGo("unheard");
  await expect(started).rejects.toMatchObject({ reason: "STORE_UNAVAILABLE" });
  expect(hear(executor).lost).toMatchObject([{ nodeId: "n0", offer: { id: offer.offer?.id } }]);
  expect(executor.session.heldCount).toBe(0);
  expect(store.view.leases()).toMatchObject([{ nodeId: "n0", epoch: 3 }]);
});

test.each([
  ["that moderation looks at", chain(1, { moderation: "input" }), INSTANT],
  ["of a type that its executor did not name", chain(1), ["noop"]],
])("a node %s waits for its commit", async (_, graph, instantTypes) => {
  const { store, engine, nodesGiven } = await setup(instantTypes);
  const id = await saveGraph(store, graph);
  store.hold();
  const started = engine.start(id);
  await quiet();
  expect(nodesGiven()).toEqual([]);
  store.letAllGo();
  await started;
  expect(only(nodesGiven()).offer).toBeUndefined();
});

test("a run that streams is offered nothing until a commit has told its seqs", async () => {
  const { store, engine, executor, nodesGiven } = await setup(["noop"]);
  const { runId } = await engine.start(await saveGraph(store, chain(3)));
  const streaming = only(nodesGiven());
  const kept = new Promise((resolve, reject) =>
    engine.loop.offer({
      kind: "streamed",
      fact: {
        ...streaming,
        executorId: executor.session.executorId,
        ordinal: 0,
        type: "node.stream.delta",
        payload: { deltaIndex: 0, text: "a" },
      },
      answer: { resolve, reject },
    }),
  );
  expect(await kept).toBe("held");
  await report(engine, executor, streaming);
  const next = only(nodesGiven());
  expect(next).toMatchObject({ nodeId: "n1", epoch: 7 });
  expect(next.offer).toBeUndefined();
  expect(engine.conflicts.count).toBe(0);
  store.hold();
  void report(engine, executor, next);
  await quiet();
  expect(only(nodesGiven())).toMatchObject({
    nodeId: "n2",
    epoch: 10,
    offer: { id: expect.any(Number) },
  });
  store.letAllGo();
  await quiet();
  expect(store.view.run(runId)?.lastSeq).toBe(10);
});

test("slots bound offers as they bound claims: what finds no room waits in its queue", async () => {
  const { store, engine, executor, nodesGiven } = await setup();
  executor.session.resize(2);
  const width = Array.from({ length: 5 }, (_, at) => `m${at}`);
  const id = await saveGraph(store, {
    nodes: [{ id: "s", type: "start" }, ...width.map((name) => ({ id: name, type: "noop" }))],
    edges: width.map((target) => ({ source: "s", target })),
  });
  store.hold();
  const started = engine.start(id);
  await quiet();
  void report(engine, executor, only(nodesGiven()));
  await quiet();
  expect(nodesGiven()).toHaveLength(2);
  expect(executor.session).toMatchObject({ heldCount: 2, credit: 0 });
  store.letAllGo();
  await started;
  await quiet();
  expect(nodesGiven()).toEqual([]);
  expect(store.view.jobs()).toHaveLength(3);
  expect(executor.session.reserved).toBe(0);
});
