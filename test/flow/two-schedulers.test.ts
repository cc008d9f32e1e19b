// Two schedulers and two executors on one database. Each executor has little room, so branches of one run are claimed on both
// sides and their results race for the same join.
import { createPawlClient, type PawlClient } from "@pawl/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Cluster, startCluster } from "../support/cluster.ts";
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
async function runMany(workflowId: string, count: number, shape: GraphText): Promise<Story[]> {
  await clients[0]?.workflows.create(shape, { workflowId });
  return await Promise.all(
    names("run", count).map(async (_, index) => {
      const [here, there] = index % 2 === 0 ? clients : clients.toReversed();
      if (here === undefined || there === undefined) throw new Error("no clients");
      const { run } = await here.runs.start(workflowId);
      return await storyOf(there, run.runId);
    }),
  );
}

/** Who ran the nodes of these runs. */
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
      expect([ids.length, new Set(ids).size], `${story.runId} ${type}`).toEqual([
        nodeCount,
        nodeCount,
      ]);
    }
  }
  // Void unless both sides really worked.
  expect(executorsOf(stories).size).toBe(2);
}

test("50 concurrent diamonds run each join once, whoever settles its branches (S3.3, S3.5, S3.17, S3.18, S3.49, S3.51)", async () => {
  const shape = graph(["start > a > join > end", "start > b > join"]);
  const stories = await runMany("diamond", 50, shape);
  expectNoDoubleDispatch(stories, 5);
  // Void unless both sides worked on the same runs.
  const shared = stories.filter((story) => executorsOf([story]).size === 2);
  expect(shared.length).toBeGreaterThan(0);
});

test("100 concurrent linear runs complete, each node once (S0.1, S3.50, S3.55)", async () => {
  expectNoDoubleDispatch(await runMany("linear", 100, graph(["start > a > b > c > end"])), 5);
});

test("two writers leave logs that hold (S3.2, S3.3)", async () => {
  expect(await checkInvariants(clusters[0]?.databaseUrl ?? "")).toEqual([]);
});
