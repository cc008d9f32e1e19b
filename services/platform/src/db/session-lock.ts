// A lock that one session of the whole deployment holds. All work runs on the session that holds it. If the session dies, its lock is free
// and its next statement fails, so two processes never do the work at the same time.

import { flag, text } from "./columns.ts";
import type { Pool } from "./pool.ts";
import { first, queriesBeside, type Queryable } from "./query.ts";

const declare = queriesBeside(import.meta.url);
const tryLock = declare("try_lock", { name: text() }, { held: flag() });
const unlock = declare("unlock", { name: text() }, { held: flag() });

/** Runs `work` on the session that gets the lock. Undefined if another session holds it. @throws STORE_UNAVAILABLE */
export async function withSessionLock<T>(
  pool: Pick<Pool, "connect">,
  name: string,
  work: (session: Queryable) => Promise<T>,
): Promise<T | undefined> {
  const session = await pool.connect();
  let isBroken = true;
  try {
    if ((await first(session, tryLock, { name }))?.held !== true) {
      isBroken = false;
      return undefined;
    }
    const result = await work(session);
    isBroken = (await first(session, unlock, { name }))?.held !== true;
    return result;
  } finally {
    // The lock of a session ends with it. A session whose work failed may still hold the lock, so it is closed.
    session.release(isBroken);
  }
}
