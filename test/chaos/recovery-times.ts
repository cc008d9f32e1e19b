// How long recovery takes, each kind measured by itself under a steady load. From the kill of an executor until its nodes start elsewhere;
// the longest pause of progress after the kill of a scheduler; from the return of the database until every service is ready again. Leases
// are as in production, so no figure depends on a short lease.
import { createPawlClient, type PawlClient } from "@pawl/client";
import { LOOPBACK } from "@pawl/deploy/ports.ts";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import { graph } from "../flow/graph.ts";
import { startCluster, type Cluster } from "../support/cluster.ts";
import type { Member } from "../support/member.ts";
import { startPrivatePostgres, type PrivatePostgres } from "../support/postgres.ts";
import { until } from "../support/until.ts";
import { quantile } from "./recovery.ts";

/** One figure: every measurement in milliseconds, and what its p99 may be. */
type RecoveryFigure = {
  readonly what: string;
  readonly ms: readonly number[];
  readonly mostMs: number;
};

const WORKFLOW = "steady";
const RUNS_AT_ONCE = 12;
const SETTLE_MS = 1_500;
/** The time after the kill of a scheduler in which progress is measured. */
const WATCHED_MS = 6_000;
/** Longer than any sweep. */
const IDLE_MS = 25_000;
const PRODUCTION = {
  PAWL_LEASE_MS: "30000",
  PAWL_RENEW_MS: "10000",
  PAWL_SWEEP_MS: "20000",
  PAWL_POLL_MS: "5000",
  PAWL_LOG_LEVEL: "warn",
} as const;

type Stage = {
  readonly postgres: PrivatePostgres;
  readonly cluster: Cluster;
  readonly client: PawlClient;
  readonly tell: (text: string) => void;
};

/** Measures all three, `rounds` times each. */
export async function recoveryFigures(
  rounds: number,
  tell: (text: string) => void,
): Promise<RecoveryFigure[]> {
  const postgres = await startPrivatePostgres();
  const cluster = await startCluster({
    databaseUrl: postgres.url,
    schedulers: 2,
    executors: 2,
    env: PRODUCTION,
  });
  const client = createPawlClient({ baseUrl: cluster.url, attempts: 60, timeoutMs: 8_000 });
  const stage = { postgres, cluster, client, tell };
  try {
    const work = { type: "text_stream", config: { text: "ab", chunk_chars: 1, interval_ms: 60 } };
    const definition = graph(["start > a > b > c > end"], { a: work, b: work, c: work });
    await client.workflows.create(definition, { workflowId: WORKFLOW });
    return await underLoad(client, async () => [
      await measure(stage, rounds, {
        what: "executor killed, its nodes started elsewhere",
        mostMs: 2_000,
        once: executorKilled,
      }),
      await measure(stage, rounds, {
        what: "scheduler killed, longest pause of progress",
        mostMs: 1_000,
        once: schedulerKilled,
      }),
      await measure(stage, rounds, {
        what: "PostgreSQL killed and back, all services ready",
        mostMs: 5_000,
        once: databaseKilled,
      }),
    ]);
  } finally {
    await cluster.stop();
    await postgres.stop();
  }
}

/** Runs the load for as long as `measured` takes. */
async function underLoad<T>(client: PawlClient, measured: () => Promise<T>): Promise<T> {
  const over = new AbortController();
  const worker = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const { run } = await client.runs.start(WORKFLOW);
      await client.runs.wait(run.runId);
    }
  };
  const workers = Promise.all(Array.from({ length: RUNS_AT_ONCE }, worker));
  try {
    return await measured();
  } finally {
    over.abort();
    await workers;
  }
}

async function measure(
  stage: Stage,
  rounds: number,
  figure: {
    readonly what: string;
    readonly mostMs: number;
    readonly once: (stage: Stage, round: number) => Promise<number[]>;
  },
): Promise<RecoveryFigure> {
  const { what, mostMs, once } = figure;
  const ms: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await pause(SETTLE_MS);
    const found = await once(stage, round);
    ms.push(...found);
    stage.tell(`${what}: ${found.map(Math.round).join(", ")} ms`);
  }
  return { what, ms, mostMs };
}

