// Loop edges through the public API of a real trio: rounds, their bounds, and what a round that ends takes with it.
import { createPawlClient, type PawlClient } from "@pawl/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Cluster } from "../support/cluster.ts";
import { sharedCluster } from "../support/shared-cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { call, graph, type GraphText, type NodeText, script } from "./graph.ts";
import { startSink, type Sink } from "./sink.ts";
import { firstEvent, runGraph, storyOf } from "./story.ts";

let cluster: Cluster;
let client: PawlClient;
let sink: Sink;

beforeAll(async () => {
  sink = await startSink();
  cluster = await sharedCluster();
  client = createPawlClient({ baseUrl: cluster.url });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
  await cluster.stop();
  await sink.stop();
});

/** A graph whose condition `judge` leads back to `target` by `again`. */
const looping = (text: GraphText, target: string, more: NodeText = {}): GraphText => ({
  ...text,
  edges: [
    ...text.edges,
    {
      source: "judge",
      target,
      source_handle: "again",
      loop: true,
      ...more,
    },
  ],
});

const judge = (when: string): NodeText => ({
  type: "condition",
  config: { branches: [{ id: "again", when }] },
});

/** Counts its own rounds: its output variable keeps the value of the round before. */
const count = script("return (ctx.count ?? 0) + 1", { output_variable: "count" });

test("a loop runs five times and ends, the nodes behind it run once, and GetRun shows the last round (S2.9, X13)", async () => {
  const text = graph(["start > count > judge:else > after > end", "start > side > after"], {
    count,
    judge: judge("ctx.nodes.count < 5"),
  });
  const story = await runGraph(client, looping(text, "count"));
  expect(story.status).toBe("completed");
  expect(story.outputOf("count")).toBe(5);
  const rounds = story.of("node.completed", "count").map(({ iteration }) => iteration);
  expect(rounds).toEqual([0, 1, 2, 3, 4]);
  expect(story.of("node.completed", "after")).toHaveLength(1);
  expect(story.of("node.invalidated", "count")).toHaveLength(4);
  const node = story.run.nodes.find(({ nodeId }) => nodeId === "count");
  expect(node).toMatchObject({ iteration: 4, round: 4, item: 0 });
});

test("a run that repeats more often than max_iterations fails with that cause (S2.10)", async () => {
  const text = looping(
    graph(["start > work > judge:else > end"], { judge: judge("true") }),
    "work",
  );
  const own = { ...text, max_iterations: 3 } as GraphText;
  const story = await runGraph(client, own);
  expect(story.status).toBe("failed");
  expect(story.of("run.failed")[0]?.payload).toMatchObject({
    cause: "max_iterations",
    failedNodeId: "judge",
  });
  expect(story.of("node.completed", "work")).toHaveLength(4);
  expect(story.nodes).toMatchObject({ end: "cancelled" });
  // The caller may set another bound.
  const { run } = await client.runs.test(own, { maxIterations: 1 });
  expect((await storyOf(client, run.runId)).of("node.completed", "work")).toHaveLength(2);
  const tooMany = client.runs.test(own, { maxIterations: 10_001 });
  await expect(tooMany).rejects.toMatchObject({ reason: "INPUT_INVALID" });
});

