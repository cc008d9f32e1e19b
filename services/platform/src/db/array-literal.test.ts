import { array, assert, asyncProperty, oneof, constant, string } from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { freshDatabase } from "../../../../test/support/postgres.ts";
import { arrayLiteral } from "./array-literal.ts";
import { openPool } from "./pool.ts";

async function setup() {
  const database = await freshDatabase();
  const pool = openPool(database.url, { max: 1, name: "test" });
  onTestFinished(async () => {
    await pool.end();
    await database.drop();
  });
  return async (cast: string, items: Parameters<typeof arrayLiteral>[0]): Promise<unknown> => {
    const text = `select $1::${cast}[] as items`;
    const { rows } = await pool.query<{ items: unknown }>({ text, values: [arrayLiteral(items)] });
    return rows[0]?.items;
  };
}

test("PostgreSQL gives every text of an array back unchanged", async () => {
  const echo = await setup();
  // A NUL cannot be in a text of Postgres; the door refuses it.
  const text = string({ unit: "grapheme" }).filter((one) => !one.includes("\0"));
  const tricky = constant('{"a":"\\"b\\\\c","d":null},NULL,{}');
  await assert(
    asyncProperty(array(oneof(text, tricky, constant(null), constant("NULL"))), async (items) => {
      expect(await echo("text", items)).toEqual(items);
    }),
    { numRuns: 60, seed: 1 },
  );
});

test("numbers, booleans and nulls keep their type", async () => {
  const echo = await setup();
  expect(await echo("integer", [1, -2, null])).toEqual([1, -2, null]);
  expect(await echo("boolean", [true, false, null])).toEqual([true, false, null]);
  expect(await echo("double precision", [1.5, 1e21])).toEqual([1.5, 1e21]);
  expect(await echo("text", [])).toEqual([]);
});
