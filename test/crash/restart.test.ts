// The test kills every process at once while runs wait for something: a backoff, a delay, a deadline, a person. All of it is only log and
// queue, so the new processes find it. Nothing comes early, twice or not at all.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createPawlClient, type PawlClient } from "@pawl/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { call, graph, script, type GraphText } from "../flow/graph.ts";
import { SINK_EGRESS, startSink, type Sink } from "../flow/sink.ts";
import { firstEvent, msOf, storyOf, type Story } from "../flow/story.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { temporaryFolder } from "../support/folder.ts";
import { checkInvariants } from "../support/invariants.ts";

/** Longer than a restart takes, so that what came early would be seen. */
const WAIT_MS = 9_000;
const PHRASE = "forbidden fruit";

let cluster: Cluster;
let client: PawlClient;
let sink: Sink;
let folder: string;
let runs: Record<"backoff" | "delay" | "deadline" | "held", string>;

beforeAll(async () => {
  folder = temporaryFolder("rules");
  const rules = join(folder, "rules.yaml");
  writeFileSync(rules, `rules: [{ id: fruit, category: food, literal: ${PHRASE} }]`);
  sink = await startSink({ respond: (_, nth) => (nth === 1 ? 503 : 200) });
  cluster = await startCluster({ env: { ...SINK_EGRESS, PAWL_MODERATION_RULES: rules } });
  client = createPawlClient({ baseUrl: cluster.url, attempts: 30 });
  runs = await startAll();
  const members = [...cluster.schedulers, ...cluster.executors, ...cluster.gateways];
  await Promise.all(members.map((member) => member.kill("SIGKILL")));
  for (const member of members) await member.restart();
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  await cluster.stop();
  await sink.stop();
  rmSync(folder, { recursive: true });
});

/** Starts one run for each thing to wait for, and returns when all of them wait. */
async function startAll(): Promise<typeof runs> {
  const begin = async (definition: GraphText, type: string, nodeId: string): Promise<string> => {
    const { run } = await client.runs.test(definition);
    await firstEvent(client, run.runId, (event) => event.type === type && event.nodeId === nodeId);
    return run.runId;
  };
  const retry = { attempts: 3, backoff_ms: WAIT_MS, max_backoff_ms: WAIT_MS, jitter: false };
  const delay = (ms: number) => ({ type: "delay", config: { delay_ms: ms } });
  const [backoff, paused, deadline, held] = await Promise.all([
    begin(
      graph(["start > flaky > end"], { flaky: call(sink.url("flaky"), { retry }) }),
      "node.retried",
      "flaky",
    ),
    begin(graph(["start > pause > after"], { pause: delay(WAIT_MS) }), "node.completed", "pause"),
    begin(
      {
        ...graph(["start > pause > never"], { pause: delay(10 * WAIT_MS) }),
        deadline_ms: WAIT_MS,
      } as GraphText,
      "node.completed",
      "pause",
    ),
    begin(
      graph(["start > held > end"], {
        held: script(`return "a ${PHRASE}"`, { moderation: "output", moderation_action: "hold" }),
      }),
      "node.blocked",
      "held",
    ),
  ]);
  return { backoff, delay: paused, deadline, held };
}

const one = (story: Story, type: string, nodeId?: string): number => {
  const found = nodeId === undefined ? story.of(type) : story.of(type, nodeId);
  expect(found, `${type} ${nodeId}`).toHaveLength(1);
  return found[0]?.at ?? Number.NaN;
};

test("a node held before everything died is decided afterwards, once (S1.8, S3.2)", async () => {
  await Promise.all([1, 2].map(() => client.runs.decide(runs.held, "held", "approve")));
  const story = await storyOf(client, runs.held);
  expect(story.status).toBe("completed");
  for (const type of ["node.started", "node.decided", "node.completed"]) one(story, type, "held");
  expect(story.outputOf("held")).toBe(`a ${PHRASE}`);
});

test("a backoff outlives everybody: the retry is neither lost nor early nor doubled (S1.26, S1.30, S3.36, S0.36)", async () => {
  const story = await storyOf(client, runs.backoff);
  expect(story.status).toBe("completed");
  const retriedAt = one(story, "node.retried", "flaky");
  const starts = story.of("node.started", "flaky");
  expect(starts.map(({ attempt }) => attempt)).toEqual([1, 2]);
  expect((starts[1]?.at ?? 0) - retriedAt).toBeGreaterThanOrEqual(WAIT_MS);
  expect(sink.calls.map(({ idempotencyKey }) => idempotencyKey)).toEqual(
    Array(2).fill(`${runs.backoff}/flaky/0`),
  );
  expect(story.of("run.recovered")).toEqual([]);
});

test("a delay outlives every process: the next node starts once, and not before its time (S3.29, S3.36, S4.19)", async () => {
  const story = await storyOf(client, runs.delay);
  expect(story.status).toBe("completed");
  const waited = one(story, "node.started", "after") - one(story, "node.completed", "pause");
  expect(waited).toBeGreaterThanOrEqual(WAIT_MS);
});

test("the deadline of a run outlives every process (S1.40)", async () => {
  const story = await storyOf(client, runs.deadline);
  expect(story.status).toBe("timeout");
  expect(story.nodes).toMatchObject({ pause: "completed", never: "cancelled" });
  // Counted from the moment the run was accepted, a little before the transaction that wrote `run.started`.
  expect(one(story, "run.timed_out")).toBeGreaterThanOrEqual(msOf(story.run.deadlineTime));
});

test("the logs hold after everything died (S3.2)", async () => {
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
});
