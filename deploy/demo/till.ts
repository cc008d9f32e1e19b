// The outside world of `npm run demo`: a till that charges cards. A charge made twice would be two rows.
import { makeDatabase, withPool } from "./make-database.ts";

/** A database that charges are written to. */
export type Till = {
  /** For the executor. */
  readonly url: string;
  /** How often an order was charged. */
  chargesOf(order: string): Promise<number>;
};

/** Makes what is missing of the till. Its role may make tables: the executor keeps the record of its effects beside them. */
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
