// A kill at every named point of the code, from the acceptance of a run to the acknowledgement of a result. The next process finishes the
// work: nothing is lost, nothing is done twice.
import { createPawlClient, type PawlClient } from "@pawl/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { graph, names } from "../flow/graph.ts";
import { storyOf } from "../flow/story.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import type { Member } from "../support/member.ts";
import { until } from "../support/until.ts";
import { failpoints, replaceScheduler, startExecutor } from "./processes.ts";

const RUNS = 12;

let cluster: Cluster;
let client: PawlClient;

beforeAll(async () => {
  cluster = await startCluster({ envOf: { scheduler: { PAWL_GRACE_MS: "200" } } });
  // An outage lasts as long as a start takes on a busy machine.
  client = createPawlClient({ baseUrl: cluster.url, attempts: 30 });
  await client.workflows.create(graph(["start > a > join > end", "start > b > join"]), {
    workflowId: "diamond",
  });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(() => cluster.stop());

/** Everything that was accepted in this file. */
const everyRun: Promise<string[]>[] = [];

/** Accepted runs; the ids come when each is accepted, however long that takes. */
function startRuns(): Promise<string[]> {
  const accepted = Promise.all(
    names("run", RUNS).map(async () => (await client.runs.start("diamond")).run.runId),
  );
  everyRun.push(accepted);
  return accepted;
}

/** Runs come in until the point has struck: the number of runs that it takes is not fixed. */
async function startRunsUntilGone(doomed: Member): Promise<Promise<string[]>[]> {
  const batches: Promise<string[]>[] = [];
  const gone = doomed.exited().then(() => true);
  for (let isGone = false; !isGone;) {
    const batch = startRuns();
    batches.push(batch);
    const done = batch.then((runIds) => Promise.all(runIds.map((id) => client.runs.wait(id))));
    isGone = await Promise.race([gone, done.then(() => false)]);
  }
  return batches;
}

async function expectDoneOnce(runIds: readonly string[]): Promise<void> {
  const stories = await Promise.all(runIds.map((runId) => storyOf(client, runId)));
  for (const story of stories) {
    expect(story.status, story.runId).toBe("completed");
    const ids = story.of("node.completed").map(({ nodeId }) => nodeId);
    expect(ids.toSorted()).toEqual(["a", "b", "end", "join", "start"]);
  }
  expect(await checkInvariants(cluster.databaseUrl, runIds)).toEqual([]);
}

const struck = (logs: string, point: string): boolean =>
  logs.includes(`"msg":"failpoint","point":"${point}"`);

test.for([
  ["assignment.received", "before its handler runs"],
  ["handler.before-run", "inside of its handler"],
  ["handler.after-run", "after its effect, before its report"],
  ["outcome.sent", "after its report, before the acknowledgement"],
  ["outcome.acknowledged", "after the acknowledgement"],
])("an executor killed at %s, %s, loses nothing (S0.2, S0.35, S3.37)", async ([point = ""]) => {
  const doomed = await startExecutor(cluster, failpoints(`${point}@7=kill`));
  await until(() => doomed.logs().includes('"registered"'), { what: "it to register" });
  const accepted = await startRunsUntilGone(doomed);
  expect(await doomed.exited()).toBe("SIGKILL");
  expect(struck(doomed.logs(), point)).toBe(true);
  await expectDoneOnce((await Promise.all(accepted)).flat());
});

test("a scheduler killed before and after it accepts, at a result, in its transaction and behind it loses and doubles nothing (S0.36, S0.39, S3.3, S3.4, S3.5, S3.53)", async () => {
  await cluster.schedulers[0]?.kill("SIGKILL");
  const accepted: Promise<string[]>[] = [];
  // Each is killed at its point while runs come in, and the next one takes its place and its work.
  for (const [point, hit] of [
    ["start.before-submit", 5],
    ["start.after-commit", 5],
    ["outcome.received", 8],
    ["tick.before-commit", 6],
    ["tick.after-commit", 6],
  ] as const) {
    const doomed = await replaceScheduler(cluster, failpoints(`${point}@${hit}=kill`));
    accepted.push(...(await startRunsUntilGone(doomed)));
    expect(await doomed.exited(), point).toBe("SIGKILL");
    expect(struck(doomed.logs(), point), point).toBe(true);
  }
  await replaceScheduler(cluster);
  const runIds = (await Promise.all(accepted)).flat();
  expect(new Set(runIds).size).toBe(accepted.length * RUNS);
  await expectDoneOnce(runIds);
  // Exactly the accepted runs exist: a request that was sent again did not start a second one.
  const known: string[] = [];
  let pageToken = "";
  do {
    const page = await client.runs.list({ workflowId: "diamond", pageSize: 200, pageToken });
    known.push(...page.runs.map(({ runId }) => runId));
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  expect(known.toSorted()).toEqual((await Promise.all(everyRun)).flat().toSorted());
});
