// Samples of the system on both stores.

import { openPool } from "@pawl/platform/db/pool";
import { createMemoryStats } from "@pawl/platform/store/stats/memory";
import { readNewestStats, readStatPoints } from "@pawl/platform/store/stats/reads";
import { createStats } from "@pawl/platform/store/stats/writes";
import { afterAll } from "vitest";
import { freshDatabase } from "../support/postgres.ts";
import { type StatsUnderTest, statsSuite } from "./stats.ts";

const ends: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const end of ends) await end();
});

async function openMemory(): Promise<StatsUnderTest> {
  let memory = createMemoryStats(Date.now);
  return {
    due: (ms) => memory.due(ms),
    put: (...given) => memory.put(...given),
    putPools: (...given) => memory.putPools(...given),
    forget: (...given) => memory.forget(...given),
    newest: () => memory.newest(),
    points: (asked) => memory.points(asked),
    empty: async () => {
      memory = createMemoryStats(Date.now);
    },
  };
}

async function openPostgres(): Promise<StatsUnderTest> {
  const database = await freshDatabase();
  const pool = openPool(database.url, { max: 3, name: "pawl-conformance" });
  ends.push(async () => {
    await pool.end();
    await database.drop();
  });
  return {
    ...createStats(pool),
    newest: () => readNewestStats(pool),
    points: (asked) => readStatPoints(pool, asked),
    empty: async () => {
      await pool.query({ text: "delete from queue_stats" });
      await pool.query({ text: "delete from process_stats" });
    },
  };
}

statsSuite("memory", openMemory);
statsSuite("Postgres", openPostgres);
