import type { AskedQuery, QueryAnswer, QueryFailure } from "@pawl/platform/db/query-source";
import { expect, test } from "vitest";
import { parseConfig } from "../config.ts";
import { dataQueryHandler } from "./data-query.ts";
import { probeHandler } from "./handler-probe.fixture.ts";

const EMPTY: QueryAnswer = {
  ok: true,
  fields: [],
  rows: [],
  rowCount: 0,
  truncated: false,
  isTooLarge: false,
};

function setup(answer: QueryAnswer | QueryFailure) {
  const asked: AskedQuery[] = [];
  const run = async (query: AskedQuery) => {
    asked.push(query);
    return answer;
  };
  const handler = dataQueryHandler({
    find: (name) =>
      name === "orders"
        ? { run, mode: "read_only" as const, maxRows: 50, timeoutMs: 2_000 }
        : undefined,
    end: async () => undefined,
  });
  const ask = (config: object = {}) =>
    probeHandler(handler, { source: "orders", sql: "select 1", ...config });
  return { asked, ask };
}

test("rows are objects, with their count, whether there were more, and the columns (S3.27)", async () => {
  const rows = [
    [1, "a"],
    [2, null],
  ];
  const { ask } = setup({ ...EMPTY, fields: ["id", "name"], rows, rowCount: 2, truncated: true });
  expect((await ask()).result).toEqual({
    output: {
      rows: [
        { id: 1, name: "a" },
        { id: 2, name: null },
      ],
      row_count: 2,
      truncated: true,
      fields: ["id", "name"],
    },
  });
});

test("the source's limits are the most a node gets (S3.27)", async () => {
  const { ask, asked } = setup(EMPTY);
  await ask({ parameters: [1, { a: 2 }] });
  await ask({ max_rows: 5, timeout_ms: 100 });
  await ask({ max_rows: 5_000, timeout_ms: 3_600_000 });
  expect(asked).toMatchObject([
    { sql: "select 1", parameters: [1, { a: 2 }], maxRows: 50, timeoutMs: 2_000 },
    { parameters: [], maxRows: 5, timeoutMs: 100 },
    { maxRows: 50, timeoutMs: 60_000 },
  ]);
});

test.each([
  ["refused", "query_error", true],
  ["timeout", "query_timeout", false],
  ["transient", "provider_error", false],
  ["unavailable", "provider_error", false],
  ["cancelled", "cancelled", false],
] as const)("a query that ends %s is %s (S1.29)", async (kind, cause, permanent) => {
  const { ask } = setup({ ok: false, kind, message: "why", sqlState: "12345" });
  const { result } = await ask();
  expect(result).toMatchObject({ failed: { cause, permanent, message: "why" } });
  if (kind === "refused")
    expect(result).toMatchObject({ failed: { details: { sqlstate: "12345" } } });
});

test("an unknown source, rows that weigh too much and columns of one name are refused for good", async () => {
  const cause = async (answer: QueryAnswer, config = {}) =>
    (await setup(answer).ask(config)).result;
  const permanent = true;
  expect(await cause(EMPTY, { source: "x" })).toMatchObject({
    failed: { cause: "unknown_data_source", permanent },
  });
  expect(await cause({ ...EMPTY, isTooLarge: true })).toMatchObject({
    failed: { cause: "output_too_large", permanent },
  });
  expect(await cause({ ...EMPTY, fields: ["id", "x", "id"] })).toMatchObject({
    failed: { cause: "query_error", permanent },
  });
});

test("every fault of the sources is reported at once, without any password", () => {
  const wrong = { a: { url: "mysql://u:pass-word@h/x" }, b: { mode: "write" }, "c d": {}, e: 5 };
  let message = "";
  try {
    parseConfig({ PAWL_DATA_SOURCES: JSON.stringify(wrong) });
  } catch (error) {
    message = error instanceof Error ? error.message : "";
  }
  for (const place of ["a.url", "b.url", "b.mode", "c d", "e:"]) expect(message).toContain(place);
  expect(message).not.toContain("pass-word");
  const right = { a: { url: "postgres://u:pass-word@h/x" } };
  const config = parseConfig({ PAWL_DATA_SOURCES: JSON.stringify(right) });
  expect(JSON.stringify(config)).not.toContain("pass-word");
  expect(config.PAWL_DATA_SOURCES["a"]).toMatchObject({
    mode: "read_only",
    max_rows: 1_000,
    timeout_ms: 10_000,
    pool_size: 4,
  });
});
