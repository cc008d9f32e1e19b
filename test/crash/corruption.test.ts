// Rows vanish under a running cluster. A log with a hole sets its run aside, the scheduler sends a missing job again, and no other run is
// affected.
import { createPawlClient, type PawlClient } from "@pawl/client";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { call, graph } from "../flow/graph.ts";
import { SINK_EGRESS, startSink, type Sink } from "../flow/sink.ts";
import { firstEvent, storyOf } from "../flow/story.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { until } from "../support/until.ts";

let cluster: Cluster;
let client: PawlClient;
let db: Client;
let sink: Sink;

beforeAll(async () => {
  sink = await startSink();
  cluster = await startCluster({
    envOf: { executor: SINK_EGRESS, scheduler: { PAWL_GRACE_MS: "200" } },
  });
  client = createPawlClient({ baseUrl: cluster.url, attempts: 30 });
  db = new Client({ connectionString: cluster.databaseUrl });
  await db.connect();
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  await db.end();
  await cluster.stop();
  await sink.stop();
});

/** A run in the middle of its work. */
async function startWorking(name: string): Promise<string> {
  const work = call(sink.url(`hold-${name}`));
  const { run } = await client.runs.test(graph(["start > work > after > end"], { work }));
  await sink.received(`hold-${name}`);
  return run.runId;
}

test("a hole in a live log sets its run aside after a restart, others complete, and the run continues once its log is repaired (S0.37)", async () => {
  const [ill, well] = [await startWorking("ill"), await startWorking("well")];
  // Their executor dies, and no other is there. So both runs wait in the queue during the rest of the test.
  await cluster.executors[0]?.kill("SIGKILL");
  for (const runId of [ill, well])
    await firstEvent(client, runId, ({ type }) => type === "run.recovered");
  const { rows } = await db.query(
    "delete from pawl.run_events where run_id = $1 and seq = 4 returning *",
    [ill],
  );
  await cluster.schedulers[0]?.kill("SIGKILL");
  await cluster.schedulers[0]?.restart();
  await cluster.executors[0]?.restart();
  (await sink.received("hold-well", 2)).answer(200);
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
  (await sink.received("hold-ill", 2)).answer(200);
  const story = await storyOf(client, ill);
  expect(story.status).toBe("completed");
  expect(story.of("node.completed").map(({ nodeId }) => nodeId)).toEqual([
    "start",
    "work",
    "after",
    "end",
  ]);
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
});

test("a node whose job was deleted from the queue runs all the same (X4, S4.19, S4.35)", async () => {
  await cluster.executors[0]?.kill("SIGKILL");
  const { runId } = (await client.runs.test(graph(["start > after"]))).run;
  const deleteJob = async (): Promise<boolean> => {
    const { rowCount } = await db.query("delete from pgboss.job where data->>'r' = $1", [runId]);
    return rowCount === 1;
  };
  await until(deleteJob, { what: "its job to wait" });
  await cluster.executors[0]?.restart();
  const story = await storyOf(client, runId);
  expect(story.status).toBe("completed");
  expect(story.of("node.completed", "after")).toHaveLength(1);
  expect(await checkInvariants(cluster.databaseUrl, [runId])).toEqual([]);
});
