// Serves /metrics, /healthz and /readyz of a scheduler: its claims, whether its database answers, and notes for its operator.

import { EngineError } from "@pawl/core/fault/engine-error";
import { watchDurability } from "@pawl/platform/db/durability";
import type { Pool } from "@pawl/platform/db/pool";
import { ReadyNotes } from "@pawl/platform/lifecycle/ready-notes";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import { startProbeServer } from "@pawl/platform/telemetry/http";
import type { Logger } from "@pawl/platform/telemetry/log";
import { readQueueDepth } from "@pawl/platform/queue/job-gauges";
import type { Telemetry } from "@pawl/platform/telemetry/start";
import type { Config } from "./config.ts";
import type { Executors } from "@pawl/platform/store/leases/leases";
import type { StoreHealth } from "./tick/store-health.ts";
import type { ConnectedExecutors } from "./sessions/connected-executors.ts";

interface Probes {
  readonly notes: ReadyNotes;
  close(): Promise<void>;
}

interface ProbeParts {
  readonly pool: Pool;
  readonly connected: ConnectedExecutors;
  readonly executors: Pick<Executors, "countAlive">;
  readonly health: StoreHealth;
  readonly telemetry: Telemetry;
  readonly log: Logger;
}

export async function startProbes(config: Config, parts: ProbeParts): Promise<Probes> {
  const { pool, connected, health, telemetry, log } = parts;
  const notes = new ReadyNotes();
  const durability = watchDurability(pool, { notes, log });
  await durability.look();
  const server = await startProbeServer({
    host: config.PAWL_METRICS_HOST,
    port: config.PAWL_METRICS_PORT,
    allowedHosts: config.PAWL_ALLOWED_HOSTS,
    metricsText: async () => {
      const { sessions } = connected;
      METRICS.leases.set(sessions.reduce((sum, session) => sum + session.heldCount, 0));
      await readQueueDepth();
      return await telemetry.metricsText();
    },
    notReady: async () => {
      await durability.look();
      const fault = health.failure?.message ?? (await databaseFault(pool));
      notes.set("executors", fault === undefined ? await executorsNote(parts) : undefined);
      return fault;
    },
    notes,
  });
  const close = async (): Promise<void> => {
    durability.stop();
    await server.close();
  };
  return { notes, close };
}

/**
 * How many executors can run nodes. A scheduler without executors is ready too: it accepts and stores commands, and executors connect only
 * to a ready scheduler (ADR 39).
 */
async function executorsNote({ connected, executors }: ProbeParts): Promise<string | undefined> {
  try {
    const alive = await executors.countAlive();
    METRICS.executorsAlive.set(alive);
    const here = connected.sessions.length;
    const counted = `${here} connected to this scheduler, ${alive} alive in all`;
    if (alive > 0) return counted;
    return `${counted}; the scheduler accepts runs, and their nodes wait: start an executor, or read the logs of your executors`;
  } catch {
    return undefined;
  }
}

/** The probe needs no commit, so it also works for a scheduler that has nothing to write. */
async function databaseFault(pool: Pool): Promise<string | undefined> {
  try {
    return (await isReadOnly(pool)) ? "the database is read-only" : undefined;
  } catch (error) {
    return error instanceof EngineError ? error.message : "the database cannot be reached";
  }
}

async function isReadOnly(pool: Pool): Promise<boolean> {
  const connection = await pool.connect();
  let isRefusing = true;
  try {
    const { rows } = await connection.query<{ readonly is_read_only: boolean }>({
      text: "select current_setting('transaction_read_only')::boolean as is_read_only",
    });
    isRefusing = rows[0]?.is_read_only === true;
    return isRefusing;
  } finally {
    // A session may stay read-only after its database became writable again.
    connection.release(isRefusing);
  }
}
