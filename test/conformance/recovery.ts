// How a run comes back after everything that was only in memory is gone, on memory and on Postgres alike. The four cases of S0.36 follow
// the rule that the log alone is the truth (X5): a snapshot only says how much of the log need not be folded again.

import { nodeId as nodeIdOf, type RunId } from "@pawl/core/name/ids";
import type { Journal } from "@pawl/platform/store/tick/journal";
import { createStrandedSweep } from "@pawl/scheduler/duties/sweeps";
import { recheckRun } from "@pawl/scheduler/commands/recheck-run";
import { connect, createEngine, type Engine } from "@pawl/scheduler/tick/tick.fixture";
import { afterAll, describe, expect, test } from "vitest";
import { until } from "../support/until.ts";
import { finish, foldOf, runUpTo, stage, writeSnapshotOf } from "./recovery-setup.ts";
import { strays } from "./recovery-strays.ts";
import type { OpenStore, StoreUnderTest } from "./store.ts";

/** All suites of recovery on one kind of store. */
export function recoverySuite(name: string, open: OpenStore): void {
  describe(`recovery on ${name}`, () => {
    // One store for all: no test looks at more than its own runs.
    let store: StoreUnderTest | undefined;
    const shared: OpenStore = async () => {
      store ??= await open();
      return { ...store, close: async () => {} };
    };
    afterAll(() => store?.close());
    matrix(shared);
    repeats(shared);
    corruption(shared);
    forgotten(shared);
    strays(shared);
  });
}

const completedOf = async (store: StoreUnderTest, runId: RunId): Promise<string[]> =>
  (await store.see(runId)).events
    .filter(({ type }) => type === "node.completed")
    .map(({ nodeId }) => nodeId);

/** Starts a run; its first node is claimed by an executor that leaves at once. */
async function startClaimed(engine: Engine, definitionId: string) {
  const executor = connect(engine, 1);
  const { runId } = await engine.start(definitionId);
  const [claim] = executor.take();
  if (claim === undefined) throw new Error("nothing was handed out");
  engine.connected.leave(executor.session);
  return { runId, claim };
}

const quarantined = (store: StoreUnderTest, runId: RunId): Promise<unknown> =>
  until(async () => (await store.journal.load([{ runId, afterSeq: 0 }]))[0]?.quarantine, {
    what: "the quarantine",
  });

const ALL = ["start", "a", "b", "c"];

/** The job of the node b, by which it waits for an executor. */
const jobOfB = (runId: RunId) => ({
  runId,
  nodeId: nodeIdOf("b"),
  iteration: 0,
  attempt: 1,
  nodeType: "noop",
});

function matrix(open: OpenStore): void {
  test("events exist: they are replayed, and completed nodes do not run again (S0.36, S0.38, S0.39)", async () => {
    const scene = await stage(open);
    const { runId } = await runUpTo(scene, "b");
    const found = await foldOf(scene.begin(), runId);
    expect(found.run).toMatchObject({ snapshot: null, afterSeq: 0 });
    expect(found.run.events).toHaveLength(found.run.lastSeq);
    await finish(scene.begin(), scene.store, runId);
    expect(await completedOf(scene.store, runId)).toEqual(ALL);
  });

  test("a snapshot reaches further than anybody has folded: only the events after it are read, and nothing before it is done again (S0.36, S0.38, X5)", async () => {
    const scene = await stage(open);
    const { runId, engine } = await runUpTo(scene, "b");
    const seq = await writeSnapshotOf(engine, runId);
    await finish(scene.begin(), scene.store, runId);
    const { run, ...found } = await foldOf(scene.begin(), runId);
    expect(run).toMatchObject({ afterSeq: seq, eventCount: run.lastSeq - seq + 1 });
    expect(run.events.map((event) => event.seq)[0]).toBe(seq + 1);
    expect(run.events).toHaveLength(run.lastSeq - seq);
    expect(found).toMatchObject({ kind: "folded", state: { status: "completed" } });
    expect(await completedOf(scene.store, runId)).toEqual(ALL);
  });

  test("a snapshot without the log it was made of is corruption, never a state to continue from (S0.36, X5)", async () => {
    const scene = await stage(open);
    const { runId, engine } = await runUpTo(scene, "b");
    const seq = await writeSnapshotOf(engine, runId);
    await scene.store.loseEvent(runId, seq);
    const found = await foldOf(scene.begin(), runId);
    expect(found).toMatchObject({ kind: "corrupt", fault: { reason: "EVENT_LOG_CORRUPTION" } });
  });

  test("neither events nor snapshot: the start had no effect, and its repeat begins a new run (S0.36, S0.39)", async () => {
    const { store, definitionId, begin } = await stage(open);
    const killed = (): Promise<never> => Promise.reject(new Error("killed before its commit"));
    const journal: Journal = Object.create(store.journal, { transact: { value: killed } });
    const dying = createEngine({ ...store, journal }, Date.now);
    await expect(dying.start(definitionId, "request-1")).rejects.toThrow("killed");
    const { runId, duplicate } = await begin().start(definitionId, "request-1");
    expect(duplicate).toBe(false);
    const { state } = { state: undefined, ...(await foldOf(begin(), runId)) };
    expect(state).toMatchObject({ input: "{}", status: "running" });
    await finish(begin(), store, runId);
    expect(await completedOf(store, runId)).toEqual(ALL);
  });

  test("a snapshot of an unknown format is not guessed at: the whole log is read (X5)", async () => {
    const scene = await stage(open);
    const { runId } = await runUpTo(scene, "b");
    await scene.store.recovery.saveSnapshot(runId, { seq: 4, format: 999, body: "?" });
    const found = await foldOf(scene.begin(), runId);
    expect(found).toMatchObject({ kind: "folded", run: { snapshot: null, afterSeq: 0 } });
  });
}

