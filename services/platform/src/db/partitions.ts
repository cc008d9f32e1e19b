// Monthly partitions of run_events. The first 48 bits of a UUIDv7 are milliseconds, so a month is a range of run ids. Dropping a month
// drops the logs of the runs that began in it.
//
// PostgreSQL makes no partition for a range that already has rows in the default partition. Such a month stays in the default partition,
// and everything works. `ensurePartitions` makes months ahead of time, so this is rare.
//
// Race: several schedulers make a partition at once. An existing partition counts as made. A new partition needs a lock that stops every
// writer, so the call waits for it only briefly. It reports a failure to `onBlocked`, and the next call tries again.

import { text } from "./columns.ts";
import { isContention, sqlState } from "./failure.ts";
import { queriesBeside, type Queryable, run } from "./query.ts";

const partitions = queriesBeside(import.meta.url)("partitions", {}, { name: text() });

/**
 * The partition exists (42P07, or 23505 if two processes made it at once), it overlaps another (42P17), or the default partition has its
 * rows (23514).
 */
const NOT_NOW = new Set(["42P07", "23505", "42P17", "23514"]);
/** All later sessions queue behind a waiting exclusive lock. */
export const LOCK_WAIT = "set local lock_timeout = '250ms'";

/** The smallest UUID with these milliseconds in its first 48 bits. */
function firstUuidAt(timeMs: number): string {
  const hex = timeMs.toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

const monthStart = (date: Date, months = 0): number =>
  Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months);

/** The partition of the month that `date` is in, by UTC, and its range of run ids: from `fromUuid` up to, but without, `toUuid`. */
export function partitionFor(date: Date) {
  const start = new Date(monthStart(date));
  const month = `${start.getUTCMonth() + 1}`.padStart(2, "0");
  return {
    name: `run_events_${start.getUTCFullYear()}_${month}`,
    fromUuid: firstUuidAt(start.getTime()),
    toUuid: firstUuidAt(monthStart(date, 1)),
  };
}

/** Makes the partitions of `months` months from the month of `from` on. Returns the names of the new ones. */
export async function ensurePartitions(
  db: Queryable,
  options: {
    readonly from: Date;
    readonly months: number;
    /** Called for a partition that could not be made, because other sessions held locks. */
    readonly onBlocked?: (name: string) => void;
  },
): Promise<string[]> {
  const { from, months, onBlocked = () => {} } = options;
  const known = new Set((await run(db, partitions, {})).map(({ name }) => name));
  const made: string[] = [];
  for (let ahead = 0; ahead < months; ahead += 1) {
    const { name, fromUuid, toUuid } = partitionFor(new Date(monthStart(from, ahead)));
    if (known.has(name)) continue;
    // PostgreSQL takes no parameters in a definition, so the text contains the name and the bounds. Both are made of digits.
    const definition = `create table ${name} partition of run_events for values from ('${fromUuid}') to ('${toUuid}')`;
    try {
      // Both statements in one message are one transaction.
      await db.query({ text: `${LOCK_WAIT}; ${definition}` });
      made.push(name);
    } catch (error) {
      if (isContention(error)) onBlocked(name);
      else if (!NOT_NOW.has(sqlState(error) ?? "")) throw error;
    }
  }
  return made;
}
