// Redrives on the in-memory store: one new run for each run that ended, however often a user asks and wherever it stops.

import { create } from "@bufbuild/protobuf";
import { executorId, nodeId, type RunId } from "@pawl/core/name/ids";
import type { DeadLetters } from "@pawl/platform/store/dead-letters/dead-letters";
import { DEFAULT_EGRESS } from "@pawl/platform/egress/url";
import { createMemoryStore } from "@pawl/platform/store/memory/store";
import { parseRedrive } from "@pawl/platform/wire/dead-letter";
import { RedriveDeadLettersRequestSchema } from "@pawl/proto/pawl/v1/queue_service_pb";
import { memoryValues } from "@pawl/platform/values/memory.fixture";
import { expect, test } from "vitest";
import { connect, createEngine, workUntilQuiet } from "../tick/tick.fixture.ts";
import { Newest } from "./newest.ts";
import { redrive } from "./redrive.ts";
import { uuidV7 } from "../run-id.ts";
import { createWorkflow } from "./save-workflow.ts";
import { startRun } from "./start-run.ts";

const TENANT = "default";
const GRAPH = { nodes: [{ id: "start", type: "start" }], edges: [] };

async function setup(steady: () => number = () => performance.now()) {
  const store = createMemoryStore();
  const engine = createEngine(store, Date.now);
  const parts = {
    ...store,
    ...engine,
    values: memoryValues(store.valueRows),
    newest: new Newest(),
    now: Date.now,
    steady,
    ensureQueues: async () => {},
    egress: DEFAULT_EGRESS,
  };
  const text = JSON.stringify({ id: "w", title: "W", ...GRAPH });
  await createWorkflow(parts, TENANT, { workflowId: "", text, isStrict: false, requestId: null });
  const start = async (input: unknown): Promise<RunId> => {
    const request = { workflowId: "w", version: 0, input: JSON.stringify(input), priority: 5 };
    return (await startRun(parts, TENANT, { ...request, requestId: null })).runId;
  };
  const executor = connect(engine, 10);
  const finish = (): Promise<void> => workUntilQuiet([{ engine, executor }]);
  const bury = async (runId: RunId, ...nodes: string[]): Promise<string[]> => {
    const letters = nodes.map((node) => ({
      deadLetterId: uuidV7(Date.now()),
      runId,
      nodeId: nodeId(node),
      iteration: 0,
      attempt: 1,
      nodeType: "noop",
      deliveries: 3,
      executorId: executorId(crypto.randomUUID()),
      reason: "stream_broken",
      errorMessage: "lost",
    }));
    await store.journal.transact((tx) => tx.bury(letters));
    return letters.map((letter) => letter.deadLetterId);
  };
  const ask = (deadLetters: DeadLetters = store.deadLetters, over: object = {}) =>
    redrive(
      { ...parts, deadLetters },
      TENANT,
      parseRedrive(create(RedriveDeadLettersRequestSchema, over)),
    );
  return { store, start, finish, bury, ask };
}

test("a redrive that stops between the start and the closing continues with the same run (S0.56)", async () => {
  const { store, start, finish, bury, ask } = await setup();
  const runId = await start({ name: "Ada" });
  await finish();
  const [deadLetterId] = await bury(runId, "a");
  const crashing = { ...store.deadLetters, close: () => Promise.reject(new Error("crashed")) };
  await expect(ask(crashing)).rejects.toThrow("crashed");
  const { redriven } = await ask();
  expect(redriven).toMatchObject([{ deadLetterId }]);
  expect(store.view.runs()).toHaveLength(2);
  const again = store.view.runs().find((run) => run.runId !== runId);
  expect(again).toMatchObject({ runId: redriven[0]?.runId, workflowVersion: 1, priority: 5 });
  expect(again?.requestId).toBe(`redrive:${runId}`);
  expect(JSON.parse(store.view.events(redriven[0]?.runId ?? runId)[0]?.value ?? "")).toEqual({
    name: "Ada",
  });
});

test("letters of one run, and two who redrive at once, start one run (S0.56)", async () => {
  const { store, start, finish, bury, ask } = await setup();
  const runId = await start(null);
  await finish();
  const ids = await bury(runId, "a", "b");
  const both = await Promise.all([ask(), ask()]);
  const closed = both.flatMap(({ redriven }) => redriven);
  expect(closed.map((each) => each.deadLetterId).toSorted()).toEqual(ids.toSorted());
  expect(new Set(closed.map((each) => each.runId)).size).toBe(1);
  expect(store.view.runs()).toHaveLength(2);
});

test("letters of a live run are left, and a repeat of a request moves no more than its limit (S0.56)", async () => {
  const { store, start, finish, bury, ask } = await setup();
  const runs = [await start(1), await start(2)];
  await finish();
  for (const run of runs) await bury(run, "a");
  const request = { limit: 1, requestId: "once" };
  const first = await ask(undefined, request);
  expect(first.redriven).toHaveLength(1);
  expect(await ask(undefined, request)).toEqual(first);
  const live = await start(3);
  const ids = await bury(live, "a");
  const left = [{ reason: "run_live", count: 1 }];
  const filter = { deadLetterIds: ids };
  expect(await ask(undefined, { filter })).toEqual({ redriven: [], left, remaining: 0 });
  expect(store.view.runs()).toHaveLength(4);
});

test("a call is bounded in time and says how many are to come; the same request continues with them up to its limit (S0.56)", async () => {
  // Every look at the clock takes a second, as a slow database would.
  let now = Date.now();
  const { store, start, finish, bury, ask } = await setup(() => (now += 1_000));
  const runs: RunId[] = [];
  for (let n = 0; n < 12; n++) runs.push(await start(n));
  await finish();
  for (const run of runs) await bury(run, "a");
  const request = { limit: 10, maxPerSecond: 1_000, requestId: "slowly" };
  const first = await ask(undefined, request);
  const done = first.redriven.length;
  expect(done).toBeGreaterThan(0);
  expect(done).toBeLessThan(10);
  expect(first.remaining).toBe(12 - done);
  let last = first;
  for (let call = 0; call < 10 && last.redriven.length < 10; call++) {
    const before = last.redriven;
    last = await ask(undefined, request);
    expect(last.redriven.slice(0, before.length)).toEqual(before);
    expect(last.redriven.length).toBeGreaterThan(before.length);
  }
  // Its limit is reached, and two more match.
  expect(last.redriven).toHaveLength(10);
  expect(last.remaining).toBe(2);
  expect(await ask(undefined, request)).toEqual(last);
  expect(store.view.runs()).toHaveLength(12 + 10);
});

test("letters of a deleted workflow are left, and do not count as remaining", async () => {
  const { store, start, finish, bury, ask } = await setup();
  const [old, young] = [await start(1), await start(2)];
  await finish();
  await bury(old, "a");
  await bury(young, "a");
  await store.workflows.remove(TENANT, "w", true);
  const left = [{ reason: "workflow_deleted", count: 2 }];
  expect(await ask()).toEqual({ redriven: [], left, remaining: 0 });
});
