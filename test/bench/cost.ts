// What a load cost: CPU of each process, commits and WAL of the database.

import { readFileSync } from "node:fs";
import type { Stack } from "./stack.ts";

const TICKS_PER_SECOND = 100;

export interface Cost {
  readonly seconds: number;
  /** Share of one core, by process. */
  readonly cpu: Readonly<Record<string, number>>;
  /** Syncs of the WAL: what commits cost the disk, shared ones counted once. */
  readonly walSyncs: number;
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
      ((after.cpu[name] ?? 0) - (before.cpu[name] ?? 0)) / seconds,
    ]),
  );
  return {
    seconds,
    cpu,
    walSyncs: after.walSyncs - before.walSyncs,
    walBytes: after.walBytes - before.walBytes,
  };
}

async function sample(stack: Stack) {
  await stack.db.query("select pg_stat_force_next_flush()");
  const { rows } = await stack.db.query<{ syncs: number; wal: string }>(`
    select
      (select sum(fsyncs)::float8 from pg_stat_io where object = 'wal') as syncs,
      pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::text as wal`);
  const cpu: Record<string, number> = {};
  for (const [name, pid] of Object.entries(stack.pids)) {
    const pids = name === "postgres" ? [pid, ...childrenOf(pid)] : [pid];
    cpu[name] = pids.map(cpuSeconds).reduce((sum, each) => sum + each, 0);
  }
  return {
    at: performance.now(),
    cpu,
    walSyncs: rows[0]?.syncs ?? 0,
    walBytes: Number(rows[0]?.wal ?? 0),
  };
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

/** Resident memory in MiB. */
export function residentMib(pid: number): number {
  const match = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(match?.[1] ?? 0) / 1_024;
}
