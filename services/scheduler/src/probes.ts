// /metrics, /healthz and /readyz of a scheduler: what it holds now, whether its database answers, and what its operator should know.

import { watchDurability } from "@pawl/platform/db/durability";
import type { Pool } from "@pawl/platform/db/pool";
import { ReadyNotes } from "@pawl/platform/lifecycle/ready-notes";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import { startProbeServer } from "@pawl/platform/telemetry/http";
import type { Logger } from "@pawl/platform/telemetry/log";
import { readQueueDepth } from "@pawl/platform/telemetry/queue-depth";
import type { Telemetry } from "@pawl/platform/telemetry/start";
import type { Config } from "./config.ts";
import type { Executors } from "@pawl/platform/store/executors";
import type { Roster } from "./work/roster.ts";

export interface Probes {
  readonly notes: ReadyNotes;
  close(): Promise<void>;
}

export async function startProbes(
  config: Config,
  parts: {
    readonly pool: Pool;
    readonly roster: Roster;
    readonly executors: Pick<Executors, "countAlive">;
    readonly telemetry: Telemetry;
    readonly log: Logger;
  },
): Promise<Probes> {
  const { pool, roster, telemetry, log } = parts;
  const notes = new ReadyNotes();
  const durability = watchDurability(pool, { notes, log });
  await durability.look();
  const server = await startProbeServer({
    host: config.PAWL_METRICS_HOST,
    port: config.PAWL_METRICS_PORT,
    metricsText: async () => {
      const { sessions } = roster;
      METRICS.leases.set(sessions.reduce((sum, session) => sum + session.heldCount, 0));
      await readQueueDepth();
      return await telemetry.metricsText();
    },
    notReady: async () => {
      await durability.look();
      const fault = await databaseFault(pool);
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
 * Whether anybody is there to run a node. A scheduler without executors is ready all the same: it accepts commands and keeps them, and
 * executors reach it only while it is ready (ADR 39).
 */
async function executorsNote({
  roster,
  executors,
}: {
  readonly roster: Roster;
  readonly executors: Pick<Executors, "countAlive">;
}): Promise<string | undefined> {
  try {
    const alive = await executors.countAlive();
    METRICS.executorsAlive.set(alive);
    const here = roster.sessions.length;
    const counted = `${here} connected to this scheduler, ${alive} alive in all`;
    if (alive > 0) return counted;
    return `${counted}; runs are accepted and none of their nodes can run: start an executor, or read the log of those that should be here`;
  } catch {
    return undefined;
  }
}

async function databaseFault(pool: Pool): Promise<string | undefined> {
  try {
    await pool.query({ text: "select 1" });
    return undefined;
  } catch {
    return "the database cannot be reached";
  }
}
