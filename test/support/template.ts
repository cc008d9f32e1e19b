// The migrated database from which every test database is cloned.
import { migrate } from "@pawl/platform/db/migrate";
import { Client } from "pg";

/** Its name on the run's server. */
export const TEMPLATE_NAME = "pawl_template";

/** Runs one statement on a connection of its own. */
export async function execute(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** The same server, another database. */
export function databaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** Creates and migrates the template on a new server. */
export async function makeTemplate(serverUrl: string): Promise<void> {
  await execute(serverUrl, `create database ${TEMPLATE_NAME}`);
  await migrate(databaseUrl(serverUrl, TEMPLATE_NAME));
}
