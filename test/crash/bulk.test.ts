// Bulks through the public API of real processes: what they do to runs, what they refuse, and schedulers that die in the middle of them.
import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import {
  bulkOutcomeName,
  createPawlClient,
  type PawlClient,
  PawlError,
  runStatusName,
} from "@pawl/client";
import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import { openPool, type Pool } from "@pawl/platform/db/pool";
import { createBulks } from "@pawl/platform/store/bulks/writes";
import { parseStartBulk } from "@pawl/platform/wire/bulk";
import { runFilterOf } from "@pawl/platform/wire/filter";
import {
  BulkAction,
  BulkOutcome,
  BulkState,
  StartBulkRequestSchema,
} from "@pawl/proto/pawl/v1/bulk_service_pb";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { graph } from "../flow/graph.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { until } from "../support/until.ts";
import { eventsOf, killNodes, redrivesOf, repairsOf } from "./bulk-rows.ts";
import { failpoints, replaceScheduler } from "./processes.ts";

let cluster: Cluster;
let client: PawlClient;
let pool: Pool;

const WAITING = graph(["start > wait > end"], {
  wait: { type: "await_signal", config: { name: "go" } },
});
/** Fails unless its definition is corrected. */
const broken = (code: string) =>
  graph(["start > say > end"], { say: { type: "javascript", config: { code } } });

beforeAll(async () => {
  cluster = await startCluster();
  client = createPawlClient({ baseUrl: cluster.url, attempts: 30 });
  pool = openPool(cluster.databaseUrl, { max: 2, name: "pawl-test" });
  await client.workflows.create({ id: "waits", ...WAITING }, {});
  await client.workflows.create({ id: "broken", ...broken("throw new Error('no')") }, {});
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  const faults = await checkInvariants(cluster.databaseUrl);
  await pool.end();
  await cluster.stop();
  expect(faults).toEqual([]);
});

/** Starts runs with a batch in their metadata. */
async function batchOf(workflowId: string, batch: string, count: number): Promise<string[]> {
  const starts = Array.from({ length: count }, () =>
    client.runs.start(workflowId, { metadata: { batch } }),
  );
  const ids = (await Promise.all(starts)).map(({ run }) => run.runId).toSorted();
  if (workflowId === "broken") for (const runId of ids) await client.runs.wait(runId);
  return ids;
}

const filterOf = (batch: string) => ({ filter: `metadata.batch = "${batch}"` });

