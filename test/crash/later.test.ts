// Runs that start later and runs that leave nothing behind, while schedulers are killed: before the time of a delayed run, and between the end
// of a temporary run and its deletion.
import { createPawlClient, type PawlClient, PawlError, runStatusName } from "@pawl/client";
import { openPool, type Pool } from "@pawl/platform/db/pool";
import { RunKind, RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { call, graph } from "../flow/graph.ts";
import { SINK_EGRESS, startSink, type Sink } from "../flow/sink.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { until } from "../support/until.ts";
import { failpoints, replaceScheduler } from "./processes.ts";

const GRACE = { PAWL_TEMPORARY_GRACE_MS: "1000", ...SINK_EGRESS };

let cluster: Cluster;
let client: PawlClient;
let pool: Pool;
let sink: Sink;

beforeAll(async () => {
  sink = await startSink();
  cluster = await startCluster({ env: SINK_EGRESS, envOf: { scheduler: GRACE } });
  client = createPawlClient({ baseUrl: cluster.url, attempts: 30 });
  pool = openPool(cluster.databaseUrl, { max: 2, name: "pawl-test" });
  await client.workflows.create(graph(["start > end"]), { workflowId: "short" });
  const below = { type: "subworkflow", config: { workflow_id: "short" } };
  const hooks = { webhooks: [{ url: sink.url("hold-ended"), events: ["run.completed"] }] };
  await client.workflows.create(
    {
      ...graph(["start > work > child > end"], { work: call(sink.url("hold-work")), child: below }),
      ...hooks,
    },
    { workflowId: "parent" },
  );
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  await pool.end();
  await cluster.stop();
  await sink.stop();
});

const refusalOf = async (asked: Promise<unknown>): Promise<string> => {
  const error: unknown = await asked.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof PawlError ? error.reason : String(error);
};

/** The tables that have a row of these runs. */
async function tablesWith(runIds: readonly string[]): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>({
    text: `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
      where a.attname = 'run_id' and c.relkind in ('r', 'p') and not c.relispartition
        and c.relnamespace = to_regnamespace('pawl') order by 1`,
  });
  const found: string[] = [];
  for (const { name } of rows) {
    const held = await pool.query({
      text: `select 1 from ${name} where run_id = any ($1) limit 1`,
      values: [runIds],
    });
    if (held.rows.length > 0) found.push(name);
  }
  return found;
}

/** What names these runs outside of the columns for it: jobs of pg-boss, and stored values that are not loose. */
async function othersWith(runIds: readonly string[]): Promise<string[]> {
  const { rows } = await pool.query<{ what: string }>({
    text: `select 'job ' || name as what from pgboss.job where data->>'r' = any ($1)
      union all select 'value ' || sha256 from pawl.stored_values where loose_at is null`,
    values: [runIds],
  });
  return rows.map(({ what }) => what);
}

test("a delayed run is listed, explained and watched before its time, and begins on time although its scheduler was killed (S4.4)", async () => {
  const startAt = new Date(Date.now() + 4_000);
  const asked = { startAt, deadlineMs: 60_000, requestId: "later-1" };
  const { run } = await client.runs.start("short", asked);
  expect(await client.runs.start("short", asked)).toMatchObject({ isDuplicate: true });
  expect(await refusalOf(client.runs.start("short", { requestId: "later-1" }))).toBe(
    "REQUEST_ID_REUSED",
  );
  await cluster.schedulers[0]?.kill("SIGKILL");
  await cluster.schedulers[0]?.exited();
  const known = (await client.runs.get(run.runId)).run;
  const when = `It starts at ${startAt.toISOString()}, as its caller asked.`;
  expect([runStatusName(known.status), known.waitingReason]).toEqual(["pending", when]);
  expect(Number(known.deadlineTime?.seconds)).toBe(Math.floor(startAt.getTime() / 1_000) + 60);
  const { runs } = await client.runs.list({ statuses: [RunStatus.PENDING] });
  expect(runs.map(({ startAt: at, runId }) => [runId, Number(at?.seconds)])).toEqual([
    [run.runId, Math.floor(startAt.getTime() / 1_000)],
  ]);
  const why = await client.runs.explain(run.runId, "start");
  expect(why.summary).toBe(`The run is pending. ${when}`);
  await replaceScheduler(cluster, GRACE);
  const times: number[] = [];
  for await (const { time } of client.watch(run.runId))
    times.push(Number(time?.seconds ?? 0n) * 1_000 + (time?.nanos ?? 0) / 1e6);
  const lateMs = (times[1] ?? 0) - startAt.getTime();
  expect(lateMs).toBeGreaterThanOrEqual(0);
  expect(lateMs).toBeLessThan(1_500);
  expect(await checkInvariants(cluster.databaseUrl, [run.runId])).toEqual([]);
});

