// What filters find, said by hand: the property of filter-sql.test.ts only compares PostgreSQL with the evaluator.
import { matches } from "@pawl/core/filter/evaluate";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freshDatabase } from "../../../../../test/support/postgres.ts";
import { openPool, type Pool } from "../../db/pool.ts";
import {
  EPOCH,
  filterable,
  idOf,
  insertRuns,
  type MadeRun,
  TENANT,
  typedOf,
} from "./filter.fixture.ts";
import { listRuns } from "./reads.ts";

let pool: Pool;
let close: () => Promise<void>;

beforeAll(async () => {
  const database = await freshDatabase();
  pool = openPool(database.url, { max: 2, name: "filters" });
  close = async () => {
    await pool.end();
    await database.drop();
  };
});
afterAll(() => close());

/** The numbers of the runs that a filter finds, from 0. */
async function found(text: string): Promise<number[]> {
  const condition = { text, typed: typedOf(text) };
  const asked = { statuses: [], workflowId: "", kind: undefined, condition };
  const { rows } = await listRuns(pool, TENANT, asked, { size: 50, token: "" });
  return rows.map(({ runId }) => Number(runId.slice(-12))).toSorted((a, b) => a - b);
}

const MADE: MadeRun = {
  ...{ status: "completed", stop: null, workflow: null, version: 1, kind: "saved", schedule: null },
  ...{ thread: null, priority: 0, has_failures: false, error: null, failure_class: null },
  ...{ create_time: EPOCH, took: 0, metadata: null, input: {} },
};

test("a number in a path is a key of an object or a place in a list (S4.23)", async () => {
  const list = { items: [7, { sku: "a" }, ["x", "y"]] };
  const keyed = { items: { "0": 7, "1": { sku: "a" } } };
  const runs = [
    { ...MADE, input: list },
    { ...MADE, metadata: list },
    { ...MADE, input: keyed },
  ];
  await insertRuns(pool, runs);
  for (const [text, expected] of [
    ["input.items.0 = 7", [0, 2]],
    ['input.items."-3" = 7', [0]],
    ['input.items.0 = "7"', []],
    ['input.items.1.sku = "a"', [0, 2]],
    ["input.items.2:y", [0]],
    ["input.items.2:z", []],
    ["input.items.0:7", [0, 2]],
    ["input.items.0 != 7", [1]],
    ["metadata.items.0 = 7", [1]],
    ["metadata.items.1.sku = a", [1]],
    ["metadata.items.2.1 = y", [1]],
  ] as const) {
    expect(await found(text), text).toEqual(expected);
    const evaluated = runs.flatMap((run, at) =>
      matches(typedOf(text), filterable(run)) ? [at] : [],
    );
    expect(evaluated, text).toEqual(expected);
  }
});

test("a number that no double holds does not break the filters of other runs", async () => {
  await insertRuns(pool, [
    { ...MADE, input: { x: 0.5 }, metadata: { x: 0.5 } },
    { ...MADE, input: { x: 7 }, metadata: { x: 7 } },
    MADE,
    MADE,
  ]);
  const small = '{"x": 1e-400}';
  await pool.query({
    text: "update run_events set value = $2 where run_id = $1",
    values: [idOf(2), small],
  });
  await pool.query({
    text: "insert into run_metadata (run_id, metadata) values ($1, $2)",
    values: [idOf(2), small],
  });
  // PostgreSQL has no such number. The input has no value for a filter.
  await pool.query({
    text: "update run_events set value = $2 where run_id = $1",
    values: [idOf(3), '{"x": 1e-20000}'],
  });
  for (const field of ["input", "metadata"]) {
    expect(await found(`${field}.x < 1`)).toEqual([0, 2]);
    expect(await found(`${field}.x >= 0.5`)).toEqual([0, 1]);
  }
});

test("an interrupted run, a run that was rolled back and a cancelled run have filters of their own (S4.14)", async () => {
  const cancelled = { ...MADE, status: "cancelled" };
  await insertRuns(pool, [
    cancelled,
    { ...cancelled, stop: "interrupt" },
    { ...cancelled, stop: "rollback" },
  ]);
  expect(await found("status = cancelled")).toEqual([0, 1, 2]);
  expect(await found("status = interrupted")).toEqual([1]);
  expect(await found("status = rollback")).toEqual([2]);
  expect(await found("status = cancelled AND NOT stop:*")).toEqual([0]);
  expect(await found("status != Interrupted")).toEqual([0, 2]);
  expect(await found("stop = interrupt")).toEqual([1]);
});
