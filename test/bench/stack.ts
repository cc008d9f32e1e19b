// The stack a bench runs on: an embedded PostgreSQL with fsync on, and the trio as three processes beside this one.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LOOPBACK } from "@pawl/deploy/ports.ts";
import { startPostgres } from "@pawl/deploy/postgres.ts";
import { Client } from "pg";
import { startCluster } from "../support/cluster.ts";
import { BenchClient } from "./client.ts";

/** As in production. */
export const RENEW_MS = 10_000;

export interface Stack {
  readonly databaseUrl: string;
  /** A connection for measuring; never used by the services. */
  readonly db: Client;
  readonly client: BenchClient;
  /** Where executors and gateways find the scheduler. */
  readonly schedulerAddress: string;
  /** Pids by service, the database's own among them. */
  readonly pids: Readonly<Record<string, number>>;
  stop(): Promise<void>;
}

/** `executorEnv` is for the executor alone. */
export async function startStack(
  executorEnv: Readonly<Record<string, string>> = {},
): Promise<Stack> {
  const dataDir = mkdtempSync(join(tmpdir(), "pawl-bench-"));
  const postgres = await startPostgres({
    dataDir,
    durable: true,
    settings: ["shared_preload_libraries=pg_stat_statements"],
  });
  const cluster = await startCluster({
    databaseUrl: postgres.url,
    env: {
      PAWL_LOG_LEVEL: "warn",
      PAWL_LEASE_MS: "30000",
      PAWL_RENEW_MS: String(RENEW_MS),
      PAWL_SWEEP_MS: "20000",
      PAWL_POLL_MS: "5000",
    },
    envOf: { executor: { PAWL_EXECUTOR_SLOTS: "1024", ...executorEnv } },
  });
  const db = new Client({ connectionString: postgres.url });
  await db.connect();
  const client = new BenchClient(new URL(cluster.url).host);
  const pidOf = (members: readonly { readonly pid: number }[]): number => members[0]?.pid ?? 0;
  return {
    databaseUrl: postgres.url,
    db,
    client,
    schedulerAddress: `${LOOPBACK}:${cluster.schedulers[0]?.port ?? 0}`,
    pids: {
      scheduler: pidOf(cluster.schedulers),
      executor: pidOf(cluster.executors),
      gateway: pidOf(cluster.gateways),
      postgres: postgres.pid,
      client: process.pid,
    },
    stop: async () => {
      client.close();
      await db.end();
      await cluster.stop();
      await postgres.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
