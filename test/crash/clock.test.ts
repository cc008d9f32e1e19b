// Schedulers whose wall clock is wrong, or is set while they work. Deadlines, backoff, leases and run ids follow the database's clock.
import { createPawlClient } from "@pawl/client";
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { call, graph } from "../flow/graph.ts";
import { startSink } from "../flow/sink.ts";
import { firstEvent, storyOf } from "../flow/story.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { steppedClock } from "../support/stepped-clock.ts";
import { until } from "../support/until.ts";
import { startExecutor } from "./processes.ts";

const HOUR = 3_600_000;

/** A cluster whose schedulers have a wall clock of their own, and a sink that answers when the test asks for it. */
async function setup(offMs: number, env: Readonly<Record<string, string>> = {}) {
  const sink = await startSink();
  onTestFinished(() => sink.stop());
  const clock = steppedClock(offMs);
  const cluster = await startCluster({
    executors: 0,
    envOf: {
      scheduler: {
        ...clock.env,
        PAWL_LEASE_MS: "1500",
        PAWL_RENEW_MS: "300",
        PAWL_SWEEP_MS: "300",
        PAWL_POLL_MS: "200",
        ...env,
      },
    },
  });
  onTestFinished(() => cluster.stop());
  const client = createPawlClient({ baseUrl: cluster.url });
  return { sink, clock, cluster, client };
}

async function ask<Row extends object>(
  { databaseUrl }: Cluster,
  text: string,
  values: unknown[],
): Promise<Row[]> {
  const database = new Client({ connectionString: databaseUrl });
  await database.connect();
  try {
    return (await database.query<Row>(text, values)).rows;
  } finally {
    await database.end();
  }
}

/** Waits until a duty of the scheduler has begun and ended after now. */
async function sweptAgain(cluster: Cluster, duty: string): Promise<void> {
  const count = async (): Promise<number> => {
    const { probePort = 0 } = cluster.schedulers[0] ?? {};
    const text = await (await fetch(`http://127.0.0.1:${probePort}/metrics`)).text();
    const line = text
      .split("\n")
      .find((one) => /sweep_duration\w*_count/.test(one) && one.includes(`"${duty}"`));
    return Number(line?.split(" ").at(-1) ?? 0);
  };
  const before = await count();
  await until(async () => (await count()) >= before + 2, { what: `two sweeps of ${duty}` });
}

test("a scheduler whose clock is an hour behind and is put right times no live run out, and gives run ids of the right time", async () => {
  const { sink, clock, cluster, client } = await setup(-HOUR);
  await startExecutor(cluster);
  const deadline_ms = 30 * 60_000;
  const { run } = await client.runs.test({
    ...graph(["start > work > after"], { work: call(sink.url("hold-step")) }),
    deadline_ms,
  });
  const working = await sink.received("hold-step");
  const [row] = await ask<{ deadline_in: number; id_age: number }>(
    cluster,
    `select extract(epoch from deadline_at - created_at)::float8 * 1000 as deadline_in,
       extract(epoch from created_at)::float8 * 1000 - ('x' || left(replace(run_id::text, '-', ''), 12))::bit(48)::bigint as id_age
     from pawl.runs where run_id = $1`,
    [run.runId],
  );
  await clock.step(0, ...cluster.schedulers);
  await sweptAgain(cluster, "deadlines");
  working.answer(200);
  const story = await storyOf(client, run.runId);
  expect(story.status).toBe("completed");
  expect(Math.abs((row?.deadline_in ?? 0) - deadline_ms)).toBeLessThan(5_000);
  expect(Math.abs(row?.id_age ?? Infinity)).toBeLessThan(5_000);
  expect(await checkInvariants(cluster.databaseUrl, [run.runId])).toEqual([]);
});

test("after a scheduler's clock was set back, a frozen executor's work still goes to another", async () => {
  const { sink, clock, cluster, client } = await setup(0);
  const zombie = await startExecutor(cluster);
  const { run } = await client.runs.test(
    graph(["start > work"], { work: call(sink.url("hold-back")) }),
  );
  await sink.received("hold-back");
  await startExecutor(cluster);
  await clock.step(-HOUR, ...cluster.schedulers);
  await zombie.kill("SIGSTOP");
  (await sink.received("hold-back", 2)).answer(200);
  const story = await storyOf(client, run.runId);
  expect(story.status).toBe("completed");
  expect(story.of("run.recovered")).toMatchObject([{ payload: { reason: "lease_expired" } }]);
});

test("a delay is as long as it was asked for while the scheduler's clock is set back", async () => {
  // Nothing but the scheduler's own timer looks at the queue in time.
  const { clock, cluster, client } = await setup(HOUR, { PAWL_POLL_MS: "60000" });
  await startExecutor(cluster);
  const { run } = await client.runs.test(
    graph(["start > wait > after"], { wait: { type: "delay", config: { delay_ms: 1_500 } } }),
  );
  await firstEvent(client, run.runId, ({ type }) => type === "node.completed");
  await clock.step(-HOUR, ...cluster.schedulers);
  const story = await storyOf(client, run.runId);
  const [waited] = story.of("node.completed", "wait");
  const [begun] = story.of("node.started", "after");
  const tookMs = (begun?.at ?? 0) - (waited?.at ?? 0);
  expect(tookMs).toBeGreaterThanOrEqual(1_490);
  expect(tookMs).toBeLessThan(20_000);
});
