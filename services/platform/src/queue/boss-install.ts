// pg-boss's own schema, made or brought up to date before the queue is opened. pg-boss does that by itself at its start, but waits up to
// 30 s for a lock, with everyone who comes after waiting behind it, and then fails. So we let it do the same on a connection of
// ours, on which a lock is waited for only briefly, and again (db/lock-wait.ts). Its start then finds nothing to do.

import { Client } from "pg";
import { PgBoss } from "pg-boss";
import { LOCK_WAIT_MS, type OnWait, untilLocked } from "../db/lock-wait.ts";
import { DEFAULT_SCHEMAS, type Schemas } from "../config/schemas.ts";

/** How pg-boss says how long it waits for a lock, at the beginning of each of its definitions. */
const ITS_LOCK_TIMEOUT = /SET LOCAL lock_timeout = \d+/g;

/** @throws when another session keeps its locks for minutes */
export async function installBoss(
  url: string,
  onWait: OnWait = () => {},
  { queue }: Pick<Schemas, "queue"> = DEFAULT_SCHEMAS,
): Promise<void> {
  const client = new Client({ connectionString: url, application_name: "pawl-boss-install" });
  await client.connect();
  try {
    const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
    // For what it asks before its definitions.
    await client.query(`set lock_timeout = ${LOCK_WAIT_MS}`);
    const what = "the schema of pg-boss";
    await untilLocked({ url, what, onWait }, rows[0]?.pid, () => install(client, queue));
  } finally {
    await client.end();
  }
}

async function install(client: Client, schema: string): Promise<void> {
  const executeSql = async (text: string, values?: unknown[]) => {
    try {
      const bounded = text.replaceAll(ITS_LOCK_TIMEOUT, `SET LOCAL lock_timeout = ${LOCK_WAIT_MS}`);
      return await client.query<object>(bounded, values);
    } catch (error) {
      // Its definitions begin a transaction in their text; a refused one stays open.
      await client.query("rollback");
      throw error;
    }
  };
  const boss = new PgBoss({
    db: { executeSql },
    schema,
    supervise: false,
    schedule: false,
  });
  try {
    await boss.start();
  } finally {
    await boss.stop({ graceful: false, close: false });
  }
}
