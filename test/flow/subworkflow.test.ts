// Child runs through the public API of a real trio with two schedulers: linked both ways, ended and cancelled together.
import { createPawlClient, type PawlClient } from "@pawl/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { broken, call, graph, type GraphText, type NodeText } from "./graph.ts";
import { SINK_EGRESS, startSink, type Sink } from "./sink.ts";
import { firstEvent, runGraph, storyOf, type Story } from "./story.ts";

let cluster: Cluster;
let client: PawlClient;
let sink: Sink;

beforeAll(async () => {
  sink = await startSink();
  cluster = await startCluster({ schedulers: 2, executors: 2, env: SINK_EGRESS });
  client = createPawlClient({ baseUrl: cluster.url });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  const faults = await checkInvariants(cluster.databaseUrl);
  await cluster.stop();
  await sink.stop();
  expect(faults).toEqual([]);
});

const sub = (workflowId: string, more: NodeText = {}, config: object = {}): NodeText => ({
  type: "subworkflow",
  config: { workflow_id: workflowId, ...config },
  ...more,
});
const save = (workflowId: string, definition: GraphText) =>
  client.workflows.create(definition, { workflowId });

/** The run a node waits or waited for. */
function childOf(story: Story, nodeId: string, iteration = 0): string {
  const blocked = story.of("node.blocked", nodeId).find((event) => event.iteration === iteration);
  return (blocked?.payload as { childRunId?: string } | undefined)?.childRunId ?? "";
}
const causeOf = (story: Story, nodeId: string): unknown =>
  story.of("node.failed", nodeId)[0]?.payload;

test("a subworkflow gives its run's output, and the two are linked both ways (S3.30)", async () => {
  await save(
    "double",
    graph(["start > twice > end"], {
      twice: { type: "javascript", config: { code: "return ctx.input.n * 2" } },
      end: { config: { output_parameters: { result: "{{ ctx.nodes.twice }}" } } },
    }),
  );
  const story = await runGraph(
    client,
    graph(["start > nested > after"], {
      nested: sub("double", {}, { input: { n: "{{ ctx.input.n }}" } }),
    }),
    { n: 21 },
  );
  expect(story.status).toBe("completed");
  expect(story.outputOf("nested")).toEqual({ result: 42 });
  expect(story.of("node.blocked", "nested")[0]?.payload).toMatchObject({ reason: "child_run" });
  const child = await storyOf(client, childOf(story, "nested"));
  expect(child.run).toMatchObject({ parentRunId: story.runId, parentNodeId: "nested" });
  expect(child.output).toEqual({ result: 42 });
  const { runs } = await client.runs.list({ workflowId: "double" });
  expect(runs.map(({ parentRunId }) => parentRunId)).toEqual([story.runId]);
});

test("a child that fails fails its node, which leaves by its error edge if it has one (S3.30, S3.33)", async () => {
  await save("failing", graph(["start > bad"], { bad: broken() }));
  const story = await runGraph(
    client,
    graph(["start > hard", "start > soft:error > after"], {
      hard: sub("failing"),
      soft: sub("failing"),
    }),
  );
  expect(story.status).toBe("failed");
  expect(causeOf(story, "hard")).toMatchObject({ cause: "child_failed" });
  expect(JSON.stringify(causeOf(story, "hard"))).toContain(childOf(story, "hard"));
  expect(story.nodes).toMatchObject({ hard: "failed", soft: "completed", after: "completed" });
});

test("a child that fails is begun again as a new run where the policy says so (S1.26)", async () => {
  const story = await runGraph(
    client,
    graph(["start > nested"], {
      nested: sub("failing", { retry: { attempts: 2, backoff_ms: 0 } }),
    }),
  );
  const children = story.of("node.blocked", "nested").map(({ payload }) => payload);
  expect(new Set(children.map((payload) => JSON.stringify(payload))).size).toBe(2);
  expect(story.status).toBe("failed");
});

test("cancelling the parent cancels the child and what it runs, in the same tick (S3.30, S1.38)", async () => {
  await save("held", graph(["start > wait"], { wait: call(sink.url("hold-child")) }));
  await save("middle", graph(["start > inner"], { inner: sub("held") }));
  const { run } = await client.runs.test(graph(["start > outer"], { outer: sub("middle") }));
  const held = await sink.received("hold-child");
  await client.runs.cancel(run.runId, { reason: "enough" });
  const story = await storyOf(client, run.runId);
  const middle = await storyOf(client, childOf(story, "outer"));
  const inner = await storyOf(client, childOf(middle, "inner"));
  expect([story.status, middle.status, inner.status]).toEqual(Array(3).fill("cancelled"));
  expect(middle.events.at(-1)?.at).toBe(story.events.at(-1)?.at);
  expect(inner.events.at(-1)?.at).toBe(story.events.at(-1)?.at);
  await held.hungUp;
});

