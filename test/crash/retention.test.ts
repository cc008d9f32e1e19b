// A scheduler dies in the middle of retention: before and after it removes runs, and behind a month. The next one finishes. A client that
// reads a run meanwhile sees it whole, or RUN_NOT_FOUND.
import { createPawlClient, type PawlClient, PawlError } from "@pawl/client";
import { ensurePartitions } from "@pawl/platform/db/partitions";
import { openPool, type Pool } from "@pawl/platform/db/pool";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { graph } from "../flow/graph.ts";
import { storyOf } from "../flow/story.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { writeOldRuns } from "../support/old-runs.ts";
import { until } from "../support/until.ts";
import { failpoints, replaceScheduler } from "./processes.ts";

const JUNE = new Date("2026-06-10T00:00:00Z");
const MONTH = "run_events_2026_06";

let cluster: Cluster;
let client: PawlClient;
let pool: Pool;

beforeAll(async () => {
  cluster = await startCluster();
  client = createPawlClient({ baseUrl: cluster.url, attempts: 30 });
  pool = openPool(cluster.databaseUrl, { max: 2, name: "pawl-test" });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  await pool.end();
  await cluster.stop();
});

/** Rare enough that a scheduler says that it is ready before it reaches a failpoint. */
const retention = (policy: string) => ({ PAWL_RETENTION: policy, PAWL_RETENTION_MS: "1000" });

async function hasMonth(): Promise<boolean> {
  const { rows } = await pool.query({ text: "select to_regclass($1) as found", values: [MONTH] });
  return (rows[0] as { found: unknown }).found !== null;
}

async function countOld(): Promise<number> {
  const { rows } = await pool.query<{ count: number }>({
    text: "select count(*)::integer as count from runs where workflow_id = 'old'",
  });
  return rows[0]?.count ?? 0;
}

test("a scheduler killed before and after it removes runs or a month leaves the rest to the next; a removed run is not found, and its request id starts again (S4.1, X19)", async () => {
  await client.workflows.create(graph(["start > a > end"]), { workflowId: "short" });
  await client.workflows.create(graph(["start > a > end"]), { workflowId: "long" });
  const start = async (workflowId: string, requestId: string): Promise<string> => {
    const { run } = await client.runs.start(workflowId, { requestId });
    await client.runs.wait(run.runId);
    return run.runId;
  };
  const [short, long] = [await start("short", "one"), await start("long", "two")];
  await ensurePartitions(pool, { from: JUNE, months: 1 });
  await writeOldRuns(pool, { at: JUNE, count: 250 });
  await cluster.schedulers[0]?.kill("SIGKILL");
  const policy = retention("old/all=60d");
  const left: number[] = [];
  for (const point of [
    "retention.before-remove",
    "retention.after-remove",
    "retention.after-month",
  ]) {
    const doomed = await replaceScheduler(cluster, { ...policy, ...failpoints(`${point}@1=kill`) });
    expect(await doomed.exited(), point).toBe("SIGKILL");
    left.push(await countOld());
  }
  expect(left).toEqual([250, 50, 0]);
  const last = await replaceScheduler(cluster, retention("all=60d,short/all=1s"));
  await until(async () => !(await hasMonth()), { what: "the month to go" });
  await until(
    () =>
      client.runs.get(short).then(
        () => false,
        (error: unknown) => error instanceof PawlError && error.reason === "RUN_NOT_FOUND",
      ),
    { what: "the short run to go" },
  );
  const { run } = await client.runs.get(long);
  expect(run.runId).toBe(long);
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
  expect(last.logs()).toContain("retention removed finished runs");
  expect(await start("short", "one")).not.toBe(short);
  expect(await start("long", "two")).toBe(long);
});

test("a run whose deltas lost their text is read whole, from the beginning and from any event, without a gap (X20)", async () => {
  await replaceScheduler(cluster, retention("deltas=1s"));
  const talk = { type: "llm", config: { model: "offline/lorem?tokens=60&chunk=1", prompt: "x" } };
  const { run } = await client.runs.test(graph(["start > talk > end"], { talk }));
  const textsAfter = async (afterEventId: bigint): Promise<string[]> => {
    const texts: string[] = [];
    let last = afterEventId;
    for await (const event of client.watch(run.runId, { afterEventId })) {
      expect(event.eventId).toBe(last + 1n);
      last = event.eventId;
      if (event.fact.case === "nodeStreamDelta") texts.push(event.fact.value.text);
    }
    expect(last).toBe((await client.runs.get(run.runId)).run.lastEventId);
    return texts;
  };
  const before = await textsAfter(0n);
  expect(before.join("")).not.toBe("");
  await until(async () => (await textsAfter(0n)).join("") === "", {
    what: "the deltas to be empty",
  });
  expect(await textsAfter(0n)).toHaveLength(before.length);
  for (const afterEventId of [1n, 4n, 6n]) await textsAfter(afterEventId);
  const talked = (await storyOf(client, run.runId)).outputOf("talk");
  expect(JSON.stringify(talked)).toContain(before.join("").slice(0, 20));
});
