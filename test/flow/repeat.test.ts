// Maps and loops through the public API of a real trio: one execution per item, each with its own iteration.
import { createPawlClient, type PawlClient } from "@pawl/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Cluster } from "../support/cluster.ts";
import { sharedCluster } from "../support/shared-cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { graph, type NodeText } from "./graph.ts";
import { startSink, type Sink } from "./sink.ts";
import { firstEvent, runGraph, storyOf, type Story } from "./story.ts";

let cluster: Cluster;
let client: PawlClient;
let sink: Sink;

beforeAll(async () => {
  sink = await startSink({
    respond: (name, nth) => (name.startsWith("once") && nth === 1 ? 503 : 200),
  });
  cluster = await sharedCluster();
  client = createPawlClient({ baseUrl: cluster.url });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
  await cluster.stop();
  await sink.stop();
});

const map = (config: NodeText, more: NodeText = {}): NodeText => ({
  type: "map",
  config: { items: "{{ ctx.input.items }}", ...config },
  ...more,
});
const scripted = (code: string, more: NodeText = {}) => ({
  type: "javascript",
  config: { code },
  ...more,
});
const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

/** How many iterations of a node were queued and not settled, at most. */
function mostAtOnce(story: Story, nodeId: string): number {
  const open = new Set<number>();
  let most = 0;
  for (const event of story.events) {
    if (event.nodeId !== nodeId || event.iteration === 0) continue;
    if (event.type === "node.queued") open.add(event.iteration);
    if (/^node\.(completed|failed|timed_out|cancelled)$/.test(event.type))
      open.delete(event.iteration);
    most = Math.max(most, open.size);
  }
  return most;
}

test("a map runs its body once per item, four at a time, and gives the results in order (S3.30)", async () => {
  const story = await runGraph(
    client,
    graph(["start > each:loop > after", "each:done > never"], {
      each: map({ body: scripted("return ctx.item * 2 + ctx.index"), parallelism: 4 }),
      after: { type: "javascript", config: { code: "return ctx.nodes.each.length" } },
    }),
    { items: numbers(25) },
  );
  expect(story.status).toBe("completed");
  expect(story.outputOf("each")).toEqual(numbers(25).map((n) => n * 3));
  expect(story.outputOf("after")).toBe(25);
  expect(story.nodes).toMatchObject({
    each: "completed",
    "each#25": "completed",
    never: "skipped",
  });
  expect(mostAtOnce(story, "each")).toBe(4);
  const completed = story.of("node.completed", "each").map(({ iteration }) => iteration);
  expect(completed.toSorted((a, b) => a - b)).toEqual(numbers(26));
  expect(story.of("node.expanded")[0]?.payload).toMatchObject({ width: 25, items: numbers(25) });
});

test("a map without items is done at once (S3.30)", async () => {
  const story = await runGraph(
    client,
    graph(["start > each:loop > never", "each:done > after", "each > always"], {
      each: map({ body: scripted("return 1") }),
    }),
    { items: [] },
  );
  expect(story.status).toBe("completed");
  expect(story.outputOf("each")).toEqual([]);
  expect(story.nodes).toMatchObject({ never: "skipped", after: "completed", always: "completed" });
});

test("an item that fails is tried again by the body's own policy (S3.30, S1.26)", async () => {
  const url = `${sink.url("once")}-{{item}}`;
  const body = {
    type: "http",
    config: { url, method: "POST" },
    retry: { attempts: 2, backoff_ms: 0 },
  };
  const story = await runGraph(client, graph(["start > each"], { each: map({ body }) }), {
    items: ["a", "b"],
  });
  expect(story.status).toBe("completed");
  expect(
    story
      .of("node.retried", "each")
      .map(({ iteration }) => iteration)
      .toSorted((a, b) => a - b),
  ).toEqual([1, 2]);
  expect(sink.calls.filter(({ name }) => name.startsWith("once-"))).toHaveLength(4);
});

const failing = scripted("if (ctx.item === 2) throw new Error('no twos'); return ctx.item");

