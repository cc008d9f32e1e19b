// The interfaces of a node's life, through the public API of a real trio: where its template comes from, how its result is written, and
// which events end a wait between two attempts.
import { createPawlClient, type PawlClient } from "@pawl/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Cluster } from "../support/cluster.ts";
import { sharedCluster } from "../support/shared-cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { call, graph, script } from "./graph.ts";
import { startSink, type Sink } from "./sink.ts";
import { firstEvent, runGraph, storyOf } from "./story.ts";

let cluster: Cluster;
let client: PawlClient;
let sink: Sink;

beforeAll(async () => {
  sink = await startSink({ respond: () => 503 });
  cluster = await sharedCluster();
  client = createPawlClient({ baseUrl: cluster.url });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  await cluster.stop();
  await sink.stop();
});

test("a node's template comes with the version of the definition it runs, whatever is saved meanwhile (S1.4, S1.5)", async () => {
  const greeting = (text: string) => ({
    id: "greeter",
    ...graph(["start > wait > say"], {
      wait: { type: "delay", config: { delay_ms: 300 } },
      say: { type: "text_stream", config: { text: `${text} {{ ctx.input }}` } },
    }),
  });
  await client.workflows.apply(greeting("Good morning"));
  const { run } = await client.runs.start("greeter", { input: "Ada" });
  await client.workflows.apply(greeting("Good night"));
  expect((await storyOf(client, run.runId)).outputOf("say")).toEqual({ text: "Good morning Ada" });
  const later = await client.runs.start("greeter", { input: "Ada" });
  const story = await storyOf(client, later.run.runId);
  expect(story.outputOf("say")).toEqual({ text: "Good night Ada" });
});

test("a node's result is written by the log alone: reads agree with its events (S1.6)", async () => {
  const story = await runGraph(client, graph(["start > a"], { a: script("return { n: 1 }") }));
  const [completed] = story.of("node.completed", "a");
  expect(completed?.payload).toMatchObject({ output: story.outputOf("a") });
  // The projection is held to the fold of the log, row by row.
  expect(await checkInvariants(cluster.databaseUrl, [story.runId])).toEqual([]);
});

test("a run that is cancelled while a node waits for its next attempt cancels the node (S1.31, S1.39)", async () => {
  const retry = { attempts: 3, backoff_ms: 60_000, max_backoff_ms: 60_000 };
  const { run } = await client.runs.test(
    graph(["start > flaky"], { flaky: call(sink.url("away"), { retry }) }),
  );
  await firstEvent(client, run.runId, ({ type }) => type === "node.retried");
  await client.runs.cancel(run.runId);
  const story = await storyOf(client, run.runId);
  expect(story.status).toBe("cancelled");
  expect(story.nodes).toMatchObject({ flaky: "cancelled" });
  expect(story.of("node.started", "flaky")).toHaveLength(1);
  // 60 s is the cap and the base; jitter takes at most the lower half off (S1.30).
  const [retried] = story.of("node.retried", "flaky");
  const { delayMs } = Object(retried?.payload) as { readonly delayMs: unknown };
  expect(Number(delayMs)).toBeGreaterThanOrEqual(30_000);
  expect(Number(delayMs)).toBeLessThanOrEqual(60_000);
});

test("the profile standard tries a node three times, 1 s and 2 s apart, and every attempt is in the log (S3.34, S3.39)", async () => {
  const node = call(sink.url("standard"), { retry: "standard", error_handling: "fail_workflow" });
  const story = await runGraph(client, graph(["start > flaky > end"], { flaky: node }));
  expect(story.status).toBe("failed");
  const started = story.of("node.started", "flaky");
  expect(started.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  const retried = story.of("node.retried", "flaky");
  expect(retried.map(({ payload }) => payload)).toMatchObject([
    { delayMs: 1_000 },
    { delayMs: 2_000 },
  ]);
  [1_000, 2_000].forEach((delayMs, index) => {
    const waited = (started[index + 1]?.at ?? 0) - (retried[index]?.at ?? 0);
    expect(waited).toBeGreaterThanOrEqual(delayMs);
  });
  expect(story.of("node.failed", "flaky")).toHaveLength(1);
});
