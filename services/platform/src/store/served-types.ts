// Which node types executors serve now: what warnings about definitions compare with.

import { type Queryable, run } from "../db/sql.ts";
import { readAliveExecutors } from "./statements/read-alive-executors.ts";

const EXECUTORS_MAX = 1_000;

/** @throws STORE_UNAVAILABLE */
export async function servedTypes(db: Queryable): Promise<ReadonlySet<string>> {
  const rows = await run<{ readonly node_types: readonly string[] }>(db, readAliveExecutors, [
    EXECUTORS_MAX,
  ]);
  return new Set(rows.flatMap((row) => row.node_types));
}