test("a map in a loop runs its items again, and every execution has an effect key of its own (S3.30, X13)", async () => {
  const config = {
    url: `${sink.url("each")}-{{item}}`,
    method: "POST",
    idempotency_key_header: "Idempotency-Key",
  };
  const text = graph(["start > each > judge:else > end"], {
    each: { type: "map", config: { items: ["x", "y"], body: { type: "http", config } } },
    judge: judge("true"),
  });
  const story = await runGraph(client, {
    ...looping(text, "each"),
    max_iterations: 2,
  } as GraphText);
  expect(story.status).toBe("failed");
  const done = story.of("node.completed", "each").map(({ iteration }) => iteration);
  expect(done.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  const keys = sink.calls
    .filter(({ name }) => name.startsWith("each-"))
    .map((each) => each.idempotencyKey);
  expect(keys).toHaveLength(6);
  expect(new Set(keys).size).toBe(6);
});

test("a branch that leads back cancels the work of the other branches, and that work is done again (X13)", async () => {
  const text = graph(["start > count > slow > end", "count > gate > judge:else > end"], {
    count,
    slow: call(sink.url("hold-branch")),
    gate: call(sink.url("hold-gate")),
    judge: judge("ctx.nodes.gate.status == 200 && ctx.vars.count < 2"),
  });
  const { run } = await client.runs.test(looping(text, "count"));
  const first = await sink.received("hold-branch");
  (await sink.received("hold-gate")).answer(200);
  await first.hungUp;
  (await sink.received("hold-branch", 2)).answer(200);
  (await sink.received("hold-gate", 2)).answer(200);
  const story = await storyOf(client, run.runId);
  expect(story.status).toBe("completed");
  const cancelled = story.of("node.cancelled").map(({ nodeId, iteration }) => [nodeId, iteration]);
  expect(cancelled).toEqual([["slow", 0]]);
  expect(story.of("node.completed", "slow").map(({ iteration }) => iteration)).toEqual([1]);
});

test("a person rejects a draft twice, and each round asks under an iteration of its own", async () => {
  const text = graph(["start > count > ask:approved > end"], {
    count,
    ask: { type: "approval", config: { message: "Good?" } },
  });
  const back = { source: "ask", target: "count", source_handle: "rejected", loop: true };
  const { run } = await client.runs.test({ ...text, edges: [...text.edges, back] });
  for (const [iteration, isGood] of [false, false, true].entries()) {
    await firstEvent(
      client,
      run.runId,
      (event) => event.type === "node.blocked" && event.iteration === iteration,
    );
    const { approvals } = await client.approvals.list({ runId: run.runId });
    const open = approvals.find((each) => each.iteration === iteration);
    expect(open).toMatchObject({ nodeId: "ask" });
    // DecideNode names the node only: it means the present round.
    if (iteration === 1) await client.runs.decide(run.runId, "ask", "reject");
    else if (isGood) await client.approvals.approve(open?.approvalId ?? "");
    else await client.approvals.reject(open?.approvalId ?? "");
  }
  const story = await storyOf(client, run.runId);
  expect(story.status).toBe("completed");
  expect(story.outputOf("count")).toBe(3);
});

test("two runs whose loops share a limit of 1 run one iteration at a time, of a loop node and of a loop edge (S3.30)", async () => {
  const limited = { concurrency: { key: "one", limit: 1 } };
  const body = { type: "javascript", config: { code: "return 1" } };
  const text = graph(["start > each > count > judge:else > end"], {
    each: { type: "loop", config: { times: 5, body }, ...limited },
    count: { ...count, ...limited },
    judge: judge("ctx.nodes.count < 5"),
  });
  await client.workflows.create(looping(text, "count"), { workflowId: "loops-in-turn" });
  const started = [1, 2].map(() => client.runs.start("loops-in-turn"));
  const runIds = (await Promise.all(started)).map(({ run }) => run.runId);
  const stories = await Promise.all(runIds.map((runId) => storyOf(client, runId)));
  const spans = stories.flatMap((story) => {
    expect(story.status, story.run.errorMessage).toBe("completed");
    return story
      .of("node.started")
      .filter(({ nodeId, iteration }) => nodeId === "count" || iteration > 0)
      .map((from) => ({
        from: from.at,
        to: story
          .of("node.completed", from.nodeId)
          .find(({ iteration }) => iteration === from.iteration)?.at,
      }));
  });
  expect(spans).toHaveLength(20);
  const inTurn = spans.toSorted((one, other) => one.from - other.from);
  for (const [at, { from }] of inTurn.slice(1).entries())
    expect(from).toBeGreaterThanOrEqual(inTurn[at]?.to ?? Infinity);
});
