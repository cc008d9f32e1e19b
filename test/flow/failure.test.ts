// Nodes that fail, take too long or stream their output piece by piece, through the public API of a real trio.
import { createPawlClient, isFinalStatus, type PawlClient } from "@pawl/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Cluster } from "../support/cluster.ts";
import { sharedCluster } from "../support/shared-cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { broken, call, graph, script } from "./graph.ts";
import { startSink, type Reply, type Sink } from "./sink.ts";
import { firstEvent, runGraph, storyOf } from "./story.ts";

let cluster: Cluster;
let client: PawlClient;
let sink: Sink;

beforeAll(async () => {
  // "twice" fails twice and then works; "busy" is always too busy.
  const statusOf = (name: string, nth: number): Reply => {
    if (name.startsWith("later-") && nth === 1)
      return { status: Number(name.slice(6)), headers: { "retry-after": "1" } };
    return name === "busy" ? 429 : name === "twice" && nth <= 2 ? 503 : 200;
  };
  sink = await startSink({ respond: statusOf });
  cluster = await sharedCluster();
  client = createPawlClient({ baseUrl: cluster.url });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  await cluster.stop();
  await sink.stop();
});

test("a node that skips on a failed parent is skipped, and so are the nodes after it (S1.21, S1.23)", async () => {
  const story = await runGraph(
    client,
    graph(["start > bad > careful > after", "start > good > careful"], {
      bad: broken(),
      careful: { on_parent_failure: "skip" },
    }),
  );
  expect(story.nodes).toMatchObject({ bad: "failed", careful: "skipped", after: "skipped" });
  expect(story.of("node.skipped", "careful")[0]?.payload).toEqual({
    reason: "parent_not_completed",
  });
  expect(story.of("node.started", "careful")).toEqual([]);
  // The only leaf is skipped, so the run completes; it still reports that a node failed (S1.22, X9).
  expect(story.status).toBe("completed");
  expect(story.run.hasFailures).toBe(true);
});

test("a node behind a skipped one follows its own policy: it may run with an empty text in place of the value (S1.23, S1.25)", async () => {
  const definition = graph(["start > bad > careful > brave > end", "careful > plain"], {
    bad: broken(),
    careful: { on_parent_failure: "skip" },
    brave: script("return { got: input.value }", { on_parent_failure: "substitute_default" }),
  });
  const edges = definition.edges.map((edge) =>
    edge["target"] === "brave" ? { ...edge, target_param_label: "value" } : edge,
  );
  const story = await runGraph(client, { ...definition, edges });
  expect(story.nodes).toMatchObject({
    bad: "failed",
    careful: "skipped",
    plain: "skipped",
    brave: "completed",
    end: "completed",
  });
  expect(story.output).toEqual({ got: "" });
  expect([story.status, story.run.hasFailures]).toEqual(["completed", true]);
});

test("a failure propagates without a call and fails the run (S1.22, S1.24)", async () => {
  const story = await runGraph(
    client,
    graph(["start > bad > next > last"], {
      bad: broken(),
      next: call(sink.url("never")),
    }),
  );
  expect(story.status).toBe("failed");
  expect(story.nodes).toMatchObject({ bad: "failed", next: "failed", last: "failed" });
  expect(story.of("node.failed", "next")[0]?.payload).toMatchObject({
    cause: "upstream_failure",
    message: "upstream_failure",
  });
  expect(story.of("node.started", "next")).toEqual([]);
  expect(sink.calls.filter(({ name }) => name === "never")).toEqual([]);
  expect(story.events.at(-1)).toMatchObject({
    type: "run.failed",
    payload: { failedNodeId: "bad" },
  });
  expect(story.run.errorMessage).toContain("broken on purpose");
});

test("a node may stand in for a failed parent with an empty text (S1.25)", async () => {
  const definition = graph(["start > bad > brave > end"], {
    bad: broken(),
    brave: script("return { got: input.value }", { on_parent_failure: "substitute_default" }),
  });
  const edges = definition.edges.map((edge) =>
    edge["target"] === "brave" ? { ...edge, target_param_label: "value" } : edge,
  );
  const story = await runGraph(client, { ...definition, edges });
  expect(story.status).toBe("completed");
  expect(story.output).toEqual({ got: "" });
  expect(story.run.hasFailures).toBe(true);
});

