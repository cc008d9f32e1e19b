// Moderation through the public API of a real trio: a flagged output is blocked or waits for a person, and no watcher sees it.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createPawlClient, jsonOf, type PawlClient, runStatusName } from "@pawl/client";
import { RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { temporaryFolder } from "../support/folder.ts";
import { checkInvariants } from "../support/invariants.ts";
import { type GraphText, graph, script } from "./graph.ts";
import { firstEvent, msOf, runGraph, storyOf, type Story } from "./story.ts";

const PHRASE = "forbidden fruit";
const RULES = `rules: [{ id: fruit, category: food, literal: ${PHRASE} }]`;

let cluster: Cluster;
let client: PawlClient;
let folder: string;

beforeAll(async () => {
  folder = temporaryFolder("rules");
  const path = join(folder, "rules.yaml");
  writeFileSync(path, RULES);
  cluster = await startCluster({ envOf: { executor: { PAWL_MODERATION_RULES: path } } });
  client = createPawlClient({ baseUrl: cluster.url });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  await cluster.stop();
  rmSync(folder, { recursive: true });
});

const findings = (path: string) => ({ findings: [{ rule: "fruit", category: "food", path }] });

/** Starts a graph and waits until its node `held` waits. */
async function startHeld(definition: GraphText, input: string | null = null): Promise<string> {
  const { run } = await client.runs.test(definition, { input });
  await firstEvent(client, run.runId, ({ type }) => type === "node.blocked");
  return run.runId;
}

/** A node whose output is flagged; it is tried again if anybody lets it. */
const outputHeld = graph(["start > held > after > end"], {
  held: script(`return { text: "a " + ctx.input }`, {
    moderation: "output",
    moderation_action: "hold",
    retry: { attempts: 3, backoff_ms: 1 },
  }),
});

const typesOf = (story: Story, nodeId: string): string[] =>
  story.events.filter((event) => event.nodeId === nodeId).map(({ type }) => type);

test("an input that is flagged blocks its node, whose handler never runs and is not tried again (S1.16, S1.47)", async () => {
  const node = script("return 1", { moderation: "both", retry: { attempts: 3, backoff_ms: 1 } });
  const edges = { source: "start", target: "asked", target_param_label: "topic" };
  const base = graph(["start > asked"], { asked: node });
  const story = await runGraph(client, { ...base, edges: [edges] }, `some ${PHRASE}`);
  expect(typesOf(story, "asked")).toEqual([
    "node.queued",
    "node.started",
    "moderation.flagged",
    "node.failed",
  ]);
  expect(story.of("moderation.flagged")[0]?.payload).toMatchObject({
    phase: "input",
    details: findings("input.topic.inputReceived"),
  });
  expect(story.of("node.failed", "asked")[0]?.payload).toMatchObject({
    cause: "moderation_blocked",
  });
});

test("an output that is flagged blocks its node, and no client sees it (S1.18)", async () => {
  const story = await runGraph(
    client,
    graph(["start > said"], {
      said: script(`return { text: "${PHRASE}" }`, { moderation: "output" }),
    }),
  );
  expect(story.status).toBe("failed");
  expect(story.of("moderation.flagged", "said")[0]?.payload).toMatchObject({
    phase: "output",
    details: findings("output.text"),
  });
  expect(JSON.stringify(story.events)).not.toContain(PHRASE);
});

test("a held output waits for a person without a claim or a job, and completes the node once approved (S1.8, S1.18)", async () => {
  const runId = await startHeld(outputHeld, PHRASE);
  const { run } = await client.runs.get(runId);
  const held = run.nodes.find(({ nodeId }) => nodeId === "held");
  expect(held).toMatchObject({ hold: { reason: "moderation_hold", phase: "output" } });
  // The person who decides sees the held output; watchers do not.
  expect(jsonOf(held?.hold?.outputJson ?? new Uint8Array())).toEqual({ text: `a ${PHRASE}` });
  expect(await checkInvariants(cluster.databaseUrl, [runId])).toEqual([]);
  await client.runs.decide(runId, "held", "approve", { comment: "it is a quotation" });
  const story = await storyOf(client, runId);
  expect(story.status).toBe("completed");
  expect(typesOf(story, "held")).toEqual([
    "node.queued",
    "node.started",
    "moderation.flagged",
    "node.blocked",
    "node.decided",
    "node.completed",
  ]);
  expect(story.of("node.decided")[0]?.payload).toMatchObject({
    decision: "approve",
    reason: "moderation_hold",
    comment: "it is a quotation",
  });
  expect(story.outputOf("held")).toEqual({ text: `a ${PHRASE}` });
});

test("a held input is run once approved, and not asked about again (S1.16)", async () => {
  const node = script("return { ran: true }", { moderation: "input", moderation_action: "hold" });
  const config = { config: { code: "return { ran: true }" } };
  const held = graph(["start > held"], { held: { ...node, ...config } });
  const edges = [{ source: "start", target: "held", target_param_label: "topic" }];
  const runId = await startHeld({ ...held, edges }, PHRASE);
  await client.runs.decide(runId, "held", "approve");
  const story = await storyOf(client, runId);
  expect(story.outputOf("held")).toEqual({ ran: true });
  expect(story.of("moderation.flagged", "held")).toHaveLength(1);
  expect(story.of("node.started", "held").map(({ attempt }) => attempt)).toEqual([1, 1]);
});

test("a rejected node fails for good; a decision repeated is harmless, another is refused (S1.8)", async () => {
  const runId = await startHeld(outputHeld, PHRASE);
  await client.runs.decide(runId, "held", "reject", { comment: "no" });
  await client.runs.decide(runId, "held", "reject");
  const story = await storyOf(client, runId);
  expect(story.status).toBe("failed");
  expect(story.of("node.failed", "held")[0]?.payload).toMatchObject({
    cause: "moderation_blocked",
    message: "moderation_blocked: rejected: no",
  });
  expect(story.of("node.decided", "held")).toHaveLength(1);
  await expect(client.runs.decide(runId, "held", "approve")).rejects.toMatchObject({
    reason: "NODE_ALREADY_DECIDED",
  });
  await expect(client.runs.decide(runId, "gone", "approve")).rejects.toMatchObject({
    reason: "NODE_NOT_FOUND",
  });
  await expect(client.runs.decide(runId, "start", "approve")).rejects.toMatchObject({
    reason: "RUN_ALREADY_FINISHED",
  });
  const live = await startHeld(outputHeld, PHRASE);
  await expect(client.runs.decide(live, "start", "approve")).rejects.toMatchObject({
    reason: "NODE_NOT_HELD",
  });
  await client.runs.cancel(live);
  expect((await storyOf(client, live)).nodes).toMatchObject({ held: "cancelled" });
});

test("a run that only a person can move is waiting, and running again once decided (S2.28, S2.29, X8)", async () => {
  const runId = await startHeld(outputHeld, PHRASE);
  expect(runStatusName((await client.runs.get(runId)).run.status)).toBe("waiting");
  const { runs } = await client.runs.list({ statuses: [RunStatus.WAITING] });
  expect(runs.map((run) => run.runId)).toContain(runId);
  await client.runs.decide(runId, "held", "approve");
  const story = await storyOf(client, runId);
  expect(story.of("run.status.changed").map(({ payload }) => payload)).toMatchObject([
    { from: "running", to: "waiting" },
    { from: "waiting", to: "running" },
  ]);
  expect(story.status).toBe("completed");
});

test("a hold outlives the scheduler: it is only log (S3.2)", async () => {
  const runId = await startHeld(outputHeld, PHRASE);
  await cluster.schedulers[0]?.restart();
  await client.runs.decide(runId, "held", "approve");
  expect((await storyOf(client, runId)).status).toBe("completed");
});

test("the time a run waits for a person does not count against its deadline (X15)", async () => {
  const runId = await startHeld({ ...outputHeld, deadline_ms: 1_500 } as GraphText, PHRASE);
  const { run: waiting } = await client.runs.get(runId);
  // One that does not wait passes the same deadline meanwhile.
  const wait = { type: "delay", config: { delay_ms: 60_000 } };
  const late = { ...graph(["start > wait > end"], { wait }), deadline_ms: 1_500 } as GraphText;
  expect((await runGraph(client, late)).status).toBe("timeout");
  expect((await client.runs.get(runId)).run.status).toBe(RunStatus.WAITING);
  await client.runs.decide(runId, "held", "approve");
  const { run, status } = await storyOf(client, runId);
  expect(status).toBe("completed");
  expect(msOf(run.deadlineTime)).toBeGreaterThan(msOf(waiting.deadlineTime));
  expect(await checkInvariants(cluster.databaseUrl, [runId])).toEqual([]);
});

test("a phrase split over three pieces of a stream reaches no watcher, over gRPC or SSE (S1.18, S1.20)", async () => {
  // In pieces of 7: "well, f", "orbidde", "n fruit", …
  const text = `well, ${PHRASE} and what comes after`;
  const said = {
    type: "text_stream",
    config: { text, chunk_chars: 7, interval_ms: 20 },
    moderation: "output",
  };
  const { run } = await client.runs.test(graph(["start > said"], { said }));
  const address = `${cluster.url}/execute/workflows/${run.runId}/events`;
  const [story, sse] = await Promise.all([
    storyOf(client, run.runId),
    fetch(address).then((response) => response.text()),
  ]);
  expect(story.of("node.failed", "said")[0]?.payload).toMatchObject({
    cause: "moderation_blocked",
  });
  expect(story.of("moderation.flagged", "said")[0]?.payload).toMatchObject({
    details: findings("stream"),
  });
  const shown = story
    .of("node.stream.delta", "said")
    .map(({ payload }) => (payload as { text: string }).text)
    .join("");
  expect("well, ".startsWith(shown)).toBe(true);
  expect(sse).toContain("moderation.flagged");
  for (const piece of ["orbidde", "n fruit", "comes after"]) {
    expect(JSON.stringify(story.events)).not.toContain(piece);
    expect(sse).not.toContain(piece);
  }
});

test("a clean stream arrives whole and in order (S1.20)", async () => {
  const text = "Nothing here is anything but ordinary. ".repeat(4);
  const config = { text, chunk_chars: 7, interval_ms: 2 };
  const said = { type: "text_stream", config, moderation: "output" };
  const story = await runGraph(client, graph(["start > said"], { said }));
  expect(story.status).toBe("completed");
  const pieces = story.of("node.stream.delta", "said").map(({ payload }) => payload);
  expect(pieces.map((piece) => (piece as { text: string }).text).join("")).toBe(text);
});

test("one item of a map is held and decided by itself (S1.18)", async () => {
  const body = { type: "javascript", config: { code: "return ctx.item" } };
  const config = { items: "{{ ctx.input }}", body };
  const each = { type: "map", config, moderation: "output", moderation_action: "hold" };
  const { run } = await client.runs.test(graph(["start > each"], { each }), {
    input: ["fine", PHRASE],
  });
  await firstEvent(client, run.runId, ({ type }) => type === "node.blocked");
  await expect(client.runs.decide(run.runId, "each", "approve")).rejects.toMatchObject({
    reason: "NODE_NOT_HELD",
  });
  await client.runs.decide(run.runId, "each", "approve", { iteration: 2 });
  const story = await storyOf(client, run.runId);
  expect(story.status).toBe("completed");
  expect(story.outputOf("each")).toEqual(["fine", PHRASE]);
});

test("the logs of moderated runs hold as any other (S3.2)", async () => {
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
});