test("one item that fails for good fails the map, and the rest is never queued (S3.30)", async () => {
  const story = await runGraph(
    client,
    graph(["start > each > after"], { each: map({ body: failing, parallelism: 1 }) }),
    { items: [1, 2, 3, 4] },
  );
  expect(story.status).toBe("failed");
  expect(story.of("node.failed", "each").at(-1)?.payload).toMatchObject({ cause: "item_failed" });
  expect(JSON.stringify(story.of("node.failed", "each").at(-1)?.payload)).toContain("iteration 2");
  expect(story.nodes).toMatchObject({ each: "failed", "each#2": "failed", after: "failed" });
  expect(story.nodes).not.toHaveProperty("each#3");
});

test("with on_item_failure continue a failed item gives null, and the run says that something failed (S3.30)", async () => {
  const body = failing;
  const story = await runGraph(
    client,
    graph(["start > each > after"], { each: map({ body, on_item_failure: "continue" }) }),
    { items: [1, 2, 3] },
  );
  expect(story.status).toBe("completed");
  expect(story.run.hasFailures).toBe(true);
  expect(story.outputOf("each")).toEqual([1, null, 3]);
});

test("items that are no list, and too many of them, fail the node by name (S3.30)", async () => {
  const definition = graph(["start > each"], { each: map({ body: { type: "noop" } }) });
  const notAList = await runGraph(client, definition, { items: "text" });
  expect(notAList.of("node.failed", "each")[0]?.payload).toMatchObject({ cause: "config_invalid" });
  const tooMany = await runGraph(client, definition, { items: numbers(10_001) });
  expect(tooMany.of("node.failed", "each")[0]?.payload).toMatchObject({ cause: "too_many_items" });
});

test("a loop repeats until its condition holds, each iteration seeing the one before (S3.30, X13)", async () => {
  const body = scripted("return (ctx.previous ?? 1) * 2");
  const story = await runGraph(
    client,
    graph(["start > double > after"], {
      double: { type: "loop", config: { body, until: "output >= 16.0 && index < 10" } },
    }),
  );
  expect(story.status).toBe("completed");
  expect(story.outputOf("double")).toEqual([2, 4, 8, 16]);
  expect(mostAtOnce(story, "double")).toBe(1);
});

test("a loop over a number of times, and one that never ends (S3.30, X13)", async () => {
  const story = await runGraph(
    client,
    graph(["start > thrice", "start > endless", "start > many"], {
      thrice: {
        type: "loop",
        config: { times: "{{ ctx.input.n }}", body: scripted("return ctx.index") },
      },
      endless: {
        type: "loop",
        config: { until: "false", max_iterations: 3, body: { type: "noop" } },
      },
      many: { type: "loop", config: { times: 60, body: { type: "noop" } } },
    }),
    { n: 3 },
  );
  expect(story.outputOf("thrice")).toEqual([0, 1, 2]);
  expect(story.nodes).toMatchObject({ endless: "failed", many: "failed" });
  const causes = story.of("node.failed").map(({ payload }) => (payload as { cause: string }).cause);
  expect(causes).toEqual(["max_iterations", "max_iterations"]);
});

test("cancelling a run cancels the iterations under way in the same tick (S3.30, S1.38)", async () => {
  const url = `${sink.url("hold")}-{{index}}`;
  const body = { type: "http", config: { url, method: "POST" } };
  const definition = graph(["start > each"], { each: map({ body, parallelism: 3 }) });
  const { run } = await client.runs.test(definition, { input: { items: numbers(10) } });
  const held = await Promise.all(numbers(3).map((index) => sink.received(`hold-${index}`)));
  await client.runs.cancel(run.runId, { reason: "enough" });
  const story = await storyOf(client, run.runId);
  expect(story.status).toBe("cancelled");
  const cancelled = story.of("node.cancelled", "each").map(({ iteration }) => iteration);
  expect(cancelled.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3]);
  await Promise.all(held.map(({ hungUp }) => hungUp));
});

test("a map whose run passes its deadline is cancelled with its iterations (S3.30, S1.40)", async () => {
  const body = {
    type: "http",
    config: { url: `${sink.url("hold-late")}-{{index}}`, method: "POST" },
  };
  const definition = { ...graph(["start > each"], { each: map({ body }) }), deadline_ms: 1_500 };
  const { run } = await client.runs.test(definition, { input: { items: [1, 2] } });
  await firstEvent(client, run.runId, ({ type }) => type === "run.timed_out");
  const story = await storyOf(client, run.runId);
  expect(story.nodes).toEqual({
    start: "completed",
    each: "cancelled",
    "each#1": "cancelled",
    "each#2": "cancelled",
  });
});
