// Whole runs of every shape, through the public API of a real trio.
import { createPawlClient, isFinalStatus, type Json, type PawlClient } from "@pawl/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Cluster, IS_QUEUED } from "../support/cluster.ts";
import { sharedCluster } from "../support/shared-cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { broken, call, graph, type GraphText, names, script } from "./graph.ts";
import { startSink, type Sink } from "./sink.ts";
import { firstEvent, runGraph, storyOf, type Story } from "./story.ts";

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
  await cluster.stop();
  await sink.stop();
});

/** The ids that glue nodes have in these graphs. */
const GLUE_IDS: ReadonlySet<string> = new Set(["start", "end", "check", "wait"]);

/** Every node completed, each once. The scheduler completes glue nodes itself; executors ran the others, each once. */
function expectEachOnce(story: Story, ids: readonly string[]): void {
  expect(story.status).toBe("completed");
  const idsOf = (type: string): string[] =>
    story
      .of(type)
      .map(({ nodeId }) => nodeId)
      .toSorted();
  expect(idsOf("node.completed")).toEqual([...ids].toSorted());
  const stepIds = ids.filter((id) => IS_QUEUED || !GLUE_IDS.has(id)).toSorted();
  for (const type of ["node.queued", "node.started"]) expect(idsOf(type), type).toEqual(stepIds);
}

const seqOf = (story: Story, type: string, nodeId: string): number =>
  story.of(type, nodeId)[0]?.eventId ?? Number.NaN;

test("a join with late: cancel aborts the branch that lost, in its handler (S3.21, S1.38, X11)", async () => {
  const story = await runGraph(
    client,
    graph(["start > slow > first > end", "start > quick > first"], {
      slow: {
        type: "text_stream",
        config: { text: "x".repeat(600), chunk_chars: 1, interval_ms: 100 },
      },
      first: { join: "any", late: "cancel" },
    }),
  );
  expect(story.status).toBe("completed");
  expect(story.of("node.cancelled").map(({ nodeId }) => nodeId)).toEqual(["slow"]);
  expect(story.of("node.completed", "slow")).toEqual([]);
});

test("a linear run passes values from node to node and gives its end's output (S1.1, S1.10, S1.14, S3.24, S3.25, S3.48)", async () => {
  const story = await runGraph(
    client,
    graph(["start > double > text > end"], {
      double: script("return { value: ctx.input.n * 2 }", { output_variable: "doubled" }),
      text: script("return `${ctx.doubled.value}!`"),
      end: {
        config: {
          output_parameters: {
            said: "{{ ctx.nodes.text }}",
            number: "{{ ctx.vars.doubled.value }}",
            mixed: "n={{ ctx.input.n }}",
          },
        },
      },
    }),
    { n: 21 },
  );
  expectEachOnce(story, ["start", "double", "text", "end"]);
  expect(story.outputOf("start")).toEqual({ started: true, inputReceived: { n: 21 } });
  expect(story.output).toEqual({ said: "42!", number: 42, mixed: "n=21" });
  expect(story.events.map(({ eventId }) => eventId)).toEqual(
    story.events.map((_, index) => index + 1),
  );
  expect(story.events.at(-1)?.type).toBe("run.completed");
});

test("a fan-out starts every child without waiting for its siblings (S3.1, S3.22, S3.48)", async () => {
  const ids = names("m", 5);
  const story = await runGraph(client, graph(ids.map((id) => `start > ${id}`)));
  expectEachOnce(story, ["start", ...ids]);
  // All of them were ready in the tick that settled their parent.
  const ready = seqOf(story, "node.completed", "start");
  const firstEnd = Math.min(...ids.map((id) => seqOf(story, "node.completed", id)));
  for (const id of ids) {
    expect(seqOf(story, "node.queued", id)).toBeGreaterThan(ready);
    expect(seqOf(story, "node.queued", id)).toBeLessThan(firstEnd);
  }
});

