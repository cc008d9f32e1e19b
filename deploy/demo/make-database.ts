// A small database of its own in the embedded server, with a role of the same name. Starts that repeat it change nothing.
import { openPool } from "@pawl/platform/db/pool";
import type { Pool } from "@pawl/platform/db/pool";

const PASSWORD = "demo";

/** Addresses of a database: for the server's owner, and for its own role. */
export type MadeDatabase = { readonly ownerUrl: string; readonly roleUrl: string };

/** Makes what is missing. `name` is ours and plain: it stands in statements that take no parameters. */
export async function makeDatabase(serverUrl: string, name: string): Promise<MadeDatabase> {
  await withPool(serverUrl, async (server) => {
    const roles = await server.query({
      text: "select 1 from pg_roles where rolname = $1",
      values: [name],
    });
    if (roles.rows.length === 0) {
      const options = `login password '${PASSWORD}' connection limit 20`;
      await server.query({ text: `create role ${name} ${options}` });
    }
    const found = await server.query({
      text: "select 1 from pg_database where datname = $1",
      values: [name],
    });
    if (found.rows.length === 0) await server.query({ text: `create database ${name}` });
  });
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const ownerUrl = url.href;
  url.username = name;
  url.password = PASSWORD;
  return { ownerUrl, roleUrl: url.href };
}

/** Works on a database over one connection. */
export async function withPool<T>(url: string, work: (pool: Pool) => Promise<T>): Promise<T> {
  const pool = openPool(url, { max: 1, name: "pawl-demo" });
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}
