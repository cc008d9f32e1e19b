// Two schedulers and two executors on one database. Each executor has little room, so branches of one run are claimed on both
// sides and their results race for the same join.
import { createPawlClient, type Json, type PawlClient } from "@pawl/client";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Cluster, IS_QUEUED, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { graph, names, type GraphText } from "./graph.ts";
import { storyOf, type Story } from "./story.ts";

let clusters: readonly Cluster[] = [];
let clients: readonly PawlClient[] = [];

beforeAll(async () => {
  const envOf = { scheduler: { PAWL_POLL_MS: "50" }, executor: { PAWL_EXECUTOR_SLOTS: "1" } };
  const first = await startCluster({ envOf });
  const second = await startCluster({ envOf, databaseUrl: first.databaseUrl });
  clusters = [first, second];
  clients = clusters.map(({ url }) => createPawlClient({ baseUrl: url }));
});
beforeEach(({ onTestFailed }) =>
  onTestFailed(() => console.error(clusters.map((cluster) => cluster.logs()).join("\n"))),
);
afterAll(async () => {
  // The first one drops the database, so it goes last.
  for (const cluster of clusters.toReversed()) await cluster.stop();
});

/** Starts runs by turns on both sides and watches each from the other. */
async function runMany(
  workflowId: string,
  count: number,
  shape: GraphText,
  inputOf: (index: number) => Json = () => null,
): Promise<Story[]> {
  await clients[0]?.workflows.create(shape, { workflowId });
  return await Promise.all(
    names("run", count).map(async (_, index) => {
      const [here, there] = index % 2 === 0 ? clients : clients.toReversed();
      if (here === undefined || there === undefined) throw new Error("no clients");
      const { run } = await here.runs.start(workflowId, { input: inputOf(index) });
      return await storyOf(there, run.runId);
    }),
  );
}

/** The executors that ran the nodes of these runs. */
const executorsOf = (stories: readonly Story[]): Set<string> =>
  new Set(
    stories
      .flatMap((story) => story.of("node.started"))
      // The wire's payload of node.started names its executor.
      .map(({ payload }) => (payload as { executorId: string }).executorId),
  );

function expectNoDoubleDispatch(stories: readonly Story[], nodeCount: number): void {
  for (const story of stories) {
    expect(story.status).toBe("completed");
    for (const type of ["node.queued", "node.started", "node.completed"]) {
      const ids = story.of(type).map(({ nodeId }) => nodeId);
      // The schedulers complete start and end themselves.
      const isGlueLeftOut = type !== "node.completed" && !IS_QUEUED;
      const count = isGlueLeftOut ? nodeCount - 2 : nodeCount;
      expect([ids.length, new Set(ids).size], `${story.runId} ${type}`).toEqual([count, count]);
    }
  }
  // Void unless both sides really worked.
  expect(executorsOf(stories).size).toBe(2);
}

test("50 concurrent diamonds run each join once, whichever scheduler settles its branches (S3.3, S3.5, S3.17, S3.18, S3.49, S3.51)", async () => {
  const shape = graph(["start > a > join > end", "start > b > join"]);
  const stories = await runMany("diamond", 50, shape);
  expectNoDoubleDispatch(stories, 5);
  // Void unless both sides worked on the same runs.
  const shared = stories.filter((story) => executorsOf([story]).size === 2);
  expect(shared.length).toBeGreaterThan(0);
});

test("100 concurrent linear runs complete, each node once and each with its own values (S0.1, S3.47, S3.50, S3.55)", async () => {
  const end = { type: "end", config: { output_parameters: { n: "{{ ctx.input.n }}" } } };
  const shape = graph(["start > a > b > c > end"], { end });
  const stories = await runMany("linear", 100, shape, (n) => ({ n }));
  expectNoDoubleDispatch(stories, 5);
  expect(stories.map(({ output }) => output)).toEqual(stories.map((_, n) => ({ n })));
});

test("a start right after an update runs the new version, whichever scheduler took either (S3.45)", async () => {
  const [here, there] = clients;
  if (here === undefined || there === undefined) throw new Error("no clients");
  await here.workflows.create(graph(["start > end"]), { workflowId: "edited" });
  const versionOf = async (client: PawlClient): Promise<number> =>
    (await client.runs.start("edited")).run.workflowVersion;
  for (let version = 2; version <= 5; version += 1) {
    // Both have seen the version before, so both would remember it.
    const before = await Promise.all([here, there].map(versionOf));
    const edited = { ...graph(["start > end"]), title: `v${version}` };
    await here.workflows.apply(edited, { workflowId: "edited" });
    const after = await Promise.all([there, here, there].map(versionOf));
    expect({ before, after }).toEqual({
      before: [version - 1, version - 1],
      after: [version, version, version],
    });
  }
  await here.workflows.delete("edited", { force: true });
  await expect(there.runs.start("edited")).rejects.toMatchObject({ reason: "WORKFLOW_NOT_FOUND" });
});

test("the same input, sent to both schedulers at once, starts one run while its key lives (S1.59, X23)", async () => {
  const [here, there] = clients;
  if (here === undefined || there === undefined) throw new Error("no clients");
  await here.workflows.create(graph(["start > end"]), { workflowId: "charged" });
  const dedupeInputMs = 60_000;
  // Keys in another order and another spelling of a number are the same input.
  const texts = ['{"a":1,"b":[2.0]}', '{"b":[2],"a":1.0}'];
  const answers = await Promise.all(
    [here, there, here, there, here, there].map((client, index) =>
      client.runs.start("charged", { inputJson: texts[index % 2], dedupeInputMs }),
    ),
  );
  expect(new Set(answers.map(({ run }) => run.runId)).size).toBe(1);
  expect(answers.filter(({ isDuplicate }) => !isDuplicate)).toHaveLength(1);
  const story = await storyOf(there, answers[0]?.run.runId ?? "");
  expect(story.of("run.started")[0]?.payload).toMatchObject({
    idempotencyKey: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  // Another input is another run, and so is the same one for a caller who did not ask.
  const other = await here.runs.start("charged", { inputJson: '{"a":2}', dedupeInputMs });
  const again = await here.runs.start("charged", { inputJson: texts[0] });
  expect([other.isDuplicate, again.isDuplicate]).toEqual([false, false]);
  expect((await here.runs.list({ workflowId: "charged" })).runs).toHaveLength(3);
});

test("a test run asked for twice at once keeps one graph, and none without its run (S3.12, S3.13)", async () => {
  const [here, there] = clients;
  if (here === undefined || there === undefined) throw new Error("no clients");
  const shape = graph(["start > end"]);
  const answers = await Promise.all(
    names("race", 12).map((_, index) =>
      (index % 2 === 0 ? here : there).runs.test(
        { ...shape, title: "raced" },
        { requestId: `race-${index % 3}` },
      ),
    ),
  );
  expect(new Set(answers.map(({ run }) => run.runId)).size).toBe(3);
  const database = new Client({ connectionString: clusters[0]?.databaseUrl });
  await database.connect();
  const { rows } = await database.query<{ graphs: number; orphans: number }>(
    `select count(*)::integer as graphs, count(*) filter (where r.run_id is null)::integer as orphans
     from pawl.definitions d left join pawl.runs r on r.definition_id = d.definition_id
     where d.title = 'raced'`,
  );
  await database.end();
  expect(rows).toEqual([{ graphs: 3, orphans: 0 }]);
  for (const { run } of answers) await here.runs.wait(run.runId);
});

test("two writers leave logs that hold (S3.2, S3.3)", async () => {
  expect(await checkInvariants(clusters[0]?.databaseUrl ?? "")).toEqual([]);
});
