// The queue of a node type and the capacity of its executors, seen through the public API of a real trio.
import { createPawlClient, type PawlClient } from "@pawl/client";
import { ExplainReason } from "@pawl/proto/pawl/v1/explain_pb";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { call, graph, names } from "./graph.ts";
import { SINK_EGRESS, startSink, type Sink } from "./sink.ts";
import { storyOf } from "./story.ts";

const SLOTS = 2;
let cluster: Cluster;
let client: PawlClient;
let sink: Sink;

beforeAll(async () => {
  sink = await startSink();
  const executor = { ...SINK_EGRESS, PAWL_EXECUTOR_SLOTS: String(SLOTS) };
  cluster = await startCluster({ envOf: { executor } });
  client = createPawlClient({ baseUrl: cluster.url });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  await cluster.stop();
  await sink.stop();
});

test("no more nodes run at once than executors have slots; the others wait in the queue of their type (S3.35)", async () => {
  const work = names("hold", 5);
  const started = await client.runs.test(
    graph(
      work.map((name) => `start > ${name} > end`),
      Object.fromEntries(work.map((name) => [name, call(sink.url(name))])),
    ),
  );
  const { runId } = started.run;
  const answered = new Set<string>();
  while (answered.size < work.length) {
    const fresh = () => sink.calls.filter(({ name }) => !answered.has(name));
    const expected = Math.min(SLOTS, work.length - answered.size);
    await expect.poll(() => fresh().length, { timeout: 20_000 }).toBe(expected);
    const queued = work.find((name) => !sink.calls.some((each) => each.name === name));
    if (queued !== undefined) {
      const { reason, summary } = await client.runs.explain(runId, queued);
      expect([reason, summary]).toEqual([
        ExplainReason.EXECUTORS_FULL,
        expect.stringContaining(`capacity of ${SLOTS} attempts is in use`),
      ]);
    }
    // All that has room is here and nothing more came meanwhile.
    expect(fresh()).toHaveLength(expected);
    const [first] = fresh();
    first?.answer(200);
    answered.add(first?.name ?? "");
  }
  expect((await storyOf(client, runId)).status).toBe("completed");
});

test("ExplainNode counts the jobs ahead of a node by its own priority as well as its run's", async () => {
  const ranked = {
    "hold-x": { priority: -2 },
    "hold-y": { priority: -2 },
    late: { priority: 2 },
    plain: {},
    soon: { priority: -1 },
  };
  const { run } = await client.runs.test(
    graph(
      Object.keys(ranked).map((name) => `start > ${name} > end`),
      Object.fromEntries(
        Object.entries(ranked).map(([name, more]) => [name, call(sink.url(name), more)]),
      ),
    ),
  );
  const held = await Promise.all(["hold-x", "hold-y"].map((name) => sink.received(name)));
  const summaryOf = async (nodeId: string): Promise<string> =>
    (await client.runs.explain(run.runId, nodeId)).summary;
  await expect.poll(() => summaryOf("soon"), { timeout: 20_000 }).toContain("next in line");
  expect(await summaryOf("plain")).toContain("behind 1 job.");
  expect(await summaryOf("late")).toContain("behind 2 jobs.");
  for (const each of held) each.answer(200);
  expect((await storyOf(client, run.runId)).status).toBe("completed");
});

test("a test run continues from its stored graph when its scheduler is replaced (S3.13)", async () => {
  const definition = graph(["start > hold > after > end"], { hold: call(sink.url("hold-graph")) });
  const { run } = await client.runs.test(definition);
  const held = await sink.received("hold-graph");
  await cluster.schedulers[0]?.restart();
  held.answer(200);
  const story = await storyOf(client, run.runId);
  expect(story.status).toBe("completed");
  expect(story.nodes).toMatchObject({ after: "completed", end: "completed" });
});