test("a fan-in waits for all parents and merges what they bring in edge order (S1.14, S1.36, S3.20, S3.48)", async () => {
  const ids = names("m", 3);
  const fan = graph(
    ids.map((id) => `start > ${id} > join`),
    {
      ...Object.fromEntries(ids.map((id) => [id, script(`return "${id}"`)])),
      join: script("return input", { merge: "array" }),
    },
  );
  const edges = fan.edges.map((edge) =>
    edge["target"] === "join" ? { ...edge, target_param_label: "all" } : edge,
  );
  const story = await runGraph(client, { ...fan, edges });
  expectEachOnce(story, ["start", ...ids, "join"]);
  expect(story.outputOf("join")).toEqual({ all: ids });
  for (const id of ids)
    expect(seqOf(story, "node.completed", id)).toBeLessThan(seqOf(story, "node.queued", "join"));
});

test("an edge's merge strategy comes before the target's, which comes before the last value; json_object names the values by label (S1.33, S1.34, S1.35, S1.37)", async () => {
  const readers = ["byEdge", "byNode", "byDefault", "byLabel"];
  const paths = readers.flatMap((id) => [`start > a > ${id}`, `start > b > ${id}`]);
  const both = graph(paths, {
    a: script('return "first"', { label: "One" }),
    b: script("return { n: 2 }", { label: "Two" }),
    byEdge: script("return input.all", { merge: "concat" }),
    byNode: script("return input.all", { merge: "concat" }),
    byDefault: script("return input.all"),
    byLabel: script("return input.all", { merge: "json_object" }),
  });
  const edges = both.edges.map((edge) => ({
    ...edge,
    ...(edge["source"] === "start" ? {} : { target_param_label: "all" }),
    ...(edge["source"] === "a" && edge["target"] === "byEdge" ? { merge_strategy: "array" } : {}),
  }));
  const story = await runGraph(client, { ...both, edges });
  expect(readers.map((id) => story.outputOf(id))).toEqual([
    ["first", { n: 2 }],
    'first\n\n{"n":2}',
    { n: 2 },
    { One: "first", Two: { n: 2 } },
  ]);
});

test("a diamond with join all runs its join once, after both branches (S3.20, S3.48, S3.49)", async () => {
  const story = await runGraph(client, graph(["start > a > join > end", "start > b > join"]));
  expectEachOnce(story, ["start", "a", "b", "join", "end"]);
});

/** Runs a graph one of whose branches is not done before its join is. */
async function runWithSlow(definition: GraphText, held: string): Promise<Story> {
  const { run } = await client.runs.test(definition);
  const slow = await sink.received(held);
  await firstEvent(
    client,
    run.runId,
    ({ type, nodeId }) => type === "node.completed" && nodeId === "join",
  );
  slow.answer(200);
  return await storyOf(client, run.runId);
}

test("a diamond with join any fires once, with the first branch, and a late one changes nothing (S3.21, S3.48)", async () => {
  const story = await runWithSlow(
    graph(["start > quick > join > end", "start > slow > join"], {
      slow: call(sink.url("hold-any")),
      join: { join: "any" },
    }),
    "hold-any",
  );
  expectEachOnce(story, ["start", "quick", "slow", "join", "end"]);
  expect(seqOf(story, "node.completed", "join")).toBeLessThan(
    seqOf(story, "node.completed", "slow"),
  );
});

test("a join of n of m fires once when n branches have led to it (S3.48, X11)", async () => {
  const story = await runWithSlow(
    graph(["start > a > join", "start > b > join", "start > slow > join"], {
      slow: call(sink.url("hold-n")),
      join: { join: { n_of_m: 2 } },
    }),
    "hold-n",
  );
  expectEachOnce(story, ["start", "a", "b", "slow", "join"]);
  const join = seqOf(story, "node.queued", "join");
  expect(join).toBeGreaterThan(seqOf(story, "node.completed", "a"));
  expect(join).toBeGreaterThan(seqOf(story, "node.completed", "b"));
  expect(join).toBeLessThan(seqOf(story, "node.completed", "slow"));
});

test("joins behind joins each run once (S3.48, S3.49)", async () => {
  const story = await runGraph(
    client,
    graph([
      "start > a > left > top > end",
      "start > b > left",
      "start > c > right > top",
      "start > d > right",
    ]),
  );
  expectEachOnce(story, ["start", "a", "b", "c", "d", "left", "right", "top", "end"]);
});

