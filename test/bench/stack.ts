// The stack that a bench runs on: an embedded PostgreSQL with fsync on, and the trio of one build as three processes beside this one.

import { rmSync } from "node:fs";
import { join } from "node:path";
import { KNOWN_VARIABLES } from "@pawl/platform/config/known";
import { freePort, LOOPBACK } from "@pawl/deploy/ports.ts";
import { startPostgres } from "@pawl/deploy/postgres.ts";
import { Client } from "pg";
import { startCluster } from "../support/cluster.ts";
import type { Member } from "../support/member.ts";
import { temporaryFolder } from "../support/folder.ts";
import { BenchClient } from "./client.ts";
import { MEMORY_PROBE } from "./memory.ts";
import { SLOTS, startSteps, type StepExecutor } from "./steps.ts";

/** As in production. */
export const RENEW_MS = 10_000;

export interface Stack {
  readonly databaseUrl: string;
  /** The gateway. */
  readonly url: string;
  /** The checkout whose services run; this one when undefined. */
  readonly root: string | undefined;
  /** A connection for measuring; the services never use it. */
  readonly db: Client;
  readonly client: BenchClient;
  /** Its process, to be killed and started again. */
  readonly gateway: Member;
  /** Where executors and gateways find the scheduler. */
  readonly schedulerAddress: string;
  /** Where handler processes find the executor; an older checkout does not serve them. */
  readonly handlerAddress: string;
  /** Pids by process, with the database, the executor of the steps while it runs, and this process. */
  readonly pids: Readonly<Record<string, number>>;
  /** Starts the executor of the steps, unless it runs. */
  serveSteps(): Promise<void>;
  /** Stops it: what an idle stack costs is measured without it. */
  leaveSteps(): Promise<void>;
  stop(): Promise<void>;
}

/** The settings of the caller, so that a bench shows what a setting costs: `PAWL_HAND_OFF=off npm run bench -- latency`. */
const settingsOf = (env: NodeJS.ProcessEnv): Readonly<Record<string, string>> =>
  Object.fromEntries(
    KNOWN_VARIABLES.flatMap((name) => {
      const value = env[name] ?? "";
      return value === "" ? [] : [[name, value]];
    }),
  );

/** The process of the first member. */
const pidOf = (members: readonly { readonly pid: number }[]): number => members[0]?.pid ?? 0;

/** Starts the trio of the checkout in `root`, or of this one, on a database server of its own. */
export async function startStack(root?: string): Promise<Stack> {
  const folder = temporaryFolder("bench");
  const postgres = await startPostgres({
    dataDir: join(folder, "postgres"),
    durable: true,
    settings: ["shared_preload_libraries=pg_stat_statements"],
  });
  const handlerPort = String(await freePort());
  const cluster = await startCluster({
    root,
    databaseUrl: postgres.url,
    env: {
      PAWL_LOG_LEVEL: "warn",
      PAWL_LEASE_MS: "30000",
      PAWL_RENEW_MS: String(RENEW_MS),
      PAWL_SWEEP_MS: "20000",
      PAWL_POLL_MS: "5000",
      ...settingsOf(process.env),
    },
    envOf: {
      gateway: MEMORY_PROBE,
      executor: {
        PAWL_EXECUTOR_SLOTS: process.env["PAWL_EXECUTOR_SLOTS"] ?? String(SLOTS),
        ...(root === undefined ? { PAWL_HANDLER_PORT: handlerPort } : {}),
      },
    },
  });
  const db = new Client({ connectionString: postgres.url });
  await db.connect();
  const client = new BenchClient(cluster.url);
  const schedulerAddress = `${LOOPBACK}:${cluster.schedulers[0]?.port ?? 0}`;
  const [gateway] = cluster.gateways;
  if (gateway === undefined) throw new Error("the stack has no gateway");
  let steps: StepExecutor | undefined;
  const leaveSteps = async (): Promise<void> => {
    await steps?.stop();
    steps = undefined;
  };
  return {
    databaseUrl: postgres.url,
    url: cluster.url,
    gateway,
    root,
    db,
    client,
    schedulerAddress,
    handlerAddress: `${LOOPBACK}:${handlerPort}`,
    get pids() {
      return {
        scheduler: pidOf(cluster.schedulers),
        executor: pidOf(cluster.executors),
        gateway: pidOf(cluster.gateways),
        postgres: postgres.pid,
        ...(steps === undefined ? {} : { steps: steps.pid }),
        client: process.pid,
      };
    },
    serveSteps: async () => void (steps ??= await startSteps(schedulerAddress)),
    leaveSteps,
    stop: async () => {
      client.close();
      await db.end();
      await leaveSteps();
      await cluster.stop();
      await postgres.stop();
      rmSync(postgres.dataDir, { recursive: true, force: true });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
