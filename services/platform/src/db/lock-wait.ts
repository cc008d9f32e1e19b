// Waits for the locks of definitions (create, alter, drop). Such a lock stops every reader and writer of its table, and all later sessions
// queue behind a waiting lock. One forgotten session in psql with a migration behind it would stop the whole system. So a definition waits
// for its lock only briefly, gives up, and tries again later. Meanwhile the log names the lock and the session that holds it. After a few
// minutes the definition fails with the same message.

import { setTimeout as wait } from "node:timers/promises";
import { Client } from "pg";
import { createBackoff } from "../lifecycle/backoff.ts";
import { number, orNull, text } from "./columns.ts";
import { isContention, sqlState } from "./failure.ts";
import { first, queriesBeside, type RowOf } from "./query.ts";

/** How long a definition waits for its lock. Other sessions wait behind it. */
export const LOCK_WAIT_MS = 1_000;
const PATIENCE_MS = 3 * 60_000;
const LOOK_MS = 400;
const BACKOFF = { initialMs: 500, maxMs: 5_000 } as const;

export type OnWait = (message: string) => void;

interface LockWaitOptions {
  /** A database URL, to look up which sessions block the lock. */
  readonly url: string;
  /** The work, for messages: "migration 0003_link_child_runs.sql". */
  readonly what: string;
  /** Called while it waits for a lock, with a message for the operator. */
  readonly onWait: OnWait;
  /** How long it tries. */
  readonly patienceMs?: number;
}

/** Runs `work` until it gets its locks. `work` sets its own lock_timeout. `pid` is the backend that runs it. */
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
      onWait(`${what} did not get ${inTheWay}; the next try is in ${Math.round(waitMs)} ms`);
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

/** Finds out from time to time which session a backend waits for, on a separate connection. `stop` returns the last one. */
function watchLock(url: string, pid: number | undefined, onSeen: (seen: string) => void) {
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
    stop: async (): Promise<string | undefined> => {
      clearInterval(timer);
      await looking;
      return last;
    },
  };
}

const blocker = queriesBeside(import.meta.url)(
  "blocker",
  { pid: number() },
  {
    relation: orNull(text()),
    pid: number(),
    applicationName: text(),
    usename: orNull(text()),
    state: orNull(text()),
    since: orNull(text()),
    query: orNull(text()),
  },
);

/** The lock that a backend waits for and the session that holds it, as text. Undefined if it waits for none. */
async function inTheWayOf(url: string, pid: number): Promise<string | undefined> {
  const client = new Client({ connectionString: url, application_name: "pawl-lock-watch" });
  // If the server stops meanwhile, the connection that does the work reports it.
  client.on("error", () => {});
  await client.connect();
  try {
    const row = await first({ query: (config) => client.query(config) }, blocker, { pid });
    return row && describe(row);
  } finally {
    await client.end();
  }
}

function describe(row: RowOf<typeof blocker>): string {
  const { relation, pid, applicationName, usename, state, since, query } = row;
  const lock = relation === null ? "a lock" : `a lock on ${relation}`;
  const name = [applicationName, usename].filter(Boolean).join(", ");
  const doing = [state, since && `in a transaction for ${since}`].filter(Boolean).join(" ");
  return `${lock} that session ${pid} (${name}) holds: ${doing}; its last statement: ${query ?? "not visible"}`;
}
