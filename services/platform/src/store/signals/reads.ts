// Reads waits for signals.

import { number, text } from "../../db/columns.ts";
import { first, queriesBeside, type Queryable, run } from "../../db/query.ts";
import { DUE, type DueWait } from "./signals.ts";

const declare = queriesBeside(import.meta.url);

const due = declare("due", { limit: number() }, DUE);
const countOpen = declare("count_open", { tenantId: text() }, { count: number() });

/** Waits that have a deadline, the soonest first. @throws STORE_UNAVAILABLE */
export const dueWaits = (db: Queryable, limit: number): Promise<readonly DueWait[]> =>
  run(db, due, { limit });

/** How many executions wait for a signal, up to a bound. @throws STORE_UNAVAILABLE */
export async function countWaits(db: Queryable, tenantId: string): Promise<number> {
  return (await first(db, countOpen, { tenantId }))?.count ?? 0;
}
