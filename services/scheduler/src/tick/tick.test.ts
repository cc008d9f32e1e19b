import { expect, test } from "vitest";
import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import { createMemoryStore } from "@pawl/platform/store/memory/store";
import { connect, createEngine, saveGraph, workUntilQuiet } from "./tick.fixture.ts";

const chain = {
  nodes: [
    { id: "start", type: "start" },
    { id: "a", type: "noop" },
    { id: "b", type: "noop" },
  ],
  edges: [
    { source: "start", target: "a" },
    { source: "a", target: "b" },
  ],
};
const diamond = {
  nodes: [
    { id: "start", type: "start" },
    { id: "left", type: "noop" },
    { id: "right", type: "noop" },
    { id: "join", type: "noop" },
  ],
  edges: [
    { source: "start", target: "left" },
    { source: "start", target: "right" },
    { source: "left", target: "join" },
    { source: "right", target: "join" },
  ],
};

function setup(engineCount = 1) {
  const clock = { now: 1_000_000 };
  const now = (): number => clock.now;
  const store = createMemoryStore({ now });
  const engines = Array.from({ length: engineCount }, () => createEngine(store, now));
  const engine = engines[0];
  if (engine === undefined) throw new Error("no engine");
  const logOf = async (runId: Parameters<typeof store.journal.load>[0][number]["runId"]) =>
    (await store.journal.load([{ runId, afterSeq: 0 }]))[0]?.events ?? [];
  return { clock, store, engine, engines, logOf };
}

test("a ready node is handed to an executor with room, without a job (S3.1)", async () => {
  const { store, engine, logOf } = setup();
  const executor = connect(engine, 4);
  const { runId } = await engine.start(await saveGraph(store, chain));
  const [claim] = executor.take();
  expect(claim?.nodeId).toBe("start");
  expect((await logOf(runId)).map((event) => event.type)).toEqual([
    "run.started",
    "node.queued",
    "node.started",
  ]);
  expect(claim?.epoch).toBe(3);
  expect((await store.journal.survey()).queues.some((each) => each.waitingCount > 0)).toBe(false);
});

test("a chain runs to its end, one commit per hop", async () => {
  const { store, engine, logOf } = setup();
  const executor = connect(engine, 4);
  const { runId } = await engine.start(await saveGraph(store, chain));
  await workUntilQuiet([{ engine, executor }]);
  const events = await logOf(runId);
  expect(events.at(-1)?.type).toBe("run.completed");
  expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
});

test("a node that no executor has room for waits in the queue and starts when an executor joins", async () => {
  const { store, engine, logOf } = setup();
  const { runId } = await engine.start(await saveGraph(store, chain));
  expect((await logOf(runId)).at(-1)?.type).toBe("node.queued");
  const executor = connect(engine, 1);
  const other = await engine.start(await saveGraph(store, chain));
  await workUntilQuiet([{ engine, executor }]);
  expect((await logOf(runId)).at(-1)?.type).toBe("run.completed");
  expect((await logOf(other.runId)).at(-1)?.type).toBe("run.completed");
});

test("an outcome with an old epoch is refused and changes nothing (S0.43)", async () => {
  const { store, engine, logOf } = setup();
  const executor = connect(engine, 1);
  const { runId } = await engine.start(await saveGraph(store, chain));
  const [claim] = executor.take();
  if (claim === undefined) throw new Error("nothing was assigned");
  const before = await logOf(runId);
  expect(await engine.outcome({ ...claim, epoch: claim.epoch - 1 })).toBe("stale");
  expect(await logOf(runId)).toEqual(before);
});

test("an outcome under one run's claim does not change another run of the same graph (S3.47)", async () => {
  const { store, engine, logOf } = setup();
  const executor = connect(engine, 4);
  const id = await saveGraph(store, chain);
  const [mine, other] = [await engine.start(id), await engine.start(id)];
  const claims = executor.take();
  const ours = claims.find((claim) => claim.runId === mine.runId);
  const theirs = claims.filter((claim) => claim.runId === other.runId);
  if (ours === undefined) throw new Error("no claim");
  const before = await logOf(other.runId);
  // The claim of one run under the name of the other, one epoch off: it belongs to no executor.
  expect(await engine.outcome({ ...ours, runId: other.runId, epoch: ours.epoch + 1 })).toBe(
    "stale",
  );
  expect(await engine.outcome(ours)).toBe("settled");
  expect(await logOf(other.runId)).toEqual(before);
  expect(theirs).toHaveLength(1);
  // What follows in the one run was handed out for it alone; the other still waits for its own outcome.
  expect(executor.take().map((claim) => claim.runId)).toEqual([mine.runId]);
});

