// The databases of the examples in the embedded server, and the variables by which an executor reaches them. Each database has its own
// role, so the executor never has the credentials of the engine's database (decision 14).
import { openPool, type Pool } from "@pawl/platform/db/pool";
import { fileURLToPath } from "node:url";

const PASSWORD = "demo";

/** Addresses of a database: for the owner of the server, and for its own role. */
type MadeDatabase = { readonly ownerUrl: string; readonly roleUrl: string };

/** Makes the role and the database, if they are missing. These statements take no parameters, so `name` must be a plain word. */
async function makeDatabase(serverUrl: string, name: string): Promise<MadeDatabase> {
  await withPool(serverUrl, async (server) => {
    const isMissing = async (text: string): Promise<boolean> =>
      (await server.query({ text, values: [name] })).rows.length === 0;
    const role = `login password '${PASSWORD}' connection limit 20`;
    if (await isMissing("select 1 from pg_roles where rolname = $1"))
      await server.query({ text: `create role ${name} ${role}` });
    if (await isMissing("select 1 from pg_database where datname = $1"))
      await server.query({ text: `create database ${name}` });
  });
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const ownerUrl = url.href;
  url.username = name;
  url.password = PASSWORD;
  return { ownerUrl, roleUrl: url.href };
}

async function withPool<T>(url: string, work: (pool: Pool) => Promise<T>): Promise<T> {
  const pool = openPool(url, { max: 1, name: "pawl-demo" });
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}

const FIRST_DAY = "2026-01-01";
const DAYS = 31;
const SHOPS = ["Aarhus", "Bergen", "Cork", "Delft", "Evora", "Fulda"];

/** Makes the database that the example nightly-report reads. Returns its address for readers. A repeat changes nothing. */
export async function prepareDemoData(serverUrl: string, name = "pawl_demo"): Promise<string> {
  const { ownerUrl, roleUrl } = await makeDatabase(serverUrl, name);
  await withPool(ownerUrl, (demo) => fill(demo, name));
  return roleUrl;
}

/** One row for each shop and day, the same on every machine. */
async function fill(demo: Pool, reader: string): Promise<void> {
  await demo.query({
    text: `create table if not exists public.sales (
      sold_on date not null, shop text not null, units int not null, unit_cents int not null,
      primary key (sold_on, shop))`,
  });
  await demo.query({
    text: `insert into public.sales
      select $1::date + day, shop, 5 + (day * 7 + at::int * 13) % 40, 450 + at::int * 75
      from generate_series(0, $2::int - 1) as days (day),
        unnest($3::text[]) with ordinality as shops (shop, at)
      on conflict do nothing`,
    values: [FIRST_DAY, DAYS, SHOPS],
  });
  await demo.query({ text: `grant select on public.sales to ${reader}` });
}

/** The outside world of `npm run demo`: a till that charges cards. A second charge would be a second row. */
export type Till = {
  /** The address for the executor. */
  readonly url: string;
  chargesOf(order: string): Promise<number>;
};

/** Makes the till. Its role may make tables, because the executor also stores the record of its effects there. */
export async function prepareTill(serverUrl: string, name = "pawl_till"): Promise<Till> {
  const { ownerUrl, roleUrl } = await makeDatabase(serverUrl, name);
  await withPool(ownerUrl, async (till) => {
    await till.query({ text: `grant create on database ${name} to ${name}` });
    await till.query({
      text: "create table if not exists public.charges (order_id text not null, at timestamptz not null default now())",
    });
    await till.query({ text: `grant insert on public.charges to ${name}` });
  });
  return {
    url: roleUrl,
    chargesOf: (order) =>
      withPool(ownerUrl, async (till) => {
        const { rows } = await till.query({
          text: "select 1 from public.charges where order_id = $1",
          values: [order],
        });
        return rows.length;
      }),
  };
}

type Env = Readonly<Record<string, string>>;

/** The moderation rules of the examples content-pipeline and document-approval. */
const DEMO_RULES = fileURLToPath(new URL("moderation-rules.yaml", import.meta.url));

/** Variables for an executor. Those that a person set take precedence. */
export const demoEnv = (set: Env): Env => ({
  ...("PAWL_MODERATION_URL" in set ? {} : { PAWL_MODERATION_RULES: DEMO_RULES }),
  ...set,
});

/** The databases that an executor may use, by name: `demo` for reads, `till` for writes. */
export function dataSources(urls: { readonly demo: string; readonly till?: string }): Env {
  const { demo, till } = urls;
  const sources = {
    demo: { url: demo, mode: "read_only" },
    ...(till === undefined ? {} : { till: { url: till, mode: "read_write" } }),
  };
  return { PAWL_DATA_SOURCES: JSON.stringify(sources) };
}
