// The cost of a stack that has nothing to do.

import { setTimeout as wait } from "node:timers/promises";
import { costOf } from "./cost.ts";
import type { BenchParts } from "./throughput.ts";

/** A whole minute: pg-boss looks after its queues once in it, with half of all the statements. */
const SECONDS = 60;
/** A backend that fell idle keeps its counts to itself for ten seconds. */
const SETTLE_MS = 15_000;
const CPU_MAX = 2;
const QUERIES_MAX = 120;

export async function idle({ stack, report }: BenchParts): Promise<void> {
  await stack.db.query("create extension if not exists pg_stat_statements").catch(() => undefined);
  // Clean up after the loads before: their dead rows would make autovacuum's transactions count as ours.
  await stack.db.query("vacuum analyze");
  await wait(SETTLE_MS);
  const before = await statements(stack.db);
  const cost = await costOf(stack, () => wait(SECONDS * 1_000));
  const after = await statements(stack.db);
  const cpu = ["scheduler", "executor", "gateway", "postgres"]
    .map((name) => 100 * (cost.cpu[name] ?? 0))
    .reduce((sum, each) => sum + each, 0);
  const bench = "idle";
  report.add({
    bench,
    metric: "CPU of the whole stack",
    value: cpu,
    unit: "% of a core",
    floor: `≤ ${CPU_MAX} %`,
    reached: cpu <= CPU_MAX,
  });
  // Our own samples are part of the count; they are taken off again.
  const queries = ((after - before - 4) * 60) / cost.seconds;
  report.add({
    bench,
    metric: "queries of the whole stack",
    value: queries,
    unit: "queries/min",
    floor: `≤ ${QUERIES_MAX}`,
    reached: queries <= QUERIES_MAX,
  });
}

/** Statements executed so far: exact with pg_stat_statements, otherwise transactions, of which each statement outside one is one. */
async function statements(db: BenchParts["stack"]["db"]): Promise<number> {
  try {
    const { rows } = await db.query<{ n: number }>(
      "select sum(calls)::float8 as n from pg_stat_statements",
    );
    return rows[0]?.n ?? 0;
  } catch {
    await db.query("select pg_stat_force_next_flush()");
    const { rows } = await db.query<{ n: number }>(
      "select sum(xact_commit + xact_rollback)::float8 as n from pg_stat_database where datname = current_database()",
    );
    return rows[0]?.n ?? 0;
  }
}
