// Why a node is in its state, asked of a real trio while the node is in it.
import { createPawlClient, plainExplanation, type PawlClient } from "@pawl/client";
import { EffectState } from "@pawl/proto/pawl/v1/effect_pb";
import { ExplainReason } from "@pawl/proto/pawl/v1/explain_pb";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Cluster } from "../support/cluster.ts";
import { sharedCluster } from "../support/shared-cluster.ts";
import { until } from "../support/until.ts";
import { call, graph, type GraphText } from "./graph.ts";
import { startSink, type Sink } from "./sink.ts";
import { firstEvent, storyOf } from "./story.ts";

let cluster: Cluster;
let client: PawlClient;
let sink: Sink;

beforeAll(async () => {
  sink = await startSink({ respond: (name) => (name === "busy" ? 503 : 200) });
  cluster = await sharedCluster();
  client = createPawlClient({ baseUrl: cluster.url });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  await cluster.stop();
  await sink.stop();
});

const start = async (definition: GraphText): Promise<string> =>
  (await client.runs.test(definition)).run.runId;

/** The events an explanation cites, as the log has them. */
const cited = (explanation: Awaited<ReturnType<PawlClient["runs"]["explain"]>>): string[] =>
  explanation.evidence.map(({ type, nodeId }) => `${type} ${nodeId}`);

test("a node of a type that no executor serves says so, and so does its run", async () => {
  const runId = await start(graph(["start > strange > end"], { strange: { type: "rocket" } }));
  const queued = await firstEvent(
    client,
    runId,
    ({ type, nodeId }) => type === "node.queued" && nodeId === "strange",
  );
  const explanation = await client.runs.explain(runId, "strange");
  expect(explanation.reason).toBe(ExplainReason.NO_EXECUTOR);
  expect(explanation.summary).toContain("No connected executor serves type rocket");
  expect(explanation.summary).toContain("1 executor connected");
  expect(explanation.evidence).toMatchObject([
    { eventId: BigInt(queued.eventId), type: "node.queued", nodeId: "strange" },
  ]);
  const { run } = await client.runs.get(runId);
  expect(run.waitingReason).toContain("node strange: No connected executor serves type rocket");
  // The next node waits for it.
  const behind = await client.runs.explain(runId, "end");
  expect(behind.reason).toBe(ExplainReason.WAITING_PARENTS);
  expect(behind.summary).toContain("strange (queued)");
  await client.runs.cancel(runId);
  const over = await client.runs.explain(runId, "strange");
  expect(over.reason).toBe(ExplainReason.CANCELLED);
  expect((await client.runs.get(runId)).run.waitingReason).toBe("");
});

test("a node that is tried again says until when it waits", async () => {
  const busy = call(sink.url("busy"), {
    retry: { attempts: 2, backoff_ms: 600_000, max_backoff_ms: 600_000 },
  });
  const runId = await start(graph(["start > busy > end"], { busy }));
  const retried = await firstEvent(client, runId, ({ type }) => type === "node.retried");
  const explanation = await client.runs.explain(runId, "busy");
  expect(explanation.reason).toBe(ExplainReason.BACKOFF);
  expect(explanation.evidence[0]?.eventId).toBe(BigInt(retried.eventId));
  expect(plainExplanation(explanation)).toMatchObject({ reason: "backoff", status: "queued" });
  // Half of the backoff is spread, so at least five minutes from the event.
  const untilMs = Number(explanation.untilTime?.seconds ?? 0n) * 1_000;
  expect(untilMs).toBeGreaterThan(retried.at + 290_000);
  expect((await client.runs.get(runId)).run.waitingReason).toContain("node busy: Attempt 1");
  await client.runs.cancel(runId);
});

test("a node whose branch was not taken names the condition that decided", async () => {
  const check = {
    type: "condition",
    config: { branches: [{ id: "big", when: "ctx.input.n > 1" }] },
  };
  const definition = graph(["start > check", "check:big > big", "check:else > small"], { check });
  const { run } = await client.runs.test(definition, { input: { n: 5 } });
  const story = await storyOf(client, run.runId);
  const explanation = await client.runs.explain(run.runId, "small");
  expect(explanation.reason).toBe(ExplainReason.UNTAKEN_BRANCH);
  expect(explanation.summary).toContain("check left by big, not by else");
  expect(explanation.evidence.map(({ eventId }) => Number(eventId))).toEqual([
    story.of("node.completed", "check")[0]?.eventId,
    story.of("node.skipped", "small")[0]?.eventId,
  ]);
});

test("a running node names who holds its lease, and its child what it waits for", async () => {
  const runId = await start(graph(["start > held > end"], { held: call(sink.url("hold")) }));
  const started = await firstEvent(
    client,
    runId,
    ({ type, nodeId }) => type === "node.started" && nodeId === "held",
  );
  const explanation = await client.runs.explain(runId, "held");
  expect(explanation.reason).toBe(ExplainReason.RUNNING);
  expect(explanation.summary).toContain(`under epoch ${started.eventId}`);
  expect(explanation.untilTime).toBeDefined();
  expect(cited(explanation)).toEqual(["node.started held"]);
  const child = await client.runs.explain(runId, "end");
  expect(child.reason).toBe(ExplainReason.WAITING_PARENTS);
  expect(child.summary).toContain("held (running)");
  expect(child.evidence.map(({ eventId }) => Number(eventId))).toEqual([started.eventId]);
  (await sink.received("hold")).answer(200);
  expect((await storyOf(client, runId)).status).toBe("completed");
  await until(
    async () =>
      (await client.runs.explain(runId, "held")).reason === ExplainReason.COMPLETED || undefined,
    { what: "the settled node to be explained as completed" },
  );
});

test("the effects of a run are listed with key, class and state, page by page", async () => {
  const definition = graph(["start > one > two > end"], {
    one: call(sink.url("one")),
    two: call(sink.url("hold-effect")),
  });
  const runId = await start(definition);
  const held = await sink.received("hold-effect");
  const first = await client.runs.effects(runId, { pageSize: 1 });
  expect(first.effects).toMatchObject([
    { nodeId: "one", key: `${runId}/one/0`, effectClass: "idempotent", attempt: 1 },
  ]);
  expect(first.effects[0]?.state).toBe(EffectState.COMMITTED);
  expect(first.effects[0]?.commitTime).toBeDefined();
  const { nextPageToken: pageToken } = first;
  const rest = await client.runs.effects(runId, { pageSize: 1, pageToken });
  expect(rest.effects).toMatchObject([{ nodeId: "two", state: EffectState.BEGUN }]);
  expect(rest.effects[0]?.commitTime).toBeUndefined();
  expect(rest.nextPageToken).toBe("");
  const refused = { reason: "INPUT_INVALID" };
  await expect(client.runs.effects(runId, { nodeId: "two", pageToken })).rejects.toMatchObject(
    refused,
  );
  held.answer(200);
  expect((await storyOf(client, runId)).status).toBe("completed");
  const { effects } = await client.runs.effects(runId, { nodeId: "two" });
  expect(effects).toMatchObject([{ nodeId: "two", state: EffectState.COMMITTED }]);
});

test("a node that does not exist is refused", async () => {
  const runId = await start(graph(["start > end"]));
  await expect(client.runs.explain(runId, "nobody")).rejects.toMatchObject({
    reason: "NODE_NOT_FOUND",
  });
});