test("a chain of 200 nodes runs to its end (S3.48)", async () => {
  const ids = ["start", ...names("n", 199)];
  const story = await runGraph(client, graph([ids.join(" > ")]));
  expectEachOnce(story, ids);
});

test("a fan of 200 nodes runs each once and its join once (S3.48, S3.49)", async () => {
  const ids = names("m", 200);
  const story = await runGraph(client, graph(ids.map((id) => `start > ${id} > join`)));
  expectEachOnce(story, ["start", ...ids, "join"]);
});

test("a failed node leaves by its handle error with the error as output (S3.33, S3.48)", async () => {
  const story = await runGraph(
    client,
    graph(["start > work > happy", "work:error > rescue > end"], {
      work: broken(),
      rescue: script("return { saw: ctx.nodes.work.error.message }"),
    }),
  );
  expect(story.status).toBe("completed");
  expect(story.run.hasFailures).toBe(true);
  expect(story.nodes).toMatchObject({ work: "completed", happy: "skipped", rescue: "completed" });
  expect(story.output).toEqual({ saw: expect.stringContaining("broken on purpose") });
});

test("a condition takes the first branch whose value is truthy (S3.28)", async () => {
  const branches = [
    { id: "count", when: "ctx.input.count" },
    { id: "some", when: "size(ctx.input.items)" },
    { id: "name", when: "ctx.input.name" },
  ];
  const ids = [...branches.map(({ id }) => id), "else"];
  const definition = graph(
    ids.map((id) => `start > check:${id} > to-${id}`),
    { check: { type: "condition", config: { branches } } },
  );
  const taken = async (input: Json): Promise<Json | undefined> =>
    (await runGraph(client, definition, input)).outputOf("check");
  expect(await taken({ count: 2, items: [], name: "" })).toEqual({ branch: "count" });
  expect(await taken({ count: 0, items: [0], name: "" })).toEqual({ branch: "some" });
  expect(await taken({ count: 0, items: [], name: "0" })).toEqual({ branch: "name" });
  expect(await taken({ count: 0, items: [], name: "" })).toEqual({ branch: "else" });
});

test("a condition leads by its first true branch; the other is skipped and cannot hang a join (S3.28, S3.48, X11)", async () => {
  const definition = graph(
    [
      "start > check",
      "check:large > large > join",
      "check:else > small > deeper > join",
      "join > end",
    ],
    {
      check: {
        type: "condition",
        config: { branches: [{ id: "large", when: "ctx.input.n > 100" }] },
      },
    },
  );
  const large = await runGraph(client, definition, { n: 101 });
  expect(large.status).toBe("completed");
  expect(large.nodes).toMatchObject({
    large: "completed",
    small: "skipped",
    deeper: "skipped",
    join: "completed",
  });
  expect(large.of("node.skipped").map(({ payload }) => payload)).toEqual([
    { reason: "untaken_branch" },
    { reason: "untaken_branch" },
  ]);
  expect(large.of("node.started", "join")).toHaveLength(1);
  const small = await runGraph(client, definition, { n: 1 });
  expect(small.nodes).toMatchObject({ large: "skipped", deeper: "completed", join: "completed" });
});

test("the node after a delay waits for it and never starts early (S3.29, S3.36, S3.48)", async () => {
  const story = await runGraph(
    client,
    graph(["start > pause > after"], { pause: { type: "delay", config: { delay_ms: 700 } } }),
  );
  expect(story.status).toBe("completed");
  const [paused] = story.of("node.completed", "pause");
  const [after] = story.of("node.started", "after");
  expect((after?.at ?? 0) - (paused?.at ?? 0)).toBeGreaterThanOrEqual(700);
});

test("every shape came to its end, and the log of each holds (S3.2, S3.52)", async () => {
  const { runs } = await client.runs.list({ pageSize: 200 });
  expect(runs.length).toBeGreaterThanOrEqual(13);
  expect(runs.filter(({ status }) => !isFinalStatus(status))).toEqual([]);
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
});
