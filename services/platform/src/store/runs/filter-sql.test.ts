import { matches } from "@pawl/core/filter/evaluate";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freshDatabase } from "../../../../../test/support/postgres.ts";
import { openPool, type Pool } from "../../db/pool.ts";
import { EPOCH, filterable, idOf, insertRuns, TENANT, typedOf } from "./filter.fixture.ts";
import { filterSql } from "./filter-sql.ts";
import { listRuns, PLAN_OF_FILTER } from "./reads.ts";

const STATUSES = ["pending", "running", "waiting", "completed", "failed", "cancelled", "timeout"];

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

const SCALARS = fc.constantFrom<unknown[]>(
  "gold",
  "go%d_",
  "7",
  "",
  7,
  -0.5,
  1e3,
  true,
  false,
  null,
);
const JSON_VALUES = fc.oneof(
  SCALARS,
  fc.array(SCALARS, { maxLength: 2 }),
  fc.dictionary(
    fc.constantFrom("a", "b", "0"),
    fc.oneof(SCALARS, fc.array(SCALARS, { maxLength: 2 })),
    { maxKeys: 2 },
  ),
);
const OBJECTS = fc.dictionary(fc.constantFrom("a", "b", "tier"), JSON_VALUES, { maxKeys: 3 });

const RUNS = fc.record({
  status: fc.constantFrom(...STATUSES),
  stop: fc.option(fc.constantFrom("interrupt", "rollback")),
  workflow: fc.option(fc.constantFrom("refund", "re_und", "Refund-2")),
  version: fc.integer({ min: 0, max: 3 }),
  kind: fc.constantFrom("saved", "test"),
  schedule: fc.option(fc.constant("nightly")),
  thread: fc.option(fc.constantFrom("talk-1", "talk-2")),
  priority: fc.integer({ min: -2, max: 2 }),
  has_failures: fc.boolean(),
  error: fc.option(fc.constantFrom("Timeout after 5 s", "timeout", "50% lost")),
  failure_class: fc.option(fc.constantFrom("user_timeout", "permanent")),
  create_time: fc.integer({ min: 0, max: 5 }).map((days) => EPOCH + days * 86_400_000),
  took: fc.integer({ min: 0, max: 3 }).map((hours) => hours * 3_600_000),
  metadata: fc.option(OBJECTS),
  input: fc.oneof(OBJECTS, SCALARS, fc.constant({ a: "x\u0000y" })),
});
const COMPARISONS = [
  ...STATUSES.map((status) => `status = ${status}`),
  ...[
    "status != running",
    "status: success",
    "workflow = refund",
    "workflow = re*",
    "workflow != *2",
  ],
  ...[
    "workflow = *e_un*",
    "workflow:REF",
    "workflow:*",
    "version >= 2",
    "kind = test",
    "schedule = nightly",
    "thread = talk-1",
    "stop:*",
    "status = interrupted",
    "status != rollback",
  ],
  ...[
    "priority < 0",
    "has_failures = true",
    "has_failures = true AND status = running",
    "is_live = false",
  ],
  ...[
    'error:"TIMEOUT"',
    'error = "timeout*"',
    'error = "50%*"',
    "error:*",
    "failure_class = user_timeout",
    "failure_class != permanent",
    "failure_class:*",

    "create_time >= 2026-11-03",
  ],
  ...[
    "create_time = 2026-11-02T00:00:00Z",
    "end_time < 2026-11-04T01:00:00Z",
    "duration >= 2h",
    "duration < 1h",
  ],
  ...[
    "metadata.a = gold",
    'metadata.a = "7"',
    "metadata.a = 7",
    "metadata.a.b = true",
    "metadata.a = null",
  ],
  ...[
    "metadata.a: gold",
    "metadata.a:7",
    "metadata.tier:*",
    "metadata:b",
    "metadata.a = g*",
    "metadata.b > 0",
  ],
  ...[
    "metadata.a.0 = gold",
    "metadata.a.0:*",
    'metadata.a."-1" = 7',
    "metadata.a.b.0:gold",
    "metadata.a.0 > 1",
    'metadata.tier = "go%*"',
    "metadata.a.b:gold",
  ],
  ...[
    "input.a = 7",
    "input.a.b:gold",
    "input:a",
    "input.b <= 7",
    'input.a = ""',
    "input.tier != 7",
  ],
];

