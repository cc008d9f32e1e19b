// The cost of a load: CPU of each process, commits and WAL of the database.

import { readFileSync } from "node:fs";
import type { Stack } from "./stack.ts";

const TICKS_PER_SECOND = 100;

interface Cost {
  readonly seconds: number;
  /** Share of one core, by process. */
  readonly cpu: Readonly<Record<string, number>>;
  /** Transactions, those that only read included. */
  readonly transactions: number;
  readonly walBytes: number;
}

/** Measures what happens while `load` runs. */
export async function costOf(stack: Stack, load: () => Promise<void>): Promise<Cost> {
  const before = await sample(stack);
  await load();
  const after = await sample(stack);
  const seconds = (after.at - before.at) / 1_000;
  const cpu = Object.fromEntries(
    Object.keys(stack.pids).map((name) => [
      name,
      spent(before.cpu[name] ?? new Map(), after.cpu[name] ?? new Map()) / seconds,
    ]),
  );
  return {
    seconds,
    cpu,
    transactions: after.transactions - before.transactions,
    walBytes: after.walBytes - before.walBytes,
  };
}

async function sample(stack: Stack) {
  await stack.db.query("select pg_stat_force_next_flush()");
  const { rows } = await stack.db.query<{ transactions: number; wal: string }>(`
    select
      (select sum(xact_commit)::float8 from pg_stat_database) as transactions,
      pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::text as wal`);
  const cpu: Record<string, ReadonlyMap<number, number>> = {};
  for (const [name, pid] of Object.entries(stack.pids)) {
    const pids = name === "postgres" ? [pid, ...childrenOf(pid)] : [pid];
    cpu[name] = new Map(pids.map((each) => [each, cpuSeconds(each)]));
  }
  return {
    at: performance.now(),
    cpu,
    transactions: rows[0]?.transactions ?? 0,
    walBytes: Number(rows[0]?.wal ?? 0),
  };
}

/** The cost of the processes in between. The figures of backends that ended meanwhile are missing. */
function spent(before: ReadonlyMap<number, number>, after: ReadonlyMap<number, number>): number {
  let sum = 0;
  for (const [pid, seconds] of after) sum += seconds - (before.get(pid) ?? 0);
  return sum;
}

function cpuSeconds(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  } catch {
    return 0; // A backend may have gone in between.
  }
}

function childrenOf(pid: number): number[] {
  try {
    const list = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
    return list.trim().split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** The most memory the process ever had resident, in MiB. */
export function peakMib(pid: number): number {
  const match = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(match?.[1] ?? 0) / 1_024;
}

/** Resident memory in MiB. */
export function residentMib(pid: number): number {
  const match = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(match?.[1] ?? 0) / 1_024;
}