test("a child that is cancelled by itself fails the node that waits for it", async () => {
  await save("held-alone", graph(["start > wait"], { wait: call(sink.url("hold-alone")) }));
  const { run } = await client.runs.test(
    graph(["start > outer"], { outer: sub("held-alone", { retry: { attempts: 3 } }) }),
  );
  await sink.received("hold-alone");
  const { runs } = await client.runs.list({ workflowId: "held-alone" });
  await client.runs.cancel(runs[0]?.runId ?? "", { reason: "not needed" });
  const story = await storyOf(client, run.runId);
  expect(story.status).toBe("failed");
  expect(causeOf(story, "outer")).toMatchObject({ cause: "child_failed" });
  expect(story.of("node.blocked")).toHaveLength(1);
});

test("a child whose own deadline passes fails its node, and one never outlives its parent's (S3.30, S1.40)", async () => {
  const wait = call(sink.url("hold-deadline"));
  await save("brief", { ...graph(["start > wait"], { wait }), deadline_ms: 800 } as GraphText);
  const story = await runGraph(client, graph(["start > outer"], { outer: sub("brief") }));
  expect(causeOf(story, "outer")).toMatchObject({ cause: "child_failed" });
  await save("patient", graph(["start > wait"], { wait }));
  const definition = { ...graph(["start > outer"], { outer: sub("patient") }), deadline_ms: 1_000 };
  const late = await runGraph(client, definition);
  expect(late.status).toBe("timeout");
  const child = await storyOf(client, childOf(late, "outer"));
  expect(["cancelled", "timeout"]).toContain(child.status);
});

test("a map over a subworkflow runs one child per item, in order (S3.30)", async () => {
  await save(
    "square",
    graph(["start > work > end"], {
      work: { type: "javascript", config: { code: "return ctx.input.n ** 2" } },
      end: { config: { output_parameters: { n: "{{ ctx.nodes.work }}" } } },
    }),
  );
  const body = sub("square", {}, { input: { n: "{{ item }}" } });
  const items = [1, 2, 3, 4, 5, 6];
  const story = await runGraph(
    client,
    graph(["start > each"], {
      each: { type: "map", config: { items, body, parallelism: 3 } } as NodeText,
    }),
  );
  expect(story.status).toBe("completed");
  expect(story.outputOf("each")).toEqual(items.map((n) => ({ n: n ** 2 })));
  const { run } = await client.runs.get(childOf(story, "each", 4));
  expect(run).toMatchObject({ parentRunId: story.runId, parentNodeId: "each", parentIteration: 4 });
});

test("a workflow that is not there, and one that starts itself for ever, fail by name (S3.30, D25)", async () => {
  const missing = await runGraph(client, graph(["start > outer"], { outer: sub("nowhere") }));
  expect(causeOf(missing, "outer")).toMatchObject({ cause: "workflow_not_found" });
  await save("endless", graph(["start > again"], { again: sub("endless") }));
  const story = await runGraph(client, graph(["start > outer"], { outer: sub("endless") }));
  expect(story.status).toBe("failed");
  const { runs } = await client.runs.list({ workflowId: "endless" });
  expect(runs).toHaveLength(10);
  const deepest = await storyOf(client, runs[0]?.runId ?? "");
  expect(causeOf(deepest, "again")).toMatchObject({ cause: "too_deep" });
});

test("a child run pauses for its budget like its parent, and its top-up raises the parent too (S2.21, X27)", async () => {
  await save("three-steps", graph(["a > b > c"]));
  const definition = {
    ...graph(["start > paid > end"], { paid: sub("three-steps") }),
    budget: { node_executions: 3, on_exceeded: "pause" },
  };
  const { run } = await client.runs.test(JSON.stringify(definition));
  const blocked = await firstEvent(client, run.runId, ({ type }) => type === "node.blocked");
  const { childRunId } = blocked.payload as { readonly childRunId: string };
  const isPaused = ({ payload }: { readonly payload: unknown }) =>
    (payload as { to?: string }).to === "paused";
  await firstEvent(client, childRunId, isPaused);
  await client.runs.topUp(childRunId, { nodeExecutions: 1 }, { requestId: "one" });
  await client.runs.topUp(childRunId, { nodeExecutions: 1 }, { requestId: "one" });
  const story = await storyOf(client, run.runId);
  expect(story.status).toBe("completed");
  expect(story.of("run.budget.raised")).toMatchObject([
    { nodeId: "paid", payload: { amounts: { nodeExecutions: 1 } } },
  ]);
  expect(story.run).toMatchObject({
    budget: { nodeExecutions: 4n },
    usage: { nodeExecutions: 4n, reserved: { nodeExecutions: 0n } },
  });
});