test("a node is tried again after its backoff, with the same effect key, until it works (S1.26, S1.29, S1.30, S0.38, S4.16, S4.19)", async () => {
  const retry = { attempts: 3, backoff_ms: 100, max_backoff_ms: 1_000, jitter: false };
  const story = await runGraph(
    client,
    graph(["start > flaky > end"], { flaky: call(sink.url("twice"), { retry }) }),
  );
  expect(story.status).toBe("completed");
  const retried = story.of("node.retried", "flaky");
  expect(retried.map(({ payload }) => payload)).toMatchObject([
    { cause: "provider_error", delayMs: 100 },
    { cause: "provider_error", delayMs: 200 },
  ]);
  const started = story.of("node.started", "flaky");
  expect(started.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  retried.forEach(({ at }, index) => {
    const next = started[index + 1]?.at ?? 0;
    expect(next - at).toBeGreaterThanOrEqual(100 * (index + 1));
  });
  const keys = sink.calls.filter(({ name }) => name === "twice").map((each) => each.idempotencyKey);
  expect(keys).toEqual(Array.from({ length: 3 }, () => `${story.runId}/flaky/0`));
});

test("a cause that the policy does not name is not tried again (S1.29)", async () => {
  const retry = { attempts: 3, backoff_ms: 10, retry_on: ["timeout"] };
  const story = await runGraph(
    client,
    graph(["start > limited"], { limited: call(sink.url("busy"), { retry }) }),
  );
  expect(story.status).toBe("failed");
  expect(story.of("node.started", "limited")).toHaveLength(1);
  expect(story.of("node.failed", "limited")[0]?.payload).toMatchObject({ cause: "rate_limit" });
});

test.each([
  [429, "rate_limit"],
  [503, "provider_error"],
])(
  "a server that answers %i is not asked again before the time it named (S1.29, S1.30)",
  async (status, cause) => {
    const name = `later-${status}`;
    const story = await runGraph(
      client,
      graph([`start > polite`], {
        polite: call(sink.url(name), { retry: { attempts: 2, backoff_ms: 10, jitter: false } }),
      }),
    );
    expect(story.status).toBe("completed");
    expect(story.of("node.retried", "polite")[0]?.payload).toMatchObject({
      cause,
      delayMs: 1_000,
    });
    const [first, second] = [await sink.received(name), await sink.received(name, 2)];
    expect(second.at - first.at).toBeGreaterThanOrEqual(1_000);
    expect(second.idempotencyKey).toBe(first.idempotencyKey);
  },
);

test("a node that takes longer than its timeout is aborted, tried again if its retry policy says so, and times out (S1.17, S1.32)", async () => {
  const story = await runGraph(
    client,
    graph(["start > slow"], {
      slow: call(sink.url("hold-slow"), {
        timeout_ms: 600,
        retry: { attempts: 2, backoff_ms: 20, jitter: false },
      }),
    }),
  );
  expect(story.status).toBe("failed");
  expect(story.nodes).toMatchObject({ slow: "timed_out" });
  expect(story.of("node.retried", "slow")[0]?.payload).toMatchObject({ cause: "timeout" });
  expect(story.of("node.timed_out", "slow")[0]).toMatchObject({
    attempt: 2,
    payload: { timeoutMs: 600 },
  });
  // The receiver saw that both attempts were aborted.
  for (const nth of [1, 2]) await (await sink.received("hold-slow", nth)).hungUp;
});

test("a call that takes longer than its own limit names that limit, and not the node's (S1.32)", async () => {
  const slow = {
    type: "http",
    timeout_ms: 60_000,
    config: { url: sink.url("hold-own"), timeout_ms: 300 },
  };
  const story = await runGraph(client, graph(["start > slow"], { slow }));
  expect(story.of("node.timed_out", "slow")[0]?.payload).toEqual({
    timeoutMs: 300,
    failureClass: "timeout",
  });
  const { summary } = await client.runs.explain(story.run.runId, "slow");
  expect(summary).toContain("300 ms");
});

test("a script that throws is tried again by its policy, and only then fails the run (S3.34)", async () => {
  const retry = { attempts: 3, backoff_ms: 1 };
  const story = await runGraph(
    client,
    graph(["start > price > end"], { price: broken({ retry, error_handling: "fail_workflow" }) }),
  );
  expect(story.status).toBe("failed");
  expect(story.of("node.retried", "price").map(({ payload }) => payload)).toMatchObject([
    { cause: "js_error" },
    { cause: "js_error" },
  ]);
  expect(story.of("node.failed", "price")[0]).toMatchObject({ attempt: 3 });
  const once = await runGraph(client, graph(["start > price"], { price: broken() }));
  expect(once.of("node.retried")).toEqual([]);
});

test("a node with fail_workflow fails the run at once and stops the nodes that run beside it (S3.34, S1.38)", async () => {
  const { run } = await client.runs.test(
    graph(["start > beside", "start > gate > fatal"], {
      beside: call(sink.url("hold-beside")),
      gate: call(sink.url("hold-gate")),
      fatal: broken({ error_handling: "fail_workflow" }),
    }),
  );
  const beside = await sink.received("hold-beside");
  (await sink.received("hold-gate")).answer(200);
  await client.runs.wait(run.runId);
  await beside.hungUp;
  const { run: ended } = await client.runs.get(run.runId);
  expect(ended.errorMessage).toContain("fatal");
});

test("user code that fails, loops or eats memory fails its node alone (S3.26, S3.32)", async () => {
  const story = await runGraph(
    client,
    graph(["start > throws", "start > loops", "start > eats", "start > escapes", "start > fine"], {
      throws: broken(),
      loops: script("while (true);", { config: { code: "while (true);", timeout_ms: 200 } }),
      eats: script("const all = []; for (;;) all.push(new Array(1e6).fill(all.length))"),
      escapes: script("return typeof process + typeof require + typeof fetch"),
      fine: script("return ctx.input + 1"),
    }),
    41,
  );
  expect(story.status).toBe("failed");
  expect(story.nodes).toMatchObject({
    throws: "failed",
    loops: "failed",
    eats: "failed",
    fine: "completed",
    escapes: "completed",
  });
  expect(story.outputOf("fine")).toBe(42);
  expect(story.outputOf("escapes")).toBe("undefinedundefinedundefined");
  // The executor outlived all of it.
  const after = await runGraph(client, graph(["start > fine"], { fine: script("return 1") }));
  expect(after.status).toBe("completed");
});

test("partial output comes in order and without gaps, before the whole (S1.20, S1.43, S1.49)", async () => {
  const text = "Partial output is told as it comes, and nothing of it twice. ".repeat(4);
  const story = await runGraph(
    client,
    graph(["start > poem"], {
      poem: { type: "text_stream", config: { text, chunk_chars: 5, interval_ms: 3 } },
    }),
  );
  const deltas = story.of("node.stream.delta", "poem");
  expect(deltas.length).toBeGreaterThan(5);
  // The wire's payload; the first index is 0, which protobuf's JSON leaves out.
  const pieces = deltas.map(({ payload }) => payload as { deltaIndex?: number; text: string });
  expect(pieces.map(({ deltaIndex = 0 }) => deltaIndex)).toEqual(pieces.map((_, index) => index));
  expect(pieces.map((piece) => piece.text).join("")).toBe(text);
  const [started] = story.of("node.started", "poem");
  expect(new Set(deltas.map(({ epoch }) => epoch))).toEqual(new Set([started?.eventId]));
  expect(story.of("node.completed", "poem")[0]?.eventId).toBeGreaterThan(
    deltas.at(-1)?.eventId ?? Infinity,
  );
  expect(story.outputOf("poem")).toEqual({ text });
});

test("partial output reaches a watcher while the node still speaks, and the end is not late (S1.7, S1.43)", async () => {
  const config = { text: "x".repeat(15), chunk_chars: 1, interval_ms: 100 };
  const { run } = await client.runs.test(
    graph(["start > slow > after"], { slow: { type: "text_stream", config } }),
  );
  await firstEvent(client, run.runId, ({ type }) => type === "node.stream.delta");
  expect(isFinalStatus((await client.runs.get(run.runId)).run.status)).toBe(false);
  const story = await storyOf(client, run.runId);
  // A poll would take five seconds.
  expect(Date.now() - (story.events.at(-1)?.at ?? 0)).toBeLessThan(2_000);
});

test("the logs of failed runs hold as any other (S3.2)", async () => {
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
});