const RESTARTED = `
select extract(epoch from min(again.at))::float8 * 1000 - $1 as ms
from pawl.run_events lost
join pawl.run_events again on again.run_id = lost.run_id and again.node_id = lost.node_id
  and again.iteration = lost.iteration and again.seq > lost.seq and again.type = 'node.started'
where lost.type = 'run.recovered' and lost.at >= to_timestamp($1 / 1000.0)
group by lost.run_id, lost.seq`;

async function executorKilled({ cluster, postgres }: Stage, round: number): Promise<number[]> {
  const target = pick(cluster.executors, round);
  const at = Date.now();
  await target.kill("SIGKILL");
  const rows = await until(
    async () => {
      const found = await ask<{ ms: number }>(postgres.url, RESTARTED, [at]);
      return found.length > 0 ? found : undefined;
    },
    { what: "its nodes to start elsewhere", timeoutMs: IDLE_MS },
    // An executor that held nothing lost nothing.
  ).catch(() => []);
  await target.restart();
  return rows.map(({ ms }) => ms);
}

const COMMITS = `
select distinct extract(epoch from at)::float8 * 1000 as at from pawl.run_events
where at >= to_timestamp($1 / 1000.0) and at < to_timestamp($2 / 1000.0) order by 1`;

async function schedulerKilled({ cluster, postgres }: Stage, round: number): Promise<number[]> {
  const target = pick(cluster.schedulers, round);
  const at = Date.now();
  await target.kill("SIGKILL");
  await pause(WATCHED_MS);
  const commits = await ask<{ at: number }>(postgres.url, COMMITS, [at, at + WATCHED_MS]);
  await target.restart();
  const times = [at, ...commits.map((commit) => commit.at), at + WATCHED_MS];
  return [Math.max(...times.slice(1).map((time, index) => time - (times[index] ?? time)))];
}

async function databaseKilled({ cluster, postgres }: Stage): Promise<number[]> {
  await postgres.crash("SIGKILL");
  await pause(SETTLE_MS);
  await postgres.restart();
  const back = performance.now();
  const all = [...cluster.schedulers, ...cluster.executors, ...cluster.gateways];
  await until(async () => (await Promise.all(all.map(isReady))).every(Boolean), {
    what: "every service to be ready",
    timeoutMs: 60_000,
  });
  return [performance.now() - back];
}

async function isReady({ probePort }: Member): Promise<boolean> {
  const response = await fetch(`http://${LOOPBACK}:${probePort}/readyz`, {
    signal: AbortSignal.timeout(2_000),
  });
  return response.ok;
}

function pick(members: readonly Member[], round: number): Member {
  const member = members[round % members.length];
  if (member === undefined) throw new Error("nobody to kill");
  return member;
}

async function ask<Row extends object>(
  url: string,
  text: string,
  values: readonly unknown[],
): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(text, [...values])).rows;
  } finally {
    await client.end();
  }
}

/** Prints each figure in a line. Returns whether every p99 is within its limit. */
export function tellRecovery(
  figures: readonly RecoveryFigure[],
  print: (line: string) => void,
): boolean {
  const isShort = ({ ms, mostMs }: RecoveryFigure): boolean => quantile(ms, 0.99) <= mostMs;
  for (const figure of figures) {
    const { what, ms, mostMs } = figure;
    const told = [0.5, 0.99, 1].map((share) => Math.round(quantile(ms, share)));
    print(
      `${what}: p50 ${told[0]} ms, p99 ${told[1]} ms, max ${told[2]} ms of ${ms.length} (p99 ≤ ${mostMs} ms ${isShort(figure) ? "✓" : "✗"})`,
    );
  }
  return figures.every(isShort);
}