test("an outcome sent twice is acknowledged twice and counted once (S3.37, S3.53)", async () => {
  const { store, engine, logOf } = setup();
  const executor = connect(engine, 8);
  const { runId } = await engine.start(await saveGraph(store, chain));
  const [claim] = executor.take();
  if (claim === undefined) throw new Error("nothing was assigned");
  expect(await engine.outcome(claim)).toBe("settled");
  expect(await engine.outcome(claim)).toBe("settled");
  const completed = (await logOf(runId)).filter((event) => event.type === "node.completed");
  expect(completed).toHaveLength(1);
});

test("two schedulers that finish a diamond's branches together start its join once (S3.17, S3.49)", async () => {
  const { store, engines, logOf } = setup(2);
  const [first, second] = engines;
  if (first === undefined || second === undefined) throw new Error("no engines");
  const pairs = [
    { engine: first, executor: connect(first, 2) },
    { engine: second, executor: connect(second, 2) },
  ];
  const id = await saveGraph(store, diamond);
  const runs = await Promise.all(Array.from({ length: 20 }, () => first.start(id)));
  for (let round = 0; round < 200; round++) {
    await workUntilQuiet(pairs);
    for (const { engine } of pairs) {
      for (const { nodeType, waitingCount } of (await store.journal.survey()).queues)
        if (waitingCount > 0) engine.waiting.enqueued(nodeType);
      engine.loop.poll();
    }
    const logs = await Promise.all(runs.map(({ runId }) => logOf(runId)));
    if (logs.every((events) => events.at(-1)?.type === "run.completed")) break;
  }
  for (const { runId } of runs) {
    const events = await logOf(runId);
    expect(events.at(-1)?.type).toBe("run.completed");
    const started = events.filter(
      (event) => event.type === "node.started" && event.nodeId === "join",
    );
    expect(started).toHaveLength(1);
  }
  expect(engines.flatMap((engine) => engine.errors)).toEqual([]);
});

test("a repeated request id gives the same run, and another body is refused", async () => {
  const { store, engine } = setup();
  const id = await saveGraph(store, chain);
  const [once, again] = await Promise.all([engine.start(id, "r1"), engine.start(id, "r1")]);
  expect(again?.runId).toBe(once?.runId);
  expect([once?.duplicate, again?.duplicate]).toEqual([false, true]);
  await expect(engine.start(id, "r1", "other")).rejects.toMatchObject({
    reason: "REQUEST_ID_REUSED",
  });
});