function repeats(open: OpenStore): void {
  test("an outcome repeated after a crash between commit and acknowledgement is settled, and changes nothing (S0.38)", async () => {
    const { store, definitionId, begin } = await stage(open);
    const engine = begin();
    const { runId, claim } = await startClaimed(engine, definitionId);
    expect(await engine.outcome(claim)).toBe("settled");
    const before = await store.see(runId);
    // The next scheduler has no memory of it, and the executor has no answer.
    expect(await begin().outcome(claim)).toBe("settled");
    expect(await store.see(runId)).toEqual(before);
  });

  test("a start repeated after a crash gives the run that began, and that run completes without the scheduler that took it (S0.39)", async () => {
    const { store, definitionId, begin } = await stage(open);
    const first = await begin().start(definitionId, "request-2");
    const engine = begin();
    const second = await engine.start(definitionId, "request-2");
    expect(second).toMatchObject({ runId: first.runId, duplicate: true });
    await finish(engine, store, first.runId);
    expect(await completedOf(store, first.runId)).toEqual(ALL);
  });

  test("a recheck that fails answers only after its mark is written, so the mark cannot come after the next recheck's release (S0.37)", async () => {
    const scene = await stage(open);
    const { journal, workflows, recovery, pauses, loseEvent } = scene.store;
    const { runId } = await runUpTo(scene, "b");
    await loseEvent(runId, 5);
    let isMarked = false;
    const quarantine: typeof recovery.quarantine = async (...mark) =>
      (isMarked = await recovery.quarantine(...mark));
    const store = { journal, workflows, pauses, recovery: { ...recovery, quarantine } };
    const rechecked = recheckRun(createEngine(store, Date.now), { runId });
    expect(await rechecked.catch(() => isMarked)).toBe(true);
  });
}

