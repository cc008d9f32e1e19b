// The ceilings, measured on the same database in the same run: a single-row commit, the tick's own statements in a bare loop,
// and a hand-made loop on raw pg-boss.

import { randomUUID } from "node:crypto";
import { uuidV7 } from "@pawl/scheduler/admit/run-id";
import { type DefinitionId, type ExecutorId, nodeId, type RunId, runId } from "@pawl/core/name/ids";
import type { Fact } from "@pawl/core/log/event";
import { openPool } from "@pawl/platform/db/pool";
import { BossQueue } from "@pawl/platform/queue/boss";
import type { NewRun, Transaction } from "@pawl/platform/store/journal";
import { PostgresJournal } from "@pawl/platform/store/journal-postgres";
import { PgBoss } from "pg-boss";
import { median, percentile, type Report } from "./report.ts";
import type { Stack } from "./stack.ts";

export interface Limits {
  readonly commitMs: number;
  readonly handOffNodesPerSecond: number;
  readonly pgBossJobsPerSecond: number;
}

const BATCH = 128;
const ROUND_MS = 2_000;
const ROUNDS = 3;
const FETCH = 50;

export async function measureLimits(stack: Stack): Promise<Limits> {
  return {
    commitMs: await commitTime(stack),
    handOffNodesPerSecond: await handOffRate(stack),
    pgBossJobsPerSecond: await pgBossRate(stack),
  };
}

export function printLimits(report: Report, limits: Limits): void {
  const bench = "limit";
  report.add({ bench, metric: "single-row commit p50", value: limits.commitMs, unit: "ms" });
  const handOff = limits.handOffNodesPerSecond;
  report.add({ bench, metric: "hand-off, batches of 128", value: handOff, unit: "nodes/s" });
  const raw = limits.pgBossJobsPerSecond;
  report.add({ bench, metric: "raw pg-boss loop", value: raw, unit: "jobs/s" });
}

async function commitTime({ db }: Stack): Promise<number> {
  await db.query("create table bench_commit (value integer)");
  const times: number[] = [];
  for (let at = 0; at < 500; at++) {
    const began = performance.now();
    await db.query({ name: "bench_commit", text: "insert into bench_commit values (1)" });
    times.push(performance.now() - began);
  }
  await db.query("drop table bench_commit");
  return percentile(times, 0.5);
}

/** Each run of the batch completes a node and is handed its next one: three events, one lease closed, one opened. */
async function handOffRate({ databaseUrl }: Stack): Promise<number> {
  const pool = openPool(databaseUrl, { max: 1, name: "bench-limit" });
  const boss = new BossQueue(databaseUrl, console.error);
  await boss.start([]);
  const journal = new PostgresJournal({ url: databaseUrl, pool, boss });
  const executor = randomUUID() as ExecutorId;
  const runIds = Array.from({ length: BATCH }, () => runId(uuidV7(Date.now()))).toSorted();
  await journal.transact((tx) => tx.insertRuns(runIds.map(benchRun)));
  let hop = 0;
  const rate = await medianRate(async () => {
    hop += 1;
    await journal.transact((tx) => handOffAll(tx, runIds, hop, executor));
    return BATCH;
  });
  await pool.query({ text: "delete from leases where executor_id = $1", values: [executor] });
  await pool.query({ text: "delete from runs where tenant_id = 'bench'" });
  await journal.close();
  await boss.stop();
  await pool.end();
  return rate;
}

const STANDING = {
  status: "running",
  hasFailures: false,
  errorMessage: null,
  ended: false,
} as const;

const benchRun = (id: RunId): NewRun => ({
  ...STANDING,
  runId: id,
  eventCount: 0,
  tenantId: "bench",
  definitionId: randomUUID() as DefinitionId,
  workflowId: "bench",
  workflowVersion: 1,
  kind: "test",
  priority: 0,
  requestId: null,
  requestHash: null,
  traceparent: null,
  deadlineAt: Date.now() + 3_600_000,
});

/** What a tick sends when every run of the batch goes from its node `hop - 1` to node `hop`. */
function handOffAll(
  tx: Transaction,
  runIds: readonly RunId[],
  hop: number,
  executorId: ExecutorId,
): void {
  const from = nodeId(`n${hop - 1}`);
  const to = nodeId(`n${hop}`);
  const facts = hopFacts(from, to, executorId);
  const last = facts.length - 1;
  const lease = { iteration: 0, back: 0, attempt: 1, executorId };
  void tx.advance(
    runIds.map((id) => ({
      ...STANDING,
      runId: id,
      expectedVersion: hop,
      eventCount: facts.length,
    })),
  );
  void tx.append(
    runIds.flatMap((id) => facts.map((fact, index) => ({ runId: id, back: last - index, fact }))),
  );
  void tx.closeLeases(runIds.map((id) => ({ runId: id, nodeId: from, iteration: 0 })));
  void tx.openLeases(runIds.map((id) => ({ ...lease, runId: id, nodeId: to })));
  void tx.wake(runIds.map((id) => ({ runId: id, lastSeq: 0 })));
}

function hopFacts(from: Fact["nodeId"], to: Fact["nodeId"], executorId: ExecutorId): Fact[] {
  const place = { iteration: 0, attempt: 1, epoch: 0 };
  return [
    { ...place, nodeId: from, type: "node.completed", payload: { durationMs: 0 }, value: "{}" },
    { ...place, nodeId: to, type: "node.queued", payload: {} },
    { ...place, nodeId: to, type: "node.started", payload: { executorId } },
  ];
}

/** fetch 50, complete them, insert the next 50. */
async function pgBossRate({ databaseUrl }: Stack): Promise<number> {
  const boss = new PgBoss({
    connectionString: databaseUrl,
    schema: "bench_boss",
    supervise: false,
    schedule: false,
  });
  boss.on("error", console.error);
  await boss.start();
  const name = "bench";
  await boss.createQueue(name);
  const insert = () =>
    boss.insert(
      name,
      Array.from({ length: FETCH }, () => ({ data: { step: 1 } })),
    );
  await insert();
  const rate = await medianRate(async () => {
    const jobs = await boss.fetch(name, { batchSize: FETCH });
    await boss.complete(name, jobs);
    await insert();
    return jobs.length;
  });
  await boss.stop({ graceful: false });
  return rate;
}

async function medianRate(step: () => Promise<number>): Promise<number> {
  const rates: number[] = [];
  for (let round = 0; round < ROUNDS + 1; round++) {
    const began = performance.now();
    let count = 0;
    while (performance.now() - began < ROUND_MS) count += await step();
    // The first round warms up.
    if (round > 0) rates.push((count * 1_000) / (performance.now() - began));
  }
  return median(rates);
}