async function statusesOf(runIds: readonly string[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const runId of runIds) {
    const { run } = await client.runs.get(runId);
    const name = runStatusName(run.status);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

async function ended(bulkId: string) {
  for await (const bulk of client.bulks.follow(bulkId)) if (bulk.endTime !== undefined) return bulk;
  return (await client.bulks.get(bulkId)).bulk;
}

/** Every run of a bulk with its outcome. */
async function outcomesOf(bulkId: string) {
  const { runs } = await client.bulks.runs(bulkId, { pageSize: 200 });
  return runs.map(({ runId, outcome, reason }) => ({
    runId,
    what: outcome === 0 ? "open" : bulkOutcomeName(outcome),
    reason,
  }));
}

const reasonOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "",
    (error: unknown) => (error instanceof PawlError ? error.reason : "other"),
  );

test("a bulk acts on the runs of its start, once each: pause, resume and cancel; a later run is not touched, and a repeat is the same bulk", async () => {
  const runIds = await batchOf("waits", "one", 6);
  const dry = await client.bulks.preview("pause", filterOf("one"));
  expect(dry).toMatchObject({ matched: 6, applies: 6, firstRunIds: runIds });
  expect(await statusesOf(runIds)).toEqual({ waiting: 6 });
  const options = { ...filterOf("one"), requestId: "pause-one", by: "ada" };
  const started = await client.bulks.start("pause", options);
  const [later] = await batchOf("waits", "one", 1);
  expect((await client.bulks.start("pause", options)).bulkId).toBe(started.bulkId);
  expect(await reasonOf(client.bulks.start("cancel", options))).toBe("REQUEST_ID_REUSED");
  const paused = await ended(started.bulkId);
  expect(paused).toMatchObject({ matched: 6, done: 6, failed: 0, skipped: 0 });
  expect(paused.state).toBe(BulkState.COMPLETED);
  expect(await statusesOf(runIds)).toEqual({ paused: 6 });
  expect(await statusesOf([later ?? ""])).toEqual({ waiting: 1 });
  await client.runs.saveFilter("batch-one", filterOf("one").filter);
  // A kept filter and a filter must both hold.
  const both = { savedFilter: "batch-one", filter: "workflow = waits" };
  const none = await client.bulks.preview("resume", { ...both, filter: "workflow = broken" });
  expect(none).toMatchObject({ matched: 0 });
  const resumed = await client.bulks.start("resume", both);
  expect(await ended(resumed.bulkId)).toMatchObject({ matched: 7, done: 6, skipped: 1 });
  expect((await client.bulks.get(resumed.bulkId)).reasons).toMatchObject([
    { outcome: BulkOutcome.SKIPPED, reason: "not_paused", count: 1 },
  ]);
  const cancelled = await client.bulks.start("cancel", filterOf("one"));
  expect(await ended(cancelled.bulkId)).toMatchObject({ done: 7 });
  expect(await statusesOf(runIds)).toEqual({ cancelled: 6 });
  const again = await client.bulks.start("cancel", filterOf("one"));
  expect(await ended(again.bulkId)).toMatchObject({ done: 0, skipped: 7 });
  expect((await client.bulks.list({ pageSize: 2 })).bulks[0]?.bulkId).toBe(again.bulkId);
});

test("a canary waits for a person, who continues or stops; a bulk is aborted when too many runs fail", async () => {
  const runIds = await batchOf("waits", "two", 5);
  const bulk = await client.bulks.start("cancel", { ...filterOf("two"), canaryRuns: 2 });
  const waiting = await ended(bulk.bulkId);
  expect(waiting).toMatchObject({ state: BulkState.WAITING, done: 2, canary: 2 });
  expect(await statusesOf(runIds)).toEqual({ cancelled: 2, waiting: 3 });
  await client.bulks.continue(bulk.bulkId);
  expect(await ended(bulk.bulkId)).toMatchObject({ state: BulkState.COMPLETED, done: 5 });
  await client.bulks.continue(bulk.bulkId);
  const others = await batchOf("waits", "three", 5);
  const stopped = await client.bulks.start("cancel", { ...filterOf("three"), canaryPercent: 40 });
  await ended(stopped.bulkId);
  expect(await client.bulks.stop(stopped.bulkId, { reason: "enough" })).toMatchObject({
    state: BulkState.STOPPED,
    stateReason: "enough",
    done: 2,
  });
  expect(await reasonOf(client.bulks.continue(stopped.bulkId))).toBe("BULK_NOT_WAITING");
  expect(await statusesOf(others)).toEqual({ cancelled: 2, waiting: 3 });
  // A definition of another workflow is refused for each run.
  const failing = await batchOf("broken", "four", 6);
  const wrong = JSON.stringify({ id: "other", ...broken("return 1") });
  const repair = { ...filterOf("four"), definitionText: wrong, abortFailed: 2 };
  const aborted = await ended((await client.bulks.start("repair", repair)).bulkId);
  expect(aborted).toMatchObject({ state: BulkState.ABORTED, failed: 3, done: 0 });
  expect((await outcomesOf(aborted.bulkId)).map(({ what }) => what)).toEqual([
    ...["failed", "failed", "failed", "open", "open", "open"],
  ]);
  const share = { ...filterOf("four"), definitionText: wrong, canaryRuns: 2, abortPercent: 50 };
  const shared = await ended((await client.bulks.start("repair", share)).bulkId);
  expect(shared).toMatchObject({ state: BulkState.ABORTED, failed: 2, done: 0 });
  expect(shared.stateReason).toBe("2 of 2 runs failed; the limit is 50 %");
  expect(await repairsOf(pool, failing)).toBe(0);
});

test("what no bulk can do is refused before anything is stored", async () => {
  const before = (await client.bulks.list()).bulks.length;
  const ask = (options: Parameters<PawlClient["bulks"]["start"]>[1]) =>
    reasonOf(client.bulks.start("cancel", options));
  expect(await ask({})).toBe("INPUT_INVALID");
  expect(await ask({ filter: "status =" })).toBe("FILTER_INVALID");
  expect(await ask({ savedFilter: "none" })).toBe("RUN_FILTER_NOT_FOUND");
  expect(await ask({ ...filterOf("x"), canaryRuns: 1, canaryPercent: 1 })).toBe("INPUT_INVALID");
  expect(await ask({ ...filterOf("x"), abortPercent: 101 })).toBe("INPUT_INVALID");
  expect(await ask({ ...filterOf("x"), autoContinue: true })).toBe("INPUT_INVALID");
  expect(await ask({ ...filterOf("x"), maxPerSecond: 1_001 })).toBe("INPUT_INVALID");
  expect(await ask({ ...filterOf("x"), latest: true })).toBe("INPUT_INVALID");
  expect(await ask({ ...filterOf("x"), definitionText: "{}" })).toBe("INPUT_INVALID");
  const noGraph = { ...filterOf("x"), definitionText: '{"nodes": []}' };
  expect(await reasonOf(client.bulks.start("repair", noGraph))).toBe("DEFINITION_INVALID");
  expect(await reasonOf(client.bulks.get("nonsense"))).toBe("INPUT_INVALID");
  const unknown = "019a8b3e-1111-7000-8000-000000000001";
  const calls = [
    client.bulks.get(unknown),
    client.bulks.runs(unknown),
    client.bulks.stop(unknown),
    client.bulks.continue(unknown),
  ];
  const reasons = await Promise.all(calls.map(reasonOf));
  expect(new Set(reasons)).toEqual(new Set(["BULK_NOT_FOUND"]));
  expect((await client.bulks.list()).bulks.length).toBe(before);
});

test("schedulers that are killed before, in and after an act of a bulk leave each run handled exactly once: cancel, pause, resume, repair, redrive, delete (S0.57)", async () => {
  const cancelled = await batchOf("waits", "kill-cancel", 8);
  const paused = await batchOf("waits", "kill-pause", 8);
  const repaired = await batchOf("broken", "kill-repair", 8);
  const deleted = await batchOf("broken", "kill-delete", 8);
  const redriven = await batchOf("broken", "kill-redrive", 8);
  await killNodes(pool, redriven);
  const resumed = await batchOf("waits", "kill-resume", 8);
  for (const [at, runId] of resumed.entries()) {
    if (at % 2 === 0) await client.runs.pause(runId);
    else await client.runs.cancel(runId, { mode: "interrupt" });
  }
  await cluster.schedulers[0]?.kill("SIGKILL");
  const corrected = JSON.stringify({ id: "broken", ...broken("return 1") });
  const pace = { maxPerSecond: 4 };
  // A bulk that starts after a kill does not find the new runs of another one.
  const isOld = `create_time <= ${new Date().toISOString()}`;
  const old = (batch: string) => ({ filter: `${filterOf(batch).filter} AND ${isOld}`, ...pace });
  const repairs = old("kill-repair");
  const starting = Promise.all([
    client.bulks.start("cancel", { ...filterOf("kill-cancel"), ...pace }),
    client.bulks.start("pause", { ...filterOf("kill-pause"), ...pace }),
    client.bulks.start("repair", { ...repairs, definitionText: corrected }),
    // The same runs by another bulk, at the same time.
    client.bulks.start("retry", repairs),
    client.bulks.start("delete", { ...filterOf("kill-delete"), ...pace }),
    client.bulks.start("redrive", old("kill-redrive")),
    client.bulks.start("resume", old("kill-resume")),
  ]);
  for (const point of ["bulk.begun@2", "bulk.acted@2", "bulk.acted@7"]) {
    const scheduler = await replaceScheduler(cluster, failpoints(`${point}=kill`));
    expect(await scheduler.exited(), point).toBe("SIGKILL");
  }
  await replaceScheduler(cluster, {});
  const bulks = await starting;
  const all = await Promise.all(bulks.map(({ bulkId }) => ended(bulkId)));
  for (const bulk of all) {
    expect(bulk).toMatchObject({ state: BulkState.COMPLETED, matched: 8, failed: 0 });
    expect(bulk.done + bulk.skipped).toBe(8);
  }
  const [cancel, pause, repair, retry, remove, redrive, resume] = all;
  expect([cancel, pause, remove, redrive, resume].map((bulk) => bulk?.done)).toEqual(
    Array.from({ length: 5 }, () => 8),
  );
  expect(await eventsOf(pool, cancelled, "run.cancelled")).toBe(8);
  expect(await eventsOf(pool, paused, "run.status.changed", "paused")).toBe(8);
  expect(await repairsOf(pool, repaired)).toBe(8);
  expect((repair?.done ?? 0) + (retry?.done ?? 0)).toBe(8);
  expect(await redrivesOf(pool, redriven)).toBe(8);
  const { runs: begun } = await client.bulks.runs(redrive?.bulkId ?? "", { pageSize: 200 });
  const newRunIds = begun.map(({ newRunId }) => newRunId);
  expect(new Set(newRunIds).size).toBe(8);
  const { deadLetters } = await client.deadLetters.list({ workflowId: "broken" });
  expect(deadLetters.map((letter) => letter.redriveRunId).toSorted()).toEqual(newRunIds.toSorted());
  // A paused run continues, and a new run takes an interrupted one over.
  expect(await statusesOf(resumed)).toEqual({ waiting: 4, cancelled: 4 });
  expect(await repairsOf(pool, resumed)).toBe(4);
  expect(await eventsOf(pool, deleted, "run.started")).toBe(0);
  for (const runId of deleted) expect(await reasonOf(client.runs.get(runId))).toBe("RUN_NOT_FOUND");
  expect((await outcomesOf(remove?.bulkId ?? "")).map(({ runId }) => runId)).toEqual(deleted);
});

test("a scheduler ends a bulk that another one stored right before it died", async () => {
  await replaceScheduler(cluster, {});
  const runIds = await batchOf("waits", "orphan", 3);
  const { filter: text } = filterOf("orphan");
  const request = create(StartBulkRequestSchema, { action: BulkAction.CANCEL, filter: text });
  const { action, options } = parseStartBulk(request);
  const [bulkId, filter] = [randomUUID(), runFilterOf("filter", text)];
  await createBulks(pool).start({
    ...{
      bulkId,
      tenantId: DEFAULT_TENANT,
      requestId: null,
      requestHash: "",
      action,
      filter,
      options,
    },
    definition: null,
  });
  expect(await ended(bulkId)).toMatchObject({ state: BulkState.COMPLETED, matched: 3, done: 3 });
  expect(await eventsOf(pool, runIds, "run.cancelled")).toBe(3);
});

test("a canary of repairs continues by itself when its new runs completed, and waits when one failed", async () => {
  await replaceScheduler(cluster, {});
  const runIds = await batchOf("broken", "auto", 4);
  const options = { ...filterOf("auto"), canaryRuns: 1, autoContinue: true };
  const stays = JSON.stringify({ id: "broken", ...broken("throw new Error('still')") });
  const waits = await client.bulks.start("repair", { ...options, definitionText: stays });
  const waiting = await ended(waits.bulkId);
  expect(waiting.state).toBe(BulkState.WAITING);
  expect(waiting.stateReason).toContain("without completing");
  await client.bulks.stop(waits.bulkId);
  const corrected = JSON.stringify({ id: "broken", ...broken("return 1") });
  const whole = await client.bulks.start("repair", { ...options, definitionText: corrected });
  expect(await ended(whole.bulkId)).toMatchObject({
    ...{ state: BulkState.COMPLETED, matched: 5, skipped: 1, done: 4 },
  });
  expect(await repairsOf(pool, runIds)).toBe(4);
  await until(async () => (await statusesOf(runIds))["failed"] === 4, { what: "the old runs" });
});