function corruption(open: OpenStore): void {
  test("a gap puts its run into quarantine and nothing of it moves, while the others of its batch continue; a recheck lifts it once the log is whole (S0.37)", async () => {
    const scene = await stage(open);
    const { store, begin } = scene;
    const { runId: ill } = await runUpTo(scene, "b");
    const { runId: well } = await runUpTo(scene, "b");
    const restore = await store.loseEvent(ill, 5);
    const engine = begin();
    // Both jobs come out of the queue in one fetch: that of the ill run is dropped, and does not come again.
    await finish(engine, store, well);
    expect(await quarantined(store, ill)).toMatchObject({ reason: "EVENT_LOG_CORRUPTION" });
    const seen = await store.see(ill);
    expect(seen.leases).toEqual([]);
    expect(await store.recovery.missingJobs([jobOfB(ill)])).toHaveLength(1);
    const claim = { ...jobOfB(ill), epoch: 1, executorId: connect(engine, 0).session.executorId };
    await expect(engine.outcome(claim)).rejects.toMatchObject({ reason: "RUN_QUARANTINED" });
    await expect(cancel(engine, ill)).rejects.toThrow(`pawl run recheck ${ill}`);
    const request = { runId: ill, requestId: "" };
    await expect(recheckRun(engine, request)).rejects.toMatchObject({
      reason: "EVENT_LOG_CORRUPTION",
    });
    expect(await store.see(ill)).toEqual(seen);
    await restore();
    expect(await recheckRun(engine, request)).toBe(ill);
    await finish(engine, store, ill);
    expect(await completedOf(store, ill)).toEqual(ALL);
  });

  test("a scheduler that folded the run before it was set aside learns of it by its compare-and-swap (S0.37)", async () => {
    const { store, definitionId, begin } = await stage(open);
    const engine = begin();
    const { runId, claim } = await startClaimed(engine, definitionId);
    const cause = { reason: "EVENT_LOG_CORRUPTION", detail: "found elsewhere" } as const;
    expect(await store.recovery.quarantine(runId, cause)).toBe(true);
    expect(await store.recovery.quarantine(runId, cause)).toBe(false);
    await expect(engine.outcome(claim)).rejects.toMatchObject({ reason: "RUN_QUARANTINED" });
    expect(await store.journal.overdueRuns(10)).toEqual([]);
    await recheckRun(engine, { runId });
    await finish(engine, store, runId);
    expect(await completedOf(store, runId)).toEqual(ALL);
  });

  test("an outcome on which the engine fails puts its run into quarantine, and stops no other (S3.40)", async () => {
    const { store, definitionId, begin } = await stage(open);
    const engine = begin();
    const executor = connect(engine, 2);
    const [ill, well] = await Promise.all([engine.start(definitionId), engine.start(definitionId)]);
    const claims = executor.take();
    const claimOf = (runId: RunId) => claims.find((claim) => claim.runId === runId);
    const [bad, good] = [claimOf(ill.runId), claimOf(well.runId)];
    if (bad === undefined || good === undefined) throw new Error("both have a claim");
    // A kind that the engine does not know simulates a bug of ours.
    const settled = Promise.allSettled([
      engine.outcome(bad, { kind: "nonsense" } as never),
      engine.outcome(good),
    ]);
    expect((await settled).map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
    expect(await quarantined(store, ill.runId)).toMatchObject({ reason: "INTERNAL" });
    await finish(engine, store, well.runId, executor);
  });
}

const cancel = (engine: Engine, runId: RunId): Promise<unknown> =>
  new Promise((resolve, reject) =>
    engine.loop.submit({
      kind: "cancel",
      runId,
      reason: "",
      requestId: "",
      answer: { resolve, reject },
    }),
  );

function forgotten(open: OpenStore): void {
  test("a queued node whose job is gone is sent again, once (X4)", async () => {
    const scene = await stage(open);
    const { store, begin } = scene;
    const { runId } = await runUpTo(scene, "b");
    expect(await store.recovery.missingJobs([jobOfB(runId)])).toEqual([]);
    await store.loseJobs(runId);
    expect(await store.recovery.missingJobs([jobOfB(runId)])).toHaveLength(1);
    const engines = [begin(), begin()];
    await Promise.all(engines.map((engine) => createStrandedSweep(engine, 0)()));
    expect(await store.recovery.missingJobs([jobOfB(runId)])).toEqual([]);
    await finish(begin(), store, runId);
    expect(await completedOf(store, runId)).toEqual(ALL);
  });

  test("a running node whose lease is gone is taken back, and a node that has its lease is left alone (X4)", async () => {
    const { store, definitionId, begin } = await stage(open);
    const engine = begin();
    const { runId, claim } = await startClaimed(engine, definitionId);
    const sweep = createStrandedSweep(engine, 0);
    const before = await store.see(runId);
    await sweep();
    expect(await store.see(runId)).toEqual(before);
    await store.journal.transact((tx) => tx.closeLeases([claim]));
    await sweep();
    expect((await store.see(runId)).events.map(({ type }) => type).slice(-2)).toEqual([
      "run.recovered",
      "node.queued",
    ]);
    await finish(begin(), store, runId);
    expect(await completedOf(store, runId)).toEqual(ALL);
  });

  test("a walk over the live runs looks at a bounded number, continues where it stopped, and finds only the quiet ones (X4)", async () => {
    const scene = await stage(open);
    const { store, begin } = scene;
    const engine = begin();
    const started = await Promise.all([1, 2, 3].map(() => engine.start(scene.definitionId)));
    const walk = async (quietMs: number): Promise<string[]> => {
      const found: string[] = [];
      let after: Parameters<typeof store.recovery.quietRuns>[0]["after"];
      for (let page = 0; page < 100; page++) {
        const { runIds, next } = await store.recovery.quietRuns({ quietMs, after, limit: 2 });
        expect(runIds.length).toBeLessThanOrEqual(2);
        found.push(...runIds);
        after = next;
        if (next === undefined) return found;
      }
      throw new Error("the walk has no end");
    };
    const ids = started.map(({ runId }): string => runId);
    const found = await walk(0);
    expect(found).toEqual(expect.arrayContaining(ids));
    expect(new Set(found).size).toBe(found.length);
    expect(await walk(3_600_000)).toEqual([]);
  });
}
