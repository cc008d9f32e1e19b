// One run that cannot be written: another session locks its row, or a row that is not the engine's comes after the end of its log. Only
// this run waits or is set aside; every other run continues unaffected.
import { createPawlClient, type PawlClient } from "@pawl/client";
import { RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { call, graph } from "../flow/graph.ts";
import { SINK_EGRESS, startSink, type Sink } from "../flow/sink.ts";
import { firstEvent, storyOf } from "../flow/story.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { until } from "../support/until.ts";

/** A start that took longer waited behind the bad run. */
const SLOW_MS = 1_000;
/** The first to meet the lock are held up by it, once. */
const SLOW_MAX = 3;
const STARTS = 200;

let cluster: Cluster;
let client: PawlClient;
let db: Client;
let sink: Sink;

beforeAll(async () => {
  sink = await startSink();
  cluster = await startCluster({ envOf: { executor: SINK_EGRESS } });
  client = createPawlClient({ baseUrl: cluster.url, attempts: 1 });
  db = new Client({ connectionString: cluster.databaseUrl });
  await db.connect();
  await client.workflows.create(graph(["start > work > end"]), { workflowId: "short" });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  await db.end();
  await cluster.stop();
  await sink.stop();
});

/** Starts short runs one after the other; how long each took to be accepted. */
async function startOthers(): Promise<number[]> {
  const took: number[] = [];
  const runIds: string[] = [];
  while (took.length < STARTS) {
    const began = performance.now();
    runIds.push((await client.runs.start("short")).run.runId);
    took.push(performance.now() - began);
  }
  const isOver = async (): Promise<boolean> => {
    const { run } = await client.runs.get(runIds.at(-1) ?? "");
    return run.status === RunStatus.COMPLETED;
  };
  await until(isOver, { what: "the others to complete" });
  return took;
}

const slow = (took: readonly number[]): number[] => took.filter((ms) => ms >= SLOW_MS);

/** Puts an event behind the end of a run's log, as a hand at the database would. */
const tear = (runId: string) =>
  db.query(
    `insert into pawl.run_events (run_id, seq, type, node_id, iteration, attempt, epoch, ordinal, payload)
     select run_id, last_seq + 1, 'node.log', 'x', 0, 1, 0, 0, '{}' from pawl.runs where run_id = $1`,
    [runId],
  );

const mend = (runId: string) =>
  db.query(
    `delete from pawl.run_events e using pawl.runs r
     where r.run_id = $1 and e.run_id = r.run_id and e.seq > r.last_seq`,
    [runId],
  );

const quarantineOf = (runId: string) =>
  until(async () => (await client.runs.get(runId)).run.quarantine, { what: "the quarantine" });

test("a run whose row another session holds waits alone, and continues when the row is free", async () => {
  // Its output arrives four times a second.
  const text = "x".repeat(24);
  const talk = { type: "text_stream", config: { text, chunk_chars: 1, interval_ms: 250 } };
  const { run } = await client.runs.test(graph(["start > talk > end"], { talk }));
  await firstEvent(client, run.runId, ({ type }) => type === "node.stream.delta");
  await db.query("begin");
  await db.query("select 1 from pawl.runs where run_id = $1 for update", [run.runId]);
  try {
    const cancelled = client.runs.cancel(run.runId);
    const took = startOthers();
    await expect(cancelled).rejects.toMatchObject({ reason: "RUN_CONTENDED", retryable: true });
    expect(slow(await took).length).toBeLessThanOrEqual(SLOW_MAX);
    // Reads do not wait for the lock.
    expect((await client.runs.get(run.runId)).run.status).toBe(RunStatus.RUNNING);
  } finally {
    await db.query("rollback");
  }
  const story = await storyOf(client, run.runId);
  expect(story.status).toBe("completed");
  expect(story.of("node.stream.delta")).toHaveLength(text.length);
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
});

test("a result whose run has a stray row after its log sets the run aside, and the others continue (S0.37)", async () => {
  const work = call(sink.url("hold-torn"));
  const { run } = await client.runs.test(graph(["start > work > end"], { work }));
  const received = await sink.received("hold-torn");
  await tear(run.runId);
  received.answer(200);
  expect(slow(await startOthers()).length).toBeLessThanOrEqual(SLOW_MAX);
  expect(await quarantineOf(run.runId)).toMatchObject({
    reason: "EVENT_LOG_CORRUPTION",
    detail: expect.stringContaining("last_seq"),
  });
  await expect(client.runs.recheck(run.runId)).rejects.toMatchObject({
    reason: "EVENT_LOG_CORRUPTION",
  });
  await mend(run.runId);
  expect((await client.runs.recheck(run.runId)).quarantine).toBeUndefined();
  (await sink.received("hold-torn", 2)).answer(200);
  expect((await storyOf(client, run.runId)).status).toBe("completed");
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
});

test("no executor gets a job whose run has a stray row, and the job holds up no job behind it", async () => {
  await cluster.executors[0]?.kill("SIGKILL");
  const [torn, well] = [
    (await client.runs.start("short")).run.runId,
    (await client.runs.start("short")).run.runId,
  ];
  await tear(torn);
  await cluster.executors[0]?.restart();
  expect((await storyOf(client, well)).status).toBe("completed");
  expect((await quarantineOf(torn)).reason).toBe("EVENT_LOG_CORRUPTION");
  await mend(torn);
  await client.runs.recheck(torn);
  expect((await storyOf(client, torn)).status).toBe("completed");
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
});

test("a read that waits too long for a lock is refused as unavailable, and never as a bug of ours", async () => {
  const { run } = await client.runs.start("short");
  await db.query("begin");
  await db.query("lock table pawl.runs in access exclusive mode");
  try {
    await expect(client.runs.get(run.runId)).rejects.toMatchObject({
      reason: "STORE_UNAVAILABLE",
      retryable: true,
    });
  } finally {
    await db.query("rollback");
  }
  expect((await storyOf(client, run.runId)).status).toBe("completed");
});

test("a job whose run is locked waits, and holds up no job behind it", async () => {
  await cluster.executors[0]?.kill("SIGKILL");
  const [locked, well] = [
    (await client.runs.start("short")).run.runId,
    (await client.runs.start("short")).run.runId,
  ];
  await db.query("begin");
  await db.query("select 1 from pawl.runs where run_id = $1 for update", [locked]);
  try {
    await cluster.executors[0]?.restart();
    expect((await storyOf(client, well)).status).toBe("completed");
  } finally {
    await db.query("rollback");
  }
  expect((await storyOf(client, locked)).status).toBe("completed");
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
});
