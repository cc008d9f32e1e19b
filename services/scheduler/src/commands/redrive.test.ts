// Redrives and repairs on the in-memory store: one new run for each run that ended, however often a user asks and wherever it stops. The new
// run has what the caller of the first run set, and its labels.

import { create } from "@bufbuild/protobuf";
import type { RunEvent } from "@pawl/core/log/event";
import { executorId, nodeId, type RunId } from "@pawl/core/name/ids";
import type { DeadLetters } from "@pawl/platform/store/dead-letters/dead-letters";
import { DEFAULT_EGRESS } from "@pawl/platform/egress/url";
import { createMemoryStore } from "@pawl/platform/store/memory/store";
import { parseRedrive } from "@pawl/platform/wire/dead-letter";
import { parseRepair } from "@pawl/platform/wire/repair";
import type { StartRequest } from "@pawl/platform/wire/requests";
import { RedriveDeadLettersRequestSchema } from "@pawl/proto/pawl/v1/queue_service_pb";
import { RepairRunRequestSchema } from "@pawl/proto/pawl/v1/run_service_pb";
import { memoryValues } from "@pawl/platform/values/memory.fixture";
import { expect, test } from "vitest";
import { connect, createEngine, workUntilQuiet } from "../tick/tick.fixture.ts";
import { Newest } from "./newest.ts";
import { redrive } from "./redrive.ts";
import { uuidV7 } from "../run-id.ts";
import { createWorkflow } from "./save-workflow.ts";
import { repairRun } from "./repair-run.ts";
import { startRun } from "./start-run.ts";
import type { TakenOver } from "./taken-over.ts";

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
  const start = async (
    input: unknown,
    over: Partial<StartRequest> = {},
    again?: TakenOver,
  ): Promise<RunId> => {
    const request = { workflowId: "w", version: 0, input: JSON.stringify(input), priority: 5 };
    const about = again === undefined ? {} : { again };
    return (await startRun(parts, TENANT, { ...request, requestId: null, ...over }, about)).runId;
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
  const repair = (runId: RunId, over: object = {}) =>
    repairRun(
      { ...parts, effectsOf: async () => [], types: undefined },
      TENANT,
      parseRepair(create(RepairRunRequestSchema, { runId, fromNodes: ["start"], ...over })),
    );
  const firstOf = (runId: RunId | undefined): RunEvent | undefined =>
    runId === undefined ? undefined : store.view.events(runId)[0];
  return { store, engine, start, finish, bury, ask, repair, firstOf };
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

const WEB = [
  { label: "web", nodeId: "" },
  { label: "model", nodeId: "" },
] as const;

test("a run that is repaired or redriven keeps every label of its input, and the definition adds its own (S2.40, S2.41)", async () => {
  const { start, finish, bury, ask, repair, firstOf } = await setup();
  const runId = await start(null, {}, { asked: {}, taint: WEB });
  await finish();
  await bury(runId, "start");
  const { redriven } = await ask();
  const text = JSON.stringify({ id: "w", title: "W", untrusted_input: true, ...GRAPH });
  const repaired = await repair(runId);
  const stricter = await repair(runId, { definition: { text } });
  expect(firstOf(redriven[0]?.runId)?.payload).toMatchObject({ taint: WEB });
  expect(firstOf(repaired.accepted?.runId)?.payload).toMatchObject({ taint: WEB });
  expect(firstOf(stricter.accepted?.runId)?.payload).toMatchObject({
    taint: [...WEB, { label: "input", nodeId: "" }],
  });
});

test("a run that is repaired or redriven keeps goal, constraints, bounds, metadata and the caller's budget (S2.3, S2.4, S2.10, S2.12, S2.14, S2.21)", async () => {
  const { store, start, finish, bury, ask, repair, firstOf } = await setup();
  const asked = { goal: "buy", constraints: ["be kind"], maxIterations: 9, maxRetries: 1 };
  const budget = { tokens: 100, onExceeded: "pause" } as const;
  const metadata = '{"team":"a"}';
  const runId = await start(null, { asked, budget, metadata, deadlineMs: 60_000 });
  await finish();
  await bury(runId, "start");
  const { redriven } = await ask();
  const repaired = await repair(runId);
  for (const again of [redriven[0]?.runId, repaired.accepted?.runId]) {
    expect(firstOf(again)?.payload).toMatchObject({ ...asked, budget, deadlineMs: 60_000 });
    expect(store.view.metadata(again ?? runId)).toBe(metadata);
  }
  // A definition with a lower limit lowers it further; a meter that the caller did not lower follows the new definition.
  const limits = { tokens: 50, node_executions: 7 };
  const text = JSON.stringify({ id: "w", title: "W", budget: limits, ...GRAPH });
  const lower = await repair(runId, { definition: { text } });
  expect(firstOf(lower.accepted?.runId)?.payload).toMatchObject({
    budget: { tokens: 50, executions: 7, onExceeded: "pause" },
  });
});

test("a start survives that another assistant of its tick was deleted, and is refused if its own was (S4.22)", async () => {
  const { store, engine, start, finish, bury, ask, repair } = await setup();
  const spec = { workflowId: "w", workflowVersion: 0, config: "{}", metadata: "{}", defaults: {} };
  const [kept, gone] = ["kept", "gone"].map((assistantId) => ({ tenantId: TENANT, assistantId }));
  for (const key of [kept, gone]) if (key !== undefined) await store.assistants.create(key, spec);
  const runs = await Promise.all(
    ["kept", "gone"].map((assistantId) => start(null, { workflowId: "", assistantId })),
  );
  await finish();
  const [first, second] = runs;
  if (first === undefined || second === undefined || gone === undefined) throw new Error("two");
  expect(await store.assistants.close(gone)).toBe("closed");
  const [good, bad] = await Promise.allSettled([repair(first), repair(second)]);
  expect(good).toMatchObject({ status: "fulfilled" });
  expect(bad).toMatchObject({ status: "rejected", reason: { reason: "ASSISTANT_NOT_FOUND" } });
  await bury(second, "start");
  expect((await ask()).left).toEqual([{ reason: "assistant_deleted", count: 1 }]);
  expect(engine.errors).toEqual([]);
});
