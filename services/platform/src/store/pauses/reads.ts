// Reads pauses.

import { list, number, orNulls, text } from "../../db/columns.ts";
import { first, queriesBeside, type Queryable, type RowOf, run } from "../../db/query.ts";
import { PAUSE, PAUSE_KEY, type PauseBook, type PauseKey, type PauseRecord } from "./pauses.ts";

const declare = queriesBeside(import.meta.url);

const one = declare("one", PAUSE_KEY, PAUSE);
const all = declare(
  "all",
  {},
  {
    ...orNulls(PAUSE),
    ...{ currentEpoch: number(), webhookEvents: list(text()) },
  },
);

/** The columns come from an outer join. Without a scope there is no pause. With a scope the whole pause is there. */
const isPause = (row: RowOf<typeof all>): row is RowOf<typeof all> & PauseRecord =>
  row.scope !== null;

/** All pauses. @throws STORE_UNAVAILABLE */
export async function readPauses(db: Queryable): Promise<PauseBook> {
  const rows = await run(db, all, {});
  const pauses = rows
    .filter(isPause)
    .map(({ currentEpoch: _epoch, webhookEvents: _events, ...pause }) => pause);
  const { currentEpoch: epoch = 0, webhookEvents = [] } = rows[0] ?? {};
  return { epoch, pauses, webhookEvents };
}

/** The pause of a workflow or queue, or undefined. @throws STORE_UNAVAILABLE */
export const findPause = (
  db: Queryable,
  { scope, tenantId, name }: PauseKey,
): Promise<PauseRecord | undefined> => first(db, one, { scope, tenantId, name });
