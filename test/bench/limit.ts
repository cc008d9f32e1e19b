// The ceilings, measured on the same database in the same run: a single-row commit, the tick's own statements in a bare loop,
// and a hand-made loop on raw pg-boss.

import { randomUUID } from "node:crypto";
import { uuidV7 } from "@pawl/scheduler/run-id";
import { type DefinitionId, type ExecutorId, nodeId, type RunId, runId } from "@pawl/core/name/ids";
import type { Fact } from "@pawl/core/log/event";
import { openPool } from "@pawl/platform/db/pool";
import { BossQueue } from "@pawl/platform/queue/boss";
import type { NewRun } from "@pawl/platform/store/runs/runs";
import type { Transaction } from "@pawl/platform/store/tick/journal";
import { createJournal } from "@pawl/platform/store/tick/postgres";
import { PgBoss } from "pg-boss";
import { median, percentile, type Report } from "./report.ts";
import type { Stack } from "./stack.ts";

interface Limits {
  readonly commitMs: number;
  readonly handOffNodesPerSecond: number;
  readonly pgBossJobsPerSecond: number;
}

/** A bare loop that can be run again at any time: the machine's speed drifts, so a ratio wants both sides of the same minute. */
interface Ceiling {
  /** Nodes or jobs per second, over about `ms`. */
  measure(ms: number): Promise<number>;
  close(): Promise<void>;
}

export interface Ceilings {
  readonly handOff: Ceiling;
  readonly pgBoss: Ceiling;
}

const BATCH = 128;
const ROUND_MS = 2_000;
const ROUNDS = 3;
const FETCH = 50;

export async function openCeilings(stack: Stack): Promise<Ceilings & { close(): Promise<void> }> {
  const handOff = await openHandOff(stack);
  const pgBoss = await openPgBoss(stack);
  return {
    handOff,
    pgBoss,
    close: async () => {
      await handOff.close();
      await pgBoss.close();
    },
  };
}

export async function measureLimits(stack: Stack, ceilings: Ceilings): Promise<Limits> {
  return {
    commitMs: await commitTime(stack),
    handOffNodesPerSecond: await medianRate(ceilings.handOff),
    pgBossJobsPerSecond: await medianRate(ceilings.pgBoss),
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

export async function commitTime({ db }: Stack): Promise<number> {
  await db.query("create table if not exists bench_commit (value integer)");
  const times: number[] = [];
  for (let at = 0; at < 500; at++) {
    const began = performance.now();
    await db.query({ name: "bench_commit", text: "insert into bench_commit values (1)" });
    times.push(performance.now() - began);
  }
  return percentile(times, 0.5);
}

/** Each run of the batch completes a node and is handed its next one: three events, one lease closed, one opened. */
async function openHandOff({ databaseUrl }: Stack): Promise<Ceiling> {
  const pool = openPool(databaseUrl, { max: 1, name: "bench-limit" });
  const boss = new BossQueue(databaseUrl, console.error);
  await boss.start([]);
  const journal = createJournal({ url: databaseUrl, pool, queue: boss });
  const executor = randomUUID() as ExecutorId;
  const runIds = Array.from({ length: BATCH }, () => runId(uuidV7(Date.now()))).toSorted();
  await journal.transact((tx) => tx.insertRuns(runIds.map(benchRun)));
  // Alive, or the scheduler's sweep would come for its leases.
  await pool.query({
    text: `
      insert into executors (executor_id, alive_until, session_id, node_types, slots, description)
      values ($1, now() + interval '1 day', $1, '{}', 0, 'bench')`,
    values: [executor],
  });
  let hop = 0;
  const step = async (): Promise<number> => {
    hop += 1;
    await journal.transact((tx) => handOffAll(tx, runIds, hop, executor));
    return BATCH;
  };
  return {
    measure: (ms) => rateOf(step, ms),
    close: async () => {
      await pool.query({ text: "delete from leases where executor_id = $1", values: [executor] });
      await pool.query({
        text: "delete from executors where executor_id = $1",
        values: [executor],
      });
      await pool.query({ text: "delete from runs where tenant_id = 'bench'" });
      await journal.close();
      await boss.stop();
      await pool.end();
    },
  };
}

const STANDING = {
  status: "running",
  hasFailures: false,
  errorMessage: null,
  failureClass: null,
  ended: false,
} as const;

const benchRun = (id: RunId): NewRun => ({
  ...STANDING,
  ...{ definitionDigest: "d", limits: {}, input: "null", depth: 0, createdAt: 0 },
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
  assumesNewest: false,
  parent: null,
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
  void tx.wake(runIds.map((id) => ({ runId: id, lastSeq: 0, ended: false })));
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
async function openPgBoss({ databaseUrl }: Stack): Promise<Ceiling> {
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
  const step = async (): Promise<number> => {
    const jobs = await boss.fetch(name, { batchSize: FETCH });
    await boss.complete(name, jobs);
    await insert();
    return jobs.length;
  };
  return {
    measure: (ms) => rateOf(step, ms),
    close: () => boss.stop({ graceful: false }),
  };
}

async function medianRate(ceiling: Ceiling): Promise<number> {
  // The first round warms up.
  await ceiling.measure(ROUND_MS);
  const rates: number[] = [];
  for (let round = 0; round < ROUNDS; round++) rates.push(await ceiling.measure(ROUND_MS));
  return median(rates);
}

async function rateOf(step: () => Promise<number>, ms: number): Promise<number> {
  const began = performance.now();
  let count = 0;
  while (performance.now() - began < ms) count += await step();
  return (count * 1_000) / (performance.now() - began);
}
