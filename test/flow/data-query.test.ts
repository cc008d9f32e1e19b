// Queries to databases of the user through the public API of a real trio: rows that feed scripts, statements that end with their run.
import { createPawlClient, type PawlClient } from "@pawl/client";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { type FreshDatabase, freshDatabase } from "../support/postgres.ts";
import { until } from "../support/until.ts";
import { graph, script, type NodeText } from "./graph.ts";
import { runGraph } from "./story.ts";

let shop: FreshDatabase;
let db: Client;
let cluster: Cluster;
let client: PawlClient;

beforeAll(async () => {
  shop = await freshDatabase();
  db = new Client({ connectionString: shop.url });
  await db.connect();
  await db.query("create table orders (id int primary key, city text, cents int8 not null)");
  await db.query("insert into orders values (1,'Bern',250),(2,'Bonn',300),(3,'Bern',175)");
  const sources = {
    shop: { url: shop.url, max_rows: 2 },
    away: { url: "postgres://nobody:hush-hush@127.0.0.1:1/none" },
  };
  const env = { PAWL_DATA_SOURCES: JSON.stringify(sources) };
  cluster = await startCluster({ envOf: { executor: env } });
  client = createPawlClient({ baseUrl: cluster.url });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  await cluster.stop();
  await db.end();
  await shop.drop();
});

const query = (sql: string, more: NodeText = {}, config: object = {}): NodeText => ({
  type: "dataQuery",
  config: { source: "shop", sql, ...config },
  ...more,
});

test("the rows of a query feed a script (S3.27)", async () => {
  const sql = "select id, cents from orders where city = $1 order by id";
  const parameters = ["{{ ctx.input.city }}"];
  const story = await runGraph(
    client,
    graph(["start > find > sum > end"], {
      find: query(sql, { output_variable: "found" }, { parameters }),
      sum: script("return ctx.found.rows.reduce((sum, row) => sum + row.cents, 0)"),
    }),
    { city: "Bern" },
  );
  expect(story.status).toBe("completed");
  expect(story.outputOf("find")).toEqual({
    rows: [
      { id: 1, cents: 250 },
      { id: 3, cents: 175 },
    ],
    row_count: 2,
    truncated: false,
    fields: ["id", "cents"],
  });
  expect(story.output).toBe(425);
});

test("a query that is wrong, writes, or names an unknown source fails with its cause and is not tried again (S1.29, S3.27)", async () => {
  const retry = { attempts: 3, backoff_ms: 5 };
  const story = await runGraph(
    client,
    graph(["start > typo", "start > writes", "start > nobody", "start > more"], {
      typo: query("selekt 1", { retry }),
      writes: query("delete from orders", { retry }),
      nobody: query("select 1", { retry, error_handling: "fail_node" }, { source: "elsewhere" }),
      more: query("select * from orders"),
    }),
  );
  const failures = Object.fromEntries(
    story.of("node.failed").map(({ nodeId, payload }) => [nodeId, payload]),
  );
  expect(failures).toMatchObject({
    typo: { cause: "query_error", details: { sqlstate: "42601" } },
    writes: { cause: "query_error", details: { sqlstate: "25006" } },
    nobody: { cause: "unknown_data_source" },
  });
  expect(story.of("node.retried")).toEqual([]);
  expect(story.outputOf("more")).toMatchObject({ row_count: 2, truncated: true });
  expect((await db.query("select count(*)::int as n from orders")).rows).toEqual([{ n: 3 }]);
});

test("a source that is away is tried again by the policy, and its password is nowhere (S1.29)", async () => {
  const retry = { attempts: 2, backoff_ms: 5, jitter: false };
  const story = await runGraph(
    client,
    graph(["start > away"], { away: query("select 1", { retry }, { source: "away" }) }),
  );
  expect(story.of("node.retried", "away")).toHaveLength(1);
  expect(story.of("node.failed", "away")[0]?.payload).toMatchObject({ cause: "provider_error" });
  expect(JSON.stringify(story.events) + cluster.logs()).not.toContain("hush-hush");
});

test("cancelling the run cancels its statement on the server (S1.38)", async () => {
  const running = async (): Promise<boolean> => {
    const text =
      "select 1 from pg_stat_activity where query like '%pg_sleep(61)%' and state = 'active' and pid <> pg_backend_pid()";
    return (await db.query(text)).rowCount === 1;
  };
  const { run } = await client.runs.test(
    graph(["start > sleep"], { sleep: query("select pg_sleep(61)", {}, { timeout_ms: 60_000 }) }),
  );
  await until(running, { what: "the statement to run" });
  await client.runs.cancel(run.runId);
  await until(async () => !(await running()), { what: "the statement to end" });
});

test("the logs of runs with queries hold as any other (S3.2)", async () => {
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
});
