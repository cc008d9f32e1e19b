// Contexts that are large and many. Every message on the work stream stays below its limit, however much a tick hands out at once. A node
// whose context fits into no message fails with a named cause. The memory that a scheduler keeps for an executor is bounded.
import { readFileSync } from "node:fs";
import { createPawlClient, type PawlClient } from "@pawl/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { graph, names, script } from "./graph.ts";
import { runGraph, type Story } from "./story.ts";

let cluster: Cluster;
let client: PawlClient;

beforeAll(async () => {
  cluster = await startCluster();
  client = createPawlClient({ baseUrl: cluster.url });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs().slice(-20_000))));
afterAll(async () => {
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
  // Nothing broke a stream: a message above the limit does.
  for (const executor of cluster.executors)
    expect(executor.logs().match(/"msg":"registered"/g)).toHaveLength(1);
  await cluster.stop();
});

/** Reads all of its context and does nothing with it. */
const reader = { type: "condition", config: { branches: [{ id: "never", when: "false" }] } };

/** A map of `width` iterations. Each reads the template `zeros` as its delay, which is 0 ms. */
const map = (width: number, zeros: string, parallelism: number) => ({
  type: "map",
  config: {
    items: Array.from({ length: width }, (_, index) => index),
    body: { type: "delay", config: { delay_ms: zeros } },
    parallelism,
  },
});

/** Twenty nodes beside each other that all read what `start` gives. */
const readers = (node: object): object =>
  Object.fromEntries(names("m", 20).map((id) => [id, node]));

function expectUnhurt(story: Story): void {
  expect(story.status).toBe("completed");
  expect(story.of("run.recovered")).toEqual([]);
}

test("twenty nodes that each read 200 KB complete, and so do the runs beside them, without a lost delivery", async () => {
  const input = { text: "x".repeat(200_000) };
  const paths = names("m", 20).map((id) => `start > ${id}`);
  const small = graph(["start > a > b"], { a: script("return 1"), b: script("return 2") });
  const stories = await Promise.all([
    runGraph(client, graph(paths, { ...readers(reader) }), input),
    runGraph(client, graph(paths, { ...readers(script("return ctx.input.text.length")) }), input),
    ...names("innocent", 10).map(() => runGraph(client, small)),
  ]);
  for (const story of stories) expectUnhurt(story);
  expect(stories[1]?.outputOf("m20")).toBe(200_000);
});

test("a node whose definition and context fit no message fails by name, and the run beside it completes", async () => {
  // Every edge is small; with the label of its source beside each, the node's own text takes ten megabytes.
  const edges = Array.from({ length: 25_000 }, (_, index) => ({
    source: "start",
    target: "wide",
    target_param_label: `p${index}`,
  }));
  const wide = {
    nodes: [
      { id: "start", type: "start", label: "s".repeat(200) },
      { id: "wide", type: "noop" },
    ],
    edges,
  };
  const [story, beside] = await Promise.all([
    runGraph(client, wide),
    runGraph(client, graph(["start > a"], { a: script("return 1") })),
  ]);
  expectUnhurt(beside);
  expect(story.status).toBe("failed");
  const [failure] = story.of("node.failed", "wide");
  expect(failure?.payload).toMatchObject({ cause: "node_too_large" });
  expect(JSON.stringify(failure?.payload)).toMatch(/\d{7,8} bytes/);
  expect(story.of("run.recovered")).toEqual([]);
  expect(cluster.schedulers[0]?.logs()).toMatch(/"level":"warn".*node_too_large/);
});

test("a map of three thousand whose iterations each read 20 KB completes", async () => {
  const each = map(3_000, "{{ ctx.input.zero }}", 1_000);
  const input = { zero: 0, text: "x".repeat(20_000) };
  const story = await runGraph(client, graph(["start > each"], { each }), input);
  expectUnhurt(story);
  expect(story.of("node.completed", "each")).toHaveLength(3_001);
}, 120_000);

test("two hundred and fifty-six contexts of almost 2 MiB leave a scheduler small", async () => {
  const parents = names("p", 7);
  const big = script('return { zero: 0, text: "x".repeat(250_000) }');
  const each = map(256, parents.map((id) => `{{ ctx.nodes.${id}.zero }}`).join(""), 256);
  const story = await runGraph(
    client,
    graph(
      parents.map((id) => `start > ${id} > each`),
      { ...Object.fromEntries(parents.map((id) => [id, big])), each },
    ),
  );
  expectUnhurt(story);
  expect(story.of("node.completed", "each")).toHaveLength(257);
  const peak = peakMiB(cluster.schedulers[0]?.pid ?? 0);
  expect(peak).toBeLessThan(400);
}, 120_000);

/** The most memory a process has had at once. */
function peakMiB(pid: number): number {
  const [, kib = ""] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kib) / 1024;
}