test("a delayed run is cancelled before its time, and a delayed test run is deleted", async () => {
  await replaceScheduler(cluster, GRACE);
  const { run } = await client.runs.start("short", { afterMs: 3_600_000 });
  expect(runStatusName((await client.runs.cancel(run.runId)).status)).toBe("cancelled");
  const tested = await client.runs.test(graph(["start > end"]), { afterMs: 3_600_000 });
  expect(runStatusName(tested.run.status)).toBe("pending");
  await client.runs.delete(tested.run.runId);
  expect(await tablesWith([tested.run.runId])).toEqual([]);
  const { rows } = await pool.query({
    text: "select 1 from pgboss.job where state < 'active' and name like '%pending_run'",
  });
  expect(rows).toEqual([]);
  const far = { startAt: new Date(Date.now() + 400 * 86_400_000) };
  expect(await refusalOf(client.runs.start("short", far))).toBe("INPUT_INVALID");
});

test("a temporary run gives its output to every waiter and its webhook, and leaves no row behind although the scheduler was killed before the deletion (S4.9, X19, F1)", async () => {
  const doomed = await replaceScheduler(cluster, {
    ...GRACE,
    ...failpoints("temporary.before-delete@1=kill"),
  });
  const waited = client.run("parent", { n: 1 }, { temporary: true, requestId: "temporary-1" });
  // The output of the call is a stored value.
  (await sink.received("hold-work")).answer(200, { text: "x".repeat(400_000) });
  const output: unknown = await waited;
  expect(output).toBeDefined();
  const { runs } = await client.runs.list({ kind: RunKind.TEMPORARY });
  expect(runs).toHaveLength(2);
  const root = runs.find(({ workflowId }) => workflowId === "parent");
  const rootId = root?.runId ?? "";
  expect((await client.runs.wait(rootId)).outputJson.length).toBeGreaterThan(0);
  expect(await refusalOf(client.runs.repair(rootId))).toBe("RUN_NOT_REPAIRABLE");
  expect(
    await checkInvariants(
      cluster.databaseUrl,
      runs.map(({ runId }) => runId),
    ),
  ).toEqual([]);
  (await sink.received("hold-ended")).answer(200, {});
  expect(await doomed.exited()).toBe("SIGKILL");
  const runIds = runs.map(({ runId }) => runId);
  expect(await tablesWith(runIds)).toContain("run_events");
  const stored = await pool.query({ text: "select 1 from stored_values" });
  expect(stored.rows).not.toEqual([]);
  await replaceScheduler(cluster, GRACE);
  await until(async () => (await tablesWith(runIds)).length === 0, { what: "every row to go" });
  expect(await othersWith(runIds)).toEqual([]);
  expect(await refusalOf(client.runs.get(rootId))).toBe("RUN_NOT_FOUND");
  const another = { temporary: true, requestId: "temporary-1" };
  const { run: again, isDuplicate } = await client.runs.start("short", another);
  expect([isDuplicate, again.kind]).toEqual([false, RunKind.TEMPORARY]);
  await client.runs.delete(again.runId);
  expect(await refusalOf(client.runs.get(again.runId))).toBe("RUN_NOT_FOUND");
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
});
