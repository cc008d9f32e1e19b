// Limits under two schedulers and two executors while some of them are killed. The outside world never sees more calls at once than the
// limit, everything completes, and no slot stays taken.
import { createPawlClient, type PawlClient, runStatusName } from "@pawl/client";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { call, graph, names } from "../flow/graph.ts";
import { type Received, type Sink, SINK_EGRESS, startSink } from "../flow/sink.ts";
import { storyOf } from "../flow/story.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { until } from "../support/until.ts";
import { startExecutor } from "./processes.ts";

let cluster: Cluster;
let client: PawlClient;
let sink: Sink;

beforeAll(async () => {
  sink = await startSink();
  cluster = await startCluster({
    schedulers: 2,
    executors: 1,
    envOf: {
      executor: SINK_EGRESS,
      scheduler: {
        PAWL_LEASE_MS: "1500",
        PAWL_RENEW_MS: "300",
        PAWL_SWEEP_MS: "300",
        PAWL_GRACE_MS: "300",
        PAWL_POLL_MS: "200",
      },
    },
  });
  client = createPawlClient({ baseUrl: cluster.url });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  await cluster.stop();
  await sink.stop();
});

/** Calls to a name that were neither answered nor aborted. */
const openCalls = (name: string): Received[] =>
  sink.calls.filter((each) => each.name === name && each.isOpen);

async function slotsLeft(): Promise<number> {
  const db = new Client({ connectionString: cluster.databaseUrl });
  await db.connect();
  try {
    const { rows } = await db.query<{ count: number }>(
      "select count(*)::integer as count from pawl.slots where state <> 'cooling'",
    );
    return rows[0]?.count ?? -1;
  } finally {
    await db.end();
  }
}

test("no more calls than the limit are under way outside, whichever process is killed, and no slot leaks (X24)", async () => {
  const doomed = await startExecutor(cluster);
  const limited = { concurrency: { key: "{{ ctx.input.shop }}", limit: 2 }, timeout_ms: 30_000 };
  const definition = graph(["start > effect"], { effect: call(sink.url("hold-limit"), limited) });
  await client.workflows.create(definition, { workflowId: "limited" });
  const runs = await Promise.all(
    names("run", 8).map(() => client.runs.start("limited", { input: { shop: "a" } })),
  );
  let isOver = false;
  const stories = Promise.all(runs.map(({ run }) => storyOf(client, run.runId)));
  void stories.then(() => (isOver = true));
  let most = 0;
  for (let turn = 0; ; turn++) {
    const next = await until(
      () => {
        const waiting = openCalls("hold-limit");
        most = Math.max(most, waiting.length);
        return isOver ? "over" : waiting[0];
      },
      { what: `call ${turn}` },
    );
    if (next === "over") break;
    if (turn === 2) await doomed.kill("SIGKILL");
    if (turn === 4) await cluster.schedulers[1]?.kill("SIGKILL");
    expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
    next.answer(200);
  }
  for (const { status } of await stories) expect(status).toBe("completed");
  expect(most).toBeLessThanOrEqual(2);
  expect(await slotsLeft()).toBe(0);
  await cluster.schedulers[1]?.restart();
});

test("runs beyond their workflow's limit are pending until one ends, and a rate holds over every window (S4.19)", async () => {
  const definition = {
    ...graph(["start > effect"], { effect: call(sink.url("hold-run")) }),
    concurrency: { key: "{{ input.customer }}", limit: 1 },
  };
  await client.workflows.create(definition, { workflowId: "one-each" });
  await expect(client.runs.start("one-each", { input: {} })).rejects.toMatchObject({
    reason: "INPUT_INVALID",
  });
  const start = () => client.runs.start("one-each", { input: { customer: 7 } });
  const [, gone, last] = [await start(), await start(), await start()];
  const call1 = await sink.received("hold-run");
  const { run } = await client.runs.get(last.run.runId);
  expect(runStatusName(run.status)).toBe("pending");
  await client.runs.cancel(gone.run.runId, { reason: "not needed" });
  call1.answer(200);
  (await sink.received("hold-run", 2)).answer(200);
  const story = await storyOf(client, last.run.runId);
  expect(story.status).toBe("completed");
  expect(story.events[1]).toMatchObject({ type: "run.status.changed" });
  const paced = graph(["start > work"], { work: { rate: { limit: 2, per_ms: 1_000 } } });
  await client.workflows.create(paced, { workflowId: "paced" });
  const runs = await Promise.all(names("run", 5).map(() => client.runs.start("paced")));
  const ended = await Promise.all(runs.map((each) => storyOf(client, each.run.runId)));
  const starts = ended
    .flatMap((each) => each.of("node.started", "work").map(({ at }) => at))
    .toSorted((a, b) => a - b);
  expect(starts).toHaveLength(5);
  // The log has the time at which a transaction began, which may be a little before it was this one's turn.
  for (const [index, at] of starts.slice(2).entries())
    expect(at - (starts[index] ?? 0)).toBeGreaterThanOrEqual(500);
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
  expect(await slotsLeft()).toBe(0);
});
