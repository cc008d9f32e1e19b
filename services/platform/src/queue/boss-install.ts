// Creates or upgrades pg-boss's own schema before the queue opens. At its own start, pg-boss would wait up to 30 s for a lock, block every
// later session meanwhile, and then fail. So pg-boss does this work here, on a connection that waits for a lock only briefly and tries
// again (db/lock-wait.ts). Its later start finds nothing to do.

import { Client } from "pg";
import { PgBoss } from "pg-boss";
import { LOCK_WAIT_MS, type OnWait, untilLocked } from "../db/lock-wait.ts";
import { DEFAULT_SCHEMAS, type Schemas } from "../config/schemas.ts";

/** How each definition of pg-boss sets its wait for a lock. */
const ITS_LOCK_TIMEOUT = /SET LOCAL lock_timeout = \d+/g;

/** @throws if another session keeps its locks for minutes */
export async function installBoss(
  url: string,
  onWait: OnWait = () => {},
  { queue }: Pick<Schemas, "queue"> = DEFAULT_SCHEMAS,
): Promise<void> {
  const client = new Client({ connectionString: url, application_name: "pawl-boss-install" });
  await client.connect();
  try {
    const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
    // This setting is for the statements before the definitions.
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
      // The text of a definition begins a transaction, which stays open after a refusal.
      await client.query("rollback");
      throw error;
    }
  };
  const boss = new PgBoss({ db: { executeSql }, schema, supervise: false, schedule: false });
  try {
    await boss.start();
  } finally {
    await boss.stop({ graceful: false, close: false });
  }
}
