// Runs and nodes that wait for a slot or a rate, as people see them: in explanations, in events, and when they are paused.
import { createPawlClient, type Json, plainExplanation, type PawlClient } from "@pawl/client";
import { ExplainReason } from "@pawl/proto/pawl/v1/explain_pb";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { call, graph, type GraphText } from "./graph.ts";
import { SINK_EGRESS, startSink, type Sink } from "./sink.ts";
import { firstEvent, msOf, storyOf } from "./story.ts";

let cluster: Cluster;
let client: PawlClient;
let sink: Sink;

beforeAll(async () => {
  sink = await startSink();
  cluster = await startCluster({ envOf: { executor: SINK_EGRESS } });
  client = createPawlClient({ baseUrl: cluster.url });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  await cluster.stop();
  await sink.stop();
});

/** Saves a workflow; its runs are started one after the other, so the line has their order. */
async function save(
  workflowId: string,
  definition: GraphText & { concurrency?: Json },
): Promise<() => Promise<string>> {
  await client.workflows.create(definition, { workflowId });
  return async () => (await client.runs.start(workflowId, { input: { shop: "s7" } })).run.runId;
}

const isQueued = (runId: string, nodeId: string) =>
  firstEvent(client, runId, (event) => event.type === "node.queued" && event.nodeId === nodeId);

test("a node in line for a slot says for which key, who has it and who is before it; paused, it leaves the line", async () => {
  const limited = { concurrency: { key: "{{ ctx.input.shop }}", limit: 1 }, timeout_ms: 30_000 };
  const start = await save(
    "one-a-shop",
    graph(["start > work"], { work: call(sink.url("hold-shop"), limited) }),
  );
  const holder = await start();
  const first = await sink.received("hold-shop");
  const second = await start();
  await isQueued(second, "work");
  const third = await start();
  const queued = await isQueued(third, "work");
  expect(queued.payload).toMatchObject({ slot: { key: "s7", limit: 1, scope: "workflow" } });
  const explanation = await client.runs.explain(third, "work");
  expect(explanation.reason).toBe(ExplainReason.WAITING_SLOT);
  expect(explanation.summary).toBe(
    `It waits for a slot of concurrency key "s7": all 1 are taken, by work of run ${holder}; 1 other is before it.`,
  );
  expect(explanation.evidence).toMatchObject([{ type: "node.queued", nodeId: "work" }]);
  expect(plainExplanation(explanation)).toMatchObject({
    reason: "waiting_slot",
    slotWait: { key: "s7", limit: 1, takenCount: 1, aheadCount: 1, holders: [{ runId: holder }] },
  });
  const { run } = await client.runs.get(third);
  expect(run.waitingReason).toContain('node work: It waits for a slot of concurrency key "s7"');

  // A paused run blocks no other run: the run behind it is next, and a resumed run asks again at the end of the line.
  await client.runs.pause(second, { by: "ann" });
  expect((await client.runs.explain(second, "work")).reason).toBe(ExplainReason.RUN_PAUSED);
  expect((await client.runs.explain(third, "work")).slotWait?.aheadCount).toBe(0);
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
  await client.runs.resume(second);
  expect((await client.runs.explain(second, "work")).slotWait).toMatchObject({
    takenCount: 1,
    aheadCount: 1,
  });
  first.answer(200);
  (await sink.received("hold-shop", 2)).answer(200);
  expect((await storyOf(client, third)).status).toBe("completed");
  (await sink.received("hold-shop", 3)).answer(200);
  expect((await storyOf(client, second)).status).toBe("completed");
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
});

test("a run that has not begun says which run it waits for, and begins after it", async () => {
  const start = await save("one-run", {
    ...graph(["start > work"], { work: call(sink.url("hold-run")) }),
    concurrency: { key: "{{ input.shop }}", limit: 1 },
  });
  const holder = await start();
  const held = await sink.received("hold-run");
  const runId = await start();
  const words = `It waits for a slot of concurrency key "s7": all 1 are taken, by run ${holder}; it is next in line.`;
  expect((await client.runs.get(runId)).run.waitingReason).toBe(words);
  const explanation = await client.runs.explain(runId, "work");
  expect([explanation.reason, explanation.summary]).toEqual([
    ExplainReason.WAITING_SLOT,
    `The run is pending. ${words}`,
  ]);
  const started = await firstEvent(client, runId, ({ type }) => type === "run.started");
  expect(started.payload).toMatchObject({ slot: { key: "s7", limit: 1 } });
  // Paused, it is in no line; resumed, it is again, and it begins when its turn has come.
  await client.runs.pause(runId);
  await client.runs.resume(runId);
  expect((await client.runs.get(runId)).run.waitingReason).toBe(words);
  held.answer(200);
  (await sink.received("hold-run", 2)).answer(200);
  expect((await storyOf(client, runId)).status).toBe("completed");
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
});

test("a node held by a rate says from when on it may start", async () => {
  const rate = { key: "mail", limit: 1, per_ms: 3_600_000 };
  const start = await save("hourly", graph(["start > work"], { work: { rate } }));
  const story = await storyOf(client, await start());
  const next = await start();
  const queued = await isQueued(next, "work");
  expect(queued.payload).toMatchObject({ rate: { key: "mail", limit: 1, perMs: 3_600_000 } });
  const behind = await start();
  await isQueued(behind, "work");
  const explained = await client.runs.explain(behind, "work");
  expect(explained.reason).toBe(ExplainReason.WAITING_RATE);
  expect(explained.summary).toMatch(
    /^It waits for a start under rate key "mail", 1 in any 60 min; 1 other is before it, so it starts in .* at the earliest\.$/,
  );
  const first = story.of("node.started", "work")[0]?.at ?? Number.NaN;
  const { untilTime } = await client.runs.explain(next, "work");
  // One window after the start, and two for the one behind; commits take a moment.
  expect(msOf(untilTime) - first).toBeGreaterThan(3_590_000);
  expect(msOf(untilTime) - first).toBeLessThan(3_660_000);
  expect(msOf(explained.untilTime) - msOf(untilTime)).toBe(3_600_000);
  for (const runId of [next, behind]) await client.runs.cancel(runId);
});
