import { EngineError } from "@pawl/core/fault/engine-error";
import type { RunId } from "@pawl/core/name/ids";
import { storeFault } from "@pawl/platform/db/failure";
import { RunMoved } from "@pawl/platform/store/tick/journal";
import { expect, test } from "vitest";
import { until } from "../../../../test/support/until.ts";
import { createFailingStore, type FailingStore, pgError } from "./failing-store.fixture.ts";
import type { Claim } from "../inputs/input.ts";
import { connect, createEngine, saveGraph } from "./tick.fixture.ts";

const RUNS = 64;
const ONE_NODE = { nodes: [{ id: "start", type: "start" }], edges: [] };

/** Many runs whose only node an executor holds. */
async function setup(count = RUNS) {
  const now = Date.now;
  const store = createFailingStore(now);
  const engine = createEngine(store, now);
  const executor = connect(engine, count);
  const definitionId = await saveGraph(store, ONE_NODE);
  for (let index = 0; index < count; index += 1) await engine.start(definitionId);
  const claims = executor.take();
  expect(claims).toHaveLength(count);
  store.tries = 0;
  return { store, engine, claims, definitionId };
}

/** Fails every commit that has to do with a run. */
const failOn = (store: FailingStore, runId: RunId | undefined, error: () => unknown): void => {
  store.judge = (runIds) => {
    if (runId !== undefined && runIds.has(runId)) throw error();
  };
};

const failAlways = (store: FailingStore, code: string): void => {
  store.judge = () => {
    throw storeFault(pgError(code));
  };
};

const isOver = async (store: FailingStore, { runId }: Claim): Promise<boolean> =>
  (await store.journal.load([{ runId, afterSeq: 0 }]))[0]?.hasEnded === true;

test("one run among many that cannot be stored is found in halves and set aside, and the others continue", async () => {
  const { store, engine, claims } = await setup();
  const [bad, ...others] = claims;
  failOn(store, bad?.runId, () => pgError("22P05"));
  const results = await Promise.allSettled(claims.map((claim) => engine.outcome(claim)));
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(others.length);
  expect(results[0]).toMatchObject({ reason: { reason: "RUN_QUARANTINED" } });
  // Whole, six times in halves, and three times alone; then once more for the answer.
  expect(store.tries).toBeLessThan(20);
  expect(engine.health.failure).toBeUndefined();
});

test("a run that others always write first waits by itself, and the others continue", async () => {
  const { store, engine, claims } = await setup();
  const [bad, ...others] = claims;
  failOn(store, bad?.runId, () => new RunMoved("a run moved on"));
  const contended = bad && engine.outcome(bad);
  await Promise.all(others.map((claim) => engine.outcome(claim)));
  store.judge = () => {};
  expect(await contended).toBe("settled");
});

test("a result is kept whatever the store answers, and stored once it takes commits", async () => {
  const { store, engine, claims } = await setup(8);
  failAlways(store, "ZZ999");
  const settled = Promise.all(claims.map((claim) => engine.outcome(claim)));
  await until(() => engine.health.downFailure, { what: "the store to be known as failing" });
  const [first] = claims;
  if (first === undefined) throw new Error("no claim");
  expect(engine.loop.unsettled(first.runId)).toMatchObject([
    { claim: { nodeId: "start", epoch: first.epoch }, reason: expect.stringContaining("ZZ999") },
  ]);
  store.judge = () => {};
  expect(new Set(await settled)).toEqual(new Set(["settled"]));
  expect(engine.health.failure).toBeUndefined();
  expect(engine.loop.unsettled(first.runId)).toEqual([]);
});

test("a store that fails on one run only keeps no other from it", async () => {
  const { store, engine, claims } = await setup(8);
  const [bad, ...others] = claims;
  failOn(store, bad?.runId, () => storeFault(pgError("XX001")));
  const last = bad && engine.outcome(bad);
  await Promise.all(others.map((claim) => engine.outcome(claim)));
  await until(() => engine.health.failure === undefined, { what: "the store to be well" });
  store.judge = () => {};
  expect(await last).toBe("settled");
});

test("a result that is repeated while nothing can be stored is kept once, and its last sender gets the answer", async () => {
  const { store, engine, claims } = await setup(1);
  const [claim] = claims;
  if (claim === undefined) throw new Error("no claim");
  failAlways(store, "25006");
  const answers: string[] = [];
  const offer = (name: string): void =>
    engine.loop.submit({
      kind: "outcome",
      claim,
      outcome: { kind: "completed", outputJson: "1", durationMs: 1 },
      jitter: 0,
      answer: { resolve: () => void answers.push(name), reject: () => void answers.push("no") },
    });
  for (let index = 0; index < 100; index += 1) offer(`repeat ${index}`);
  await until(() => engine.health.downFailure, { what: "the store to be known as failing" });
  await until(() => engine.loop.unsettled(claim.runId).length === 1, { what: "one to be kept" });
  store.judge = () => {};
  await until(() => isOver(store, claim), { what: "the run to end" });
  expect(answers).toEqual(["repeat 99"]);
});

test("commands fail at once while the store fails, and an idle scheduler notices when the store works again", async () => {
  const { store, engine, definitionId } = await setup(0);
  failAlways(store, "53100");
  await expect(engine.start(definitionId)).rejects.toMatchObject({
    reason: "STORE_UNAVAILABLE",
    retryable: true,
  });
  await until(() => engine.health.downFailure, { what: "the store to be known as failing" });
  const { tries } = store;
  await expect(engine.start(definitionId)).rejects.toBeInstanceOf(EngineError);
  expect(store.tries).toBe(tries);
  store.judge = () => {};
  await until(() => engine.health.failure === undefined, { what: "the store to be well" });
  await engine.start(definitionId);
});

test("commands that wait behind results fail while the store fails, although the scheduler tries one result at a time", async () => {
  const { store, engine, claims, definitionId } = await setup(8);
  failAlways(store, "58030");
  const settled = Promise.all(claims.map((claim) => engine.outcome(claim)));
  const refused = Array.from({ length: 20 }, () => engine.start(definitionId));
  for (const start of refused)
    await expect(start).rejects.toMatchObject({ reason: "STORE_UNAVAILABLE" });
  store.judge = () => {};
  await settled;
});

test("a scheduler stops although its store fails", async () => {
  const { store, engine, claims } = await setup(2);
  failAlways(store, "57P03");
  for (const claim of claims) void engine.outcome(claim).catch(() => undefined);
  await until(() => engine.health.failure, { what: "the store to fail" });
  await engine.loop.stop();
});
