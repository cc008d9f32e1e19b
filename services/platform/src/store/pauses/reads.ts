// Reads pauses.

import { number, orNull, text, time } from "../../db/columns.ts";
import { queriesBeside, run, type RowOf, type Typed } from "../../db/query.ts";
import type { Queryable } from "../../db/sql.ts";
import type { PauseBook, PauseKey, PauseRecord, PauseState } from "./pauses.ts";

const declare = queriesBeside(import.meta.url);

/** The columns of a pause. */
export const PAUSE = {
  scope: text<PauseKey["scope"]>(),
  tenant_id: text(),
  name: text(),
  state: text<PauseState>(),
  epoch: number(),
  paused_by: text(),
  reason: text(),
  since: time(),
  resumed_by: text(),
  resume_reason: text(),
};
const one = declare("one", { scope: text(), tenantId: text(), name: text() }, PAUSE);
const all = declare(
  "all",
  {},
  {
    current_epoch: number(),
    scope: orNull(PAUSE.scope),
    tenant_id: orNull(text()),
    name: orNull(text()),
    state: orNull(PAUSE.state),
    epoch: orNull(number()),
    paused_by: orNull(text()),
    reason: orNull(text()),
    since: orNull(time()),
    resumed_by: orNull(text()),
    resume_reason: orNull(text()),
  },
);

export const toPause = (row: Typed<typeof PAUSE>): PauseRecord => ({
  scope: row.scope,
  tenantId: row.tenant_id,
  name: row.name,
  state: row.state,
  epoch: row.epoch,
  by: row.paused_by,
  reason: row.reason,
  since: row.since.getTime(),
  resumedBy: row.resumed_by,
  resumeReason: row.resume_reason,
});

/** Columns come from an outer join: without a scope there is no pause, with one there is all of it. */
const isPause = (row: RowOf<typeof all>): row is RowOf<typeof all> & Typed<typeof PAUSE> =>
  row.scope !== null;

/** Everything that is paused. @throws STORE_UNAVAILABLE */
export async function readPauses(db: Queryable): Promise<PauseBook> {
  const rows = await run(db, all, {});
  return { epoch: rows[0]?.current_epoch ?? 0, pauses: rows.filter(isPause).map(toPause) };
}

/** The pause of a workflow or queue, or undefined. @throws STORE_UNAVAILABLE */
export async function findPause(
  db: Queryable,
  { scope, tenantId, name }: PauseKey,
): Promise<PauseRecord | undefined> {
  const [row] = await run(db, one, { scope, tenantId, name });
  return row && toPause(row);
}