const FILTERS = fc.letrec<{ filter: string }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    fc.constantFrom(...COMPARISONS).map((text) => `(${text})`),
    fc
      .tuple(tie("filter"), fc.constantFrom("AND", "OR"), tie("filter"))
      .map((parts) => `(${parts.join(" ")})`),
    tie("filter").map((text) => `NOT ${text.startsWith("NOT") ? `(${text})` : text}`),
  ),
})).filter;

test("PostgreSQL finds the same runs by a filter as the filter itself, for any runs (S4.23)", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(RUNS, { minLength: 6, maxLength: 12 }),
      fc.array(FILTERS, { minLength: 8, maxLength: 8 }),
      async (runs, texts) => {
        await insertRuns(pool, runs);
        for (const text of [...texts, ...COMPARISONS]) {
          const typed = typedOf(text);
          const page = await listRuns(
            pool,
            TENANT,
            { statuses: [], workflowId: "", kind: undefined, condition: { text, typed } },
            { size: 50, token: "" },
          );
          const expected = runs.flatMap((run, at) =>
            matches(typed, filterable(run)) ? [idOf(at)] : [],
          );
          expect(
            page.rows.map((row) => row.runId),
            text,
          ).toEqual(expected.toReversed());
        }
      },
    ),
    { numRuns: 6, seed: 76 },
  );
});

test("no text of a filter becomes a part of the statement", () => {
  const hostile = `'); drop table runs; --`;
  const { sql, values } = filterSql(
    typedOf(`metadata.a = "${hostile}" OR error = "*${hostile}"`),
    3,
  );
  expect(sql).toBe("(m.metadata @> $4::jsonb or r.error_message like $5::text)");
  expect(values).toEqual([JSON.stringify({ a: hostile }), `%${hostile}`]);
});

/** The plan of a page by a filter, as one text. */
async function planOf(text: string): Promise<string> {
  const { sql, values } = filterSql(typedOf(text), 0);
  const { rows } = await pool.transaction(async (db) => {
    await db.query({ text: PLAN_OF_FILTER });
    return await db.query<Record<string, string>>({
      text: `explain select r.run_id from runs r left join run_metadata m on m.run_id = r.run_id
        where r.tenant_id = 't' and ${sql} order by r.run_id desc limit 51`,
      values: [...values],
    });
  });
  return rows.map((row) => row["QUERY PLAN"]).join("\n");
}

test("metadata, threads and classes of failures are found by their index, and runs that fail while they run among the live ones (S4.13, S4.23)", async () => {
  await pool.query({ text: "truncate runs, run_metadata, run_events" });
  await pool.query({
    text: `insert into runs (run_id, tenant_id, definition_id, workflow_id, workflow_version, kind, status, version, last_seq, has_failures,
      deadline_at, ended_at, failure_class, thread_id)
      select gen_random_uuid(), 't', gen_random_uuid(), 'w', 1, 'saved', case when n % 500 = 0 then 'running' else 'completed' end, 1, 1,
        n % 2 = 0, now(), case when n % 500 = 0 then null else now() end,
        case when n % 50 = 1 then 'permanent' when n % 500 = 2 then 'user_timeout' end,
        case when n % 3 = 0 then 'talk-' || n / 30 end
      from generate_series(1, 5000) n`,
  });
  await pool.query({
    text: `insert into run_metadata select run_id, jsonb_build_object('order', row_number() over ()) from runs`,
  });
  await pool.query({ text: "vacuum analyze runs, run_metadata" });
  expect(await planOf("metadata.order = 77")).toContain("run_metadata_values");
  expect(await planOf("has_failures = true AND status = running")).toContain("runs_deadline");
  expect(await planOf('failure_class = "user_timeout"')).toContain("runs_failed");
  expect(await planOf("thread = talk-7")).toContain("runs_of_thread");
  expect(await planOf("status = running")).not.toContain("run_metadata");
});
