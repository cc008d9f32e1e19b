// Definitions (create, alter, drop) need locks that stop every reader and writer of their table, and all later sessions queue behind a
// waiting lock. So one forgotten session in psql with a migration behind it would stop the whole system. Therefore a definition waits for
// its lock only briefly, gives up, and tries again later; meanwhile the log names the lock and the session that holds it. After a few
// minutes the definition fails with the same message.

import { setTimeout as wait } from "node:timers/promises";
import { Client } from "pg";
import { createBackoff } from "../lifecycle/backoff.ts";
import { isContention, sqlState } from "./failure.ts";

/** How long a definition, and with it others, waits for its lock. */
export const LOCK_WAIT_MS = 1_000;
const PATIENCE_MS = 3 * 60_000;
const LOOK_MS = 400;
const BACKOFF = { initialMs: 500, maxMs: 5_000 } as const;

export type OnWait = (message: string) => void;

export interface LockWaitOptions {
  /** A database URL, to look up which sessions block the lock. */
  readonly url: string;
  /** What is being done, for messages: "migration 0003_link_child_runs.sql". */
  readonly what: string;
  /** Called while it waits for a lock, with a message for the operator. */
  readonly onWait: OnWait;
  /** For how long it tries. */
  readonly patienceMs?: number;
}

/** Runs `work`, which sets its own lock_timeout, until it gets its locks. `pid` is the backend that runs it. */
export async function untilLocked<T>(
  { url, what, onWait, patienceMs = PATIENCE_MS }: LockWaitOptions,
  pid: number | undefined,
  work: () => Promise<T>,
): Promise<T> {
  const until = performance.now() + patienceMs;
  const backoff = createBackoff(BACKOFF);
  for (;;) {
    const watch = watchLock(url, pid, (seen) => onWait(`${what} waits for ${seen}`));
    try {
      return await work();
    } catch (error) {
      if (!isContention(error)) throw error;
      const inTheWay = (await watch.stop()) ?? "a lock that another session holds";
      const waitMs = backoff.nextMs();
      if (performance.now() + waitMs > until) throw givenUp(what, inTheWay, error);
      onWait(`${what} gives way to ${inTheWay}; it is tried again in ${Math.round(waitMs)} ms`);
      await wait(waitMs);
    } finally {
      await watch.stop();
    }
  }
}

const givenUp = (what: string, inTheWay: string, cause: unknown): Error =>
  new Error(
    `${what} did not get its lock (${sqlState(cause)}): ${inTheWay}. End that session or wait for it, then start again.`,
    { cause },
  );

interface LockWatch {
  /** The obstacle that was seen last. */
  stop(): Promise<string | undefined>;
}

/** Looks from time to time, on a connection of its own, which sessions a backend waits for. */
function watchLock(
  url: string,
  pid: number | undefined,
  onSeen: (seen: string) => void,
): LockWatch {
  let last: string | undefined;
  let looking: Promise<void> | undefined;
  const look = async (): Promise<void> => {
    const seen = pid === undefined ? undefined : await inTheWayOf(url, pid).catch(() => undefined);
    if (seen === undefined || seen === last) return;
    last = seen;
    onSeen(seen);
  };
  const timer = setInterval(() => {
    looking ??= look().finally(() => (looking = undefined));
  }, LOOK_MS).unref();
  return {
    stop: async () => {
      clearInterval(timer);
      await looking;
      return last;
    },
  };
}

interface BlockerRow {
  readonly relation: string | null;
  readonly pid: number;
  readonly application_name: string;
  readonly usename: string | null;
  readonly state: string | null;
  readonly since: string | null;
  readonly query: string | null;
}

/** The lock that a backend waits for and the session that holds it, as text; undefined if it waits for none. */
async function inTheWayOf(url: string, pid: number): Promise<string | undefined> {
  const client = new Client({ connectionString: url, application_name: "pawl-lock-watch" });
  // If the server goes away meanwhile, the connection that does the work reports it.
  client.on("error", () => {});
  await client.connect();
  try {
    const { rows } = await client.query<BlockerRow>(
      `
select (select l.relation::regclass::text from pg_locks l where l.pid = $1 and not l.granted limit 1) as relation,
  a.pid, a.application_name, a.usename, a.state,
  date_trunc('second', clock_timestamp() - a.xact_start)::text as since,
  left(regexp_replace(a.query, '\\s+', ' ', 'g'), 120) as query
from unnest(pg_blocking_pids($1)) as blocker (pid)
join pg_stat_activity a on a.pid = blocker.pid
order by a.xact_start nulls last
limit 1`,
      [pid],
    );
    return rows[0] === undefined ? undefined : describe(rows[0]);
  } finally {
    await client.end();
  }
}

function describe({ relation, pid, application_name, usename, state, since, query }: BlockerRow) {
  const lock = relation === null ? "a lock" : `a lock on ${relation}`;
  const name = [application_name, usename]
    .filter((part) => part !== null && part !== "")
    .join(", ");
  const doing = [state, since === null ? null : `in a transaction for ${since}`]
    .filter((part) => part !== null)
    .join(" ");
  return `${lock} that session ${pid} (${name}) holds: ${doing}; its last statement: ${query ?? "not visible"}`;
}
