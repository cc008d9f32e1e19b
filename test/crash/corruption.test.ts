// Rows that vanish under a running cluster: a log with a hole sets its run aside, a job that is gone is sent again, and whoever has
// nothing to do with it hears nothing of it.
import { createPawlClient, type PawlClient } from "@pawl/client";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { graph } from "../flow/graph.ts";
import { firstEvent, storyOf } from "../flow/story.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { until } from "../support/until.ts";

let cluster: Cluster;
let client: PawlClient;
let db: Client;

beforeAll(async () => {
  cluster = await startCluster();
  client = createPawlClient({ baseUrl: cluster.url, attempts: 30 });
  db = new Client({ connectionString: cluster.databaseUrl });
  await db.connect();
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  await db.end();
  await cluster.stop();
});

/** A run that waits for a delay of a second, and then has a node to run. */
async function startWaiting(delayMs: number): Promise<string> {
  const pause = { type: "delay", config: { delay_ms: delayMs } };
  const { run } = await client.runs.test(graph(["start > pause > after > end"], { pause }));
  await firstEvent(
    client,
    run.runId,
    (event) => event.type === "node.queued" && event.nodeId === "after",
  );
  return run.runId;
}

test("a hole in a live log sets its run aside after a restart, others complete, and the repaired log goes on (S0.37)", async () => {
  const [ill, well] = await Promise.all([startWaiting(2_000), startWaiting(2_000)]);
  const { rows } = await db.query(
    "delete from pawl.run_events where run_id = $1 and seq = 4 returning *",
    [ill],
  );
  await cluster.schedulers[0]?.kill("SIGKILL");
  await cluster.schedulers[0]?.restart();
  expect((await storyOf(client, well)).status).toBe("completed");
  const quarantine = await until(async () => (await client.runs.get(ill)).run.quarantine, {
    what: "the quarantine",
  });
  expect(quarantine).toMatchObject({ reason: "EVENT_LOG_CORRUPTION" });
  await expect(client.runs.cancel(ill)).rejects.toMatchObject({
    reason: "RUN_QUARANTINED",
    message: expect.stringContaining(`run recheck ${ill}`),
  });
  await expect(client.runs.recheck(ill)).rejects.toMatchObject({ reason: "EVENT_LOG_CORRUPTION" });
  const { runs } = await client.runs.list();
  expect(runs.find((run) => run.runId === ill)?.quarantine?.detail).toContain("gap");
  await db.query(
    "insert into pawl.run_events select * from jsonb_populate_recordset(null::pawl.run_events, $1)",
    [JSON.stringify(rows)],
  );
  expect((await client.runs.recheck(ill)).quarantine).toBeUndefined();
  const story = await storyOf(client, ill);
  expect(story.status).toBe("completed");
  expect(story.of("node.completed").map(({ nodeId }) => nodeId)).toEqual([
    "start",
    "pause",
    "after",
    "end",
  ]);
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
});

test("a node whose job was deleted from the queue runs all the same (X4)", async () => {
  const runId = await startWaiting(1_000);
  const { rowCount } = await db.query("delete from pgboss.job where data->>'r' = $1", [runId]);
  expect(rowCount).toBe(1);
  const story = await storyOf(client, runId);
  expect(story.status).toBe("completed");
  expect(story.of("node.completed", "after")).toHaveLength(1);
  expect(await checkInvariants(cluster.databaseUrl, [runId])).toEqual([]);
});
