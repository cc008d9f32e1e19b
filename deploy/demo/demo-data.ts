// The database that the example nightly-report asks: a small one of its own in the embedded server, read by a role that may do
// nothing else there. The engine's database and its credentials stay out of the executor's reach (decision 14).
import type { Pool } from "@pawl/platform/db/pool";
import { makeDatabase, withPool } from "./make-database.ts";

const FIRST_DAY = "2026-01-01";
const DAYS = 31;
const SHOPS = ["Aarhus", "Bergen", "Cork", "Delft", "Evora", "Fulda"];

/** Makes what is missing of the database `name`; returns the address its readers use. Starts that repeat it change nothing. */
export async function prepareDemoData(serverUrl: string, name = "pawl_demo"): Promise<string> {
  const { ownerUrl, roleUrl } = await makeDatabase(serverUrl, name);
  await withPool(ownerUrl, (demo) => fill(demo, name));
  return roleUrl;
}

/** One row a shop and day, the same on every machine. */
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
