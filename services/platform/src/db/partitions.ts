// Monthly partitions of run_events. Run ids are UUIDv7, whose first 48 bits are milliseconds, so a month is a range of ids. Dropping a
// month drops the logs of the runs that began in it.
//
// A partition cannot be made for a range that already has rows in the default partition. Such a month stays in the default partition,
// where everything works as before; `ensurePartitions` makes months ahead of time, so that is rare. Several schedulers may do this at
// once: an existing partition counts as made. Making and dropping need a lock that stops every writer, so they wait for it only briefly.
// They report a failure to `onBlocked`, and the next call tries again.

import { isContention, sqlState } from "./failure.ts";
import type { Queryable } from "./sql.ts";

/** A month's partition and its range of run ids: from `from` up to, but without, `to`. */
export interface Partition {
  readonly name: string;
  readonly fromUuid: string;
  readonly toUuid: string;
}

const NAME = /^run_events_(\d{4})_(\d{2})$/;
const UUIDS = /^[0-9a-f-]{36}$/;
/**
 * It exists (42P07, or 23505 if two processes made it at once), it overlaps another (42P17), or its rows are in the default partition
 * (23514).
 */
const NOT_NOW = new Set(["42P07", "23505", "42P17", "23514"]);
/** All later sessions queue behind a waiting exclusive lock. */
const LOCK_WAIT = "set local lock_timeout = '250ms'";

/** The smallest UUID with these milliseconds in its first 48 bits. */
function firstUuidAt(timeMs: number): string {
  const hex = timeMs.toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

const monthStart = (date: Date, months = 0): number =>
  Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months);

/** The partition of the month that `date` is in, by UTC. */
export function partitionFor(date: Date): Partition {
  const start = new Date(monthStart(date));
  const month = `${start.getUTCMonth() + 1}`.padStart(2, "0");
  return {
    name: `run_events_${start.getUTCFullYear()}_${month}`,
    fromUuid: firstUuidAt(start.getTime()),
    toUuid: firstUuidAt(monthStart(date, 1)),
  };
}

/** Called for a partition that could not be made or dropped, because other sessions held locks. */
type OnBlocked = (name: string) => void;

/** Makes the partitions of `months` months from that of `from`; returns the names of those it made. */
export async function ensurePartitions(
  db: Queryable,
  options: { readonly from: Date; readonly months: number; readonly onBlocked?: OnBlocked },
): Promise<string[]> {
  const { from, months, onBlocked = () => {} } = options;
  const known = new Set(await partitionNames(db));
  const made: string[] = [];
  for (let ahead = 0; ahead < months; ahead += 1) {
    const partition = partitionFor(new Date(monthStart(from, ahead)));
    if (known.has(partition.name)) continue;
    const outcome = await make(db, partition);
    if (outcome === "done") made.push(partition.name);
    if (outcome === "blocked") onBlocked(partition.name);
  }
  return made;
}

/** Drops the partitions of months that ended before that of `date` and have no live run; returns their names. */
export async function dropPartitionsBefore(db: Queryable, date: Date): Promise<string[]> {
  const current = partitionFor(date).name;
  const dropped: string[] = [];
  for (const name of await partitionNames(db)) {
    const [, year, month] = NAME.exec(name) ?? [];
    if (year === undefined || month === undefined || name >= current) continue;
    const partition = partitionFor(new Date(Date.UTC(Number(year), Number(month) - 1)));
    if (await hasLiveRuns(db, partition)) continue;
    if ((await define(db, `drop table if exists ${partition.name}`)) === "done") dropped.push(name);
  }
  return dropped;
}

async function hasLiveRuns(db: Queryable, { fromUuid, toUuid }: Partition): Promise<boolean> {
  const { rows } = await db.query({
    text: `
select 1
from runs
where run_id >= $1::uuid
  and run_id < $2::uuid
  and ended_at is null
limit 1`,
    values: [fromUuid, toUuid],
  });
  return rows.length > 0;
}

async function partitionNames(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>({
    text: `
select c.relname as name
from pg_inherits i
join pg_class c on c.oid = i.inhrelid
where i.inhparent = 'run_events'::regclass
order by c.relname`,
  });
  return rows.map((row) => row.name);
}

/** Names and bounds cannot be parameters of a definition. Both are made of digits here, and checked once more. */
async function make(db: Queryable, { name, fromUuid, toUuid }: Partition): Promise<Defined> {
  if (!NAME.test(name) || !UUIDS.test(fromUuid) || !UUIDS.test(toUuid)) {
    throw new Error(`invariant broken: ${name} is no partition of run_events`);
  }
  return await define(
    db,
    `create table ${name} partition of run_events for values from ('${fromUuid}') to ('${toUuid}')`,
  );
}

/** Whether a definition was carried out, is impossible, or would have blocked other sessions. */
type Defined = "done" | "not_possible" | "blocked";

/** Both statements in one message are one transaction. */
async function define(db: Queryable, definition: string): Promise<Defined> {
  try {
    await db.query({ text: `${LOCK_WAIT}; ${definition}` });
    return "done";
  } catch (error) {
    if (isContention(error)) return "blocked";
    if (NOT_NOW.has(sqlState(error) ?? "")) return "not_possible";
    throw error;
  }
}
