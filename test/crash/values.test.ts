// A kill at every point between storing a large value and the commit that names it. The log never names a value that does not exist, and
// the value comes back to the letter.
import { createPawlClient, jsonOf, type PawlClient } from "@pawl/client";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { graph, script } from "../flow/graph.ts";
import { storyOf } from "../flow/story.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { until } from "../support/until.ts";
import { failpoints, replaceScheduler, startExecutor } from "./processes.ts";

let cluster: Cluster;
let client: PawlClient;

beforeAll(async () => {
  cluster = await startCluster({ envOf: { scheduler: { PAWL_GRACE_MS: "200" } } });
  client = createPawlClient({ baseUrl: cluster.url, attempts: 30 });
  await client.workflows.create(
    graph(["start > make > read"], {
      make: script('return { text: ctx.input.text + "é".repeat(200000) }', { write_key: "made" }),
      read: script("return ctx.memory.made.text.length"),
    }),
    { workflowId: "large" },
  );
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs().slice(-20_000))));
afterAll(() => cluster.stop());

const INPUT = { text: "x".repeat(300_000) };

/** References of the log without a named value, over all runs. */
async function dangling(): Promise<readonly string[]> {
  const db = new pg.Client({ connectionString: cluster.databaseUrl });
  await db.connect();
  try {
    const { rows } = await db.query<{ sha256: string }>(`
      select m[1] as sha256
      from pawl.run_events e,
        regexp_matches(e.value::text, '"\\$pawl.value":\\{"sha256":"([0-9a-f]{64})"', 'g') as m
      where not exists (
        select from pawl.value_refs v join pawl.stored_values s using (sha256)
        where v.run_id = e.run_id and v.sha256 = m[1] and v.is_named and s.digests is not null
      )`);
    return rows.map(({ sha256 }) => sha256);
  } finally {
    await db.end();
  }
}

async function expectWhole(runIds: readonly string[]): Promise<void> {
  for (const runId of runIds) {
    const story = await storyOf(client, runId);
    expect(story.status).toBe("completed");
    expect(story.outputOf("read")).toBe(500_000);
    const { run } = await client.runs.get(runId);
    expect(await client.runs.whole(runId, jsonOf(run.inputJson) ?? null)).toEqual(INPUT);
  }
  expect(await dangling()).toEqual([]);
  expect(await checkInvariants(cluster.databaseUrl, runIds)).toEqual([]);
}

/** Starts runs until the process is gone. Their ids come when each is accepted, however long that takes. */
async function startUntilGone(gone: Promise<unknown>): Promise<Promise<string>[]> {
  const accepted: Promise<string>[] = [];
  const over = gone.then(() => true);
  for (let isGone = false; !isGone;) {
    const started = client.runs.start("large", { input: INPUT }).then(({ run }) => run.runId);
    accepted.push(started);
    const done = started.then((runId) => client.runs.wait(runId));
    isGone = await Promise.race([over, done.then(() => false)]);
  }
  return accepted;
}

test("an executor killed between its handler and the report of a stored value leaves nothing that is named and missing (S2.34)", async () => {
  const doomed = await startExecutor(cluster, failpoints("outcome.sent@2=kill"));
  await until(() => doomed.logs().includes('"registered"'), { what: "it to register" });
  await expectWhole(await Promise.all(await startUntilGone(doomed.exited())));
});

test("a scheduler killed before a value is stored, behind that, and before the commit that names it, loses no value (S2.34)", async () => {
  await cluster.schedulers[0]?.kill("SIGKILL");
  const accepted: Promise<string>[] = [];
  for (const [point, hit] of [
    ["value.before-seal", 2],
    ["value.sealed", 1],
    ["value.sealed", 3],
    ["tick.before-commit", 4],
  ] as const) {
    const doomed = await replaceScheduler(cluster, failpoints(`${point}@${hit}=kill`));
    accepted.push(...(await startUntilGone(doomed.exited())));
    expect(await doomed.exited(), point).toBe("SIGKILL");
  }
  await replaceScheduler(cluster);
  await expectWhole(await Promise.all(accepted));
});
