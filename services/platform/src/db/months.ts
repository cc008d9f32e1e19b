// Removes months of the log whose runs are gone, and rewrites months of which few runs are left.
//
// A month is dropped as a whole: that takes milliseconds and returns its disk, however many events it has. To rewrite a month, the scheduler
// first copies the logs of the runs that stay into a new table, in small steps and without a lock. Then one transaction copies what was
// appended meanwhile and puts the new table in the place of the old one. A crash before that leaves a table that no reader sees. The next
// rewrite begins again.
//
// Race: a scheduler appends to a run of the month, or puts an archived run back, while the month is replaced. The replacement takes the lock
// that stops every writer, looks at the runs again under it, and waits for it only briefly. It does not happen, and the next sweep tries again, if other sessions hold locks.

import { number, text } from "./columns.ts";
import { isContention, sqlState } from "./failure.ts";
import { LOCK_WAIT, partitionFor } from "./partitions.ts";
import { queriesBeside, type Queryable, run } from "./query.ts";

/** Longer than a replacement ever takes. Writers wait for it. */
const REPLACE_TIMEOUT = "set local statement_timeout = '1s'";
/** A run of the month came back or stayed: nothing is dropped. */
const IS_KEPT = "PW004";
const MONTH_NAME = /^run_events_(\d{4})_(\d{2})$/;
/** Runs whose logs one statement copies, and about how many events it copies at most. */
const COPY_RUNS = 200;
const COPY_EVENTS = 20_000;

const months = queriesBeside(import.meta.url)("months", {}, { name: text(), events: number() });

export interface Month {
  readonly name: string;
  readonly fromUuid: string;
  readonly toUuid: string;
  readonly endsAt: number;
  /** How many events it has, about. */
  readonly events: number;
}

/** The months of the log, oldest first. It counts the events of a month that PostgreSQL has not counted. @throws STORE_UNAVAILABLE */
export async function readMonths(db: Queryable): Promise<Month[]> {
  const rows = await run(db, months, {});
  const uncounted = rows.filter(({ events }) => events < 0);
  for (const { name } of uncounted) await db.query({ text: `analyze ${name}` });
  const counted = uncounted.length === 0 ? rows : await run(db, months, {});
  return counted.flatMap(({ name, events }) => {
    const [, year, month] = MONTH_NAME.exec(name) ?? [];
    if (year === undefined || month === undefined) return [];
    const { fromUuid, toUuid } = partitionFor(new Date(Date.UTC(Number(year), Number(month) - 1)));
    return [{ name, fromUuid, toUuid, events, endsAt: Date.UTC(Number(year), Number(month)) }];
  });
}

/** `blocked`: other sessions hold locks. `kept`: it still has runs. */
type Removal = "done" | "blocked" | "kept";

/** Drops a month that has no run. @throws STORE_UNAVAILABLE */
export const dropMonth = (db: Queryable, month: Month): Promise<Removal> =>
  replace(db, month, [
    `select pawl_require(not exists (select 1 from runs r where ${within(month)}), '${IS_KEPT}')`,
    `drop table ${month.name}`,
  ]);

/** Replaces a month by one that has only the logs of its runs. @throws STORE_UNAVAILABLE */
export async function rewriteMonth(db: Queryable, month: Month): Promise<Removal> {
  const { name, fromUuid, toUuid } = month;
  const copy = `${name}_kept`;
  const isInside = `run_id >= '${fromUuid}' and run_id < '${toUuid}'`;
  // PostgreSQL takes no parameters in a definition. The names are made of digits, and the bounds of hexadecimal digits. The constraint
  // proves to PostgreSQL that the rows fit, so it does not read them again under the lock.
  await db.query({
    text: `drop table if exists ${copy};
      create table ${copy} (like run_events including all);
      alter table ${copy} add constraint ${copy}_range check (run_id is not null and ${isInside})`,
  });
  const began = await copyRuns(db, month, copy);
  return await replace(db, month, [
    `insert into ${copy} select e.* from runs r cross join lateral (
       select * from ${name} o where o.run_id = r.run_id
         and o.seq > coalesce((select max(k.seq) from ${copy} k where k.run_id = r.run_id), 0)
     ) e where ${within(month)} and (r.ended_at is null or greatest(r.ended_at, r.restored_at) >= '${began}')`,
    `alter table run_events detach partition ${name}`,
    `drop table ${name}`,
    `alter table ${copy} rename to ${name}`,
    `alter table run_events attach partition ${name} for values from ('${fromUuid}') to ('${toUuid}')`,
    `alter table ${name} drop constraint ${copy}_range`,
  ]);
}

const within = ({ fromUuid, toUuid }: Month): string =>
  `r.run_id >= '${fromUuid}' and r.run_id < '${toUuid}'`;

/** Copies the logs of the runs of a month, some runs at a time. Returns the time before the first copy, as PostgreSQL writes it. */
async function copyRuns(db: Queryable, month: Month, copy: string): Promise<string> {
  const clock = await db.query<{ readonly at: string }>({
    text: "select (clock_timestamp() - interval '1 minute')::text as at",
  });
  let after: string | null = month.fromUuid;
  // A run of the lowest id of a month does not exist: it would have no random bits.
  while (after !== null) {
    const { rows }: { rows: { readonly last: string | null }[] } = await db.query({
      text: `with page as materialized (
          select run_id from (
            select run_id, sum(last_seq) over (order by run_id) - last_seq as before from (
              select run_id, last_seq from runs
              where run_id > $1::uuid and run_id < $2::uuid order by run_id limit ${COPY_RUNS}
            ) page_of_runs
          ) counted where before < ${COPY_EVENTS}
        ), copied as (
          insert into ${copy} select e.* from page p join ${month.name} e on e.run_id = p.run_id
        )
        select max(run_id::text) as last from page`,
      values: [after, month.toUuid],
    });
    after = rows[0]?.last ?? null;
  }
  return clock.rows[0]?.at ?? "-infinity";
}

/** Runs definitions under the lock that stops every reader and writer of the log. All statements in one message are one transaction. */
async function replace(
  db: Queryable,
  { name }: Month,
  definitions: readonly string[],
): Promise<Removal> {
  const message = [
    LOCK_WAIT,
    REPLACE_TIMEOUT,
    "lock table only run_events in access exclusive mode",
    `lock table ${name} in access exclusive mode`,
    ...definitions,
  ].join(";\n");
  try {
    await db.query({ text: message });
    return "done";
  } catch (error) {
    const state = sqlState(error);
    if (state === IS_KEPT) return "kept";
    // 57014: it took longer than writers may wait.
    if (isContention(error) || state === "57014") return "blocked";
    throw error;
  }
}
