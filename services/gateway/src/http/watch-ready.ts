// What this gateway needs to serve, and what its operator should know besides: the parts behind /readyz and grpc.health.v1.

import { watchDurability } from "@pawl/platform/db/durability";
import { isCurrent } from "@pawl/platform/db/migrate";
import type { Pool } from "@pawl/platform/db/pool";
import { ReadyNotes } from "@pawl/platform/lifecycle/ready-notes";
import type { Logger } from "@pawl/platform/telemetry/log";
import type { Scheduler } from "../request/forward.ts";
import { Readiness } from "./health.ts";

const PROBE_MS = 1_000;

export interface ReadyWatch {
  readonly readiness: Readiness;
  readonly notes: ReadyNotes;
  /** From now on the gateway does not serve. */
  drain(): void;
}

export function watchReady(parts: {
  readonly pool: Pool;
  readonly scheduler: Scheduler;
  readonly log: Logger;
}): ReadyWatch {
  const { pool, scheduler, log } = parts;
  const notes = new ReadyNotes();
  const durability = watchDurability(pool, { notes, log });
  const readiness = new Readiness(async () => {
    await durability.look();
    return await checkReady(pool, scheduler);
  });
  void durability.look();
  const drain = (): void => {
    readiness.drain();
    durability.stop();
  };
  return { readiness, notes, drain };
}

async function checkReady(pool: Pool, scheduler: Scheduler): Promise<string | undefined> {
  const isSchemaCurrent = await isCurrent({ query: (text) => pool.query({ text }) });
  if (!isSchemaCurrent) return "the database schema is not current";
  await scheduler.waitForReady(PROBE_MS);
  // One scheduler that stores is enough.
  const failures = (await scheduler.standings.ask()).map(({ storeFailure }) => storeFailure);
  return failures.includes("") ? undefined : failures[0];
}