/** The executor loses whatever it is given, three times. */
async function loseThrice(
  engine: ReturnType<typeof createEngine>,
  executor: ReturnType<typeof connect>,
): Promise<void> {
  for (let loss = 0; loss < 3; loss++) {
    const [claim] = executor.take();
    if (claim === undefined) throw new Error("nothing was assigned");
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
}

test("a node with error handling 'continue' leaves no dead letter when it is lost for the last time (X9)", async () => {
  const { store, engine, logOf } = setup();
  const executor = connect(engine, 1);
  const work = { id: "work", type: "start", error_handling: "continue" };
  const { runId } = await engine.start(await saveGraph(store, { nodes: [work] }));
  await loseThrice(engine, executor);
  const events = await logOf(runId);
  expect(events.slice(-2).map((event) => event.type)).toEqual(["node.completed", "run.completed"]);
  expect(events.at(-2)?.payload).toMatchObject({ handle: "error" });
  expect(events.at(-1)?.payload).toMatchObject({ hasFailures: true });
  expect(store.view.leases()).toEqual([]);
  const all = { ids: [], workflowId: "", nodeType: "", beforeMs: undefined };
  expect(await store.deadLetters.open(DEFAULT_TENANT, all, 10)).toEqual([]);
});

test("a claim that is lost is queued again with the same attempt, and after three losses it fails (S0.56)", async () => {
  const { store, engine, logOf } = setup();
  const executor = connect(engine, 1);
  const { runId } = await engine.start(await saveGraph(store, chain));
  await loseThrice(engine, executor);
  const events = await logOf(runId);
  expect(
    events.filter((event) => event.type === "node.started").map((event) => event.attempt),
  ).toEqual([1, 1, 1]);
  expect(events.find((event) => event.type === "node.failed")?.payload).toMatchObject({
    cause: "delivery_exhausted",
  });
  expect(events.at(-1)?.type).toBe("run.failed");
});

test("cancel ends running nodes, never starts pending ones, and notifies the executor (S1.38-S1.40)", async () => {
  const { store, engine, logOf } = setup();
  const executor = connect(engine, 1);
  const { runId } = await engine.start(await saveGraph(store, chain));
  executor.take();
  const answer = await new Promise((resolve, reject) =>
    engine.loop.submit({
      kind: "cancel",
      runId,
      reason: "enough",
      requestId: "",
      answer: { resolve, reject },
    }),
  );
  expect(answer).toBe("cancelled");
  const events = await logOf(runId);
  expect(events.at(-1)?.type).toBe("run.cancelled");
  expect(events.filter((event) => event.type === "node.cancelled")).toHaveLength(3);
  expect(executor.items.map(({ item }) => item.case)).toContain("cancel");
  expect(executor.session.credit).toBe(1);
});

test("a cancelled run leaves no job behind, and the jobs of other runs stay (S0.14)", async () => {
  const { store, engine, logOf } = setup();
  const definition = await saveGraph(store, diamond);
  const [gone, kept] = [await engine.start(definition), await engine.start(definition)];
  const depth = async (): Promise<number> =>
    (await store.journal.survey()).queues.reduce((sum, queue) => sum + queue.waitingCount, 0);
  expect(await depth()).toBe(2);
  await new Promise((resolve, reject) =>
    engine.loop.submit({
      kind: "cancel",
      runId: gone.runId,
      reason: "not needed",
      requestId: "r",
      answer: { resolve, reject },
    }),
  );
  expect(await depth()).toBe(1);
  const executor = connect(engine, 4);
  engine.loop.poll();
  await engine.start(definition);
  await workUntilQuiet([{ engine, executor }]);
  expect((await logOf(gone.runId)).at(-1)?.type).toBe("run.cancelled");
  expect((await logOf(kept.runId)).at(-1)?.type).toBe("run.completed");
  expect(await depth()).toBe(0);
});

test("a paused run has no jobs, gives away no claim and is placed again when it is resumed (S0.14)", async () => {
  const { store, engines, logOf } = setup(2);
  const [engine, other] = engines;
  if (engine === undefined || other === undefined) throw new Error("two engines");
  const change = (
    kind: "pause" | "resume",
    runId: Awaited<ReturnType<typeof engine.start>>["runId"],
  ) =>
    new Promise((resolve, reject) =>
      engine.loop.submit({
        kind,
        runId,
        note: { scope: "run", who: "ada", reason: "" },
        answer: { resolve, reject },
      }),
    );
  const waiting = async (): Promise<number> =>
    (await store.journal.survey()).queues.reduce((sum, queue) => sum + queue.waitingCount, 0);
  const { runId } = await engine.start(await saveGraph(store, diamond));
  expect(await waiting()).toBe(1);
  expect(await change("pause", runId)).toBe("done");
  expect(await change("pause", runId)).toBe("done");
  expect(await waiting()).toBe(0);
  const executor = connect(other, 4);
  const next = await other.start(await saveGraph(store, chain));
  await workUntilQuiet([{ engine: other, executor }]);
  expect((await logOf(next.runId)).at(-1)?.type).toBe("run.completed");
  expect((await logOf(runId)).map((event) => event.type)).not.toContain("node.started");
  expect(await change("resume", runId)).toBe("done");
  expect(await waiting()).toBe(1);
  other.waiting.enqueued("start");
  await other.start(await saveGraph(store, chain));
  await workUntilQuiet([{ engine: other, executor }]);
  expect((await logOf(runId)).at(-1)?.type).toBe("run.completed");
});
