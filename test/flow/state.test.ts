// The workflow state on the real trio: goal and constraints reach templates, derived statuses reach lists, and the state can be read after
// any event of the log.
import { createPawlClient, type PawlClient, type WorkflowState } from "@pawl/client";
import { RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Cluster } from "../support/cluster.ts";
import { sharedCluster } from "../support/shared-cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { graph, script } from "./graph.ts";
import { firstEvent, storyOf } from "./story.ts";

let cluster: Cluster;
let client: PawlClient;

beforeAll(async () => {
  cluster = await sharedCluster();
  client = createPawlClient({ baseUrl: cluster.url });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(() => cluster.stop());

const TALK = {
  ...{ id: "talk", goal: "sell", constraints: ["be brief"], max_iterations: 7 },
  ...graph(["start > say > ask > end"], {
    say: {
      ...script("return { goal: ctx.goal, rules: ctx.constraints, text: input.text }"),
      input: { text: "{{ ctx.goal }}: {{ ctx.constraints[0] }}" },
      write_key: "said",
    },
    ask: { type: "approval", config: { message: "Fine?", deadline_ms: 600_000 } },
  }),
};

async function waiting(options: Parameters<PawlClient["runs"]["start"]>[1] = {}): Promise<string> {
  await client.workflows.apply(JSON.stringify(TALK));
  const { run } = await client.runs.start("talk", options);
  await firstEvent(client, run.runId, ({ type }) => type === "run.status.changed");
  return run.runId;
}

test("goal and constraints reach templates and scripts, and the state of a run that waits has every field (S2.1, S2.3, S2.4, S2.5, S2.6, S2.8, S2.10, S2.11, S2.12, S2.17, S2.18, S2.19, S2.24, S2.25, S2.27, X15)", async () => {
  const runId = await waiting();
  const state = await client.runs.state(runId);
  expect(state).toMatchObject({
    ...{ workflowId: "talk", runId, goal: "sell", constraints: ["be brief"], status: "waiting" },
    ...{ currentNode: "ask", currentNodes: ["ask"], iterationCount: 0, maxIterations: 7 },
    ...{ maxExecutionTimeMs: 3_600_000, retryCount: 0, retries: {}, lastError: "" },
    ...{ waitingFor: "human_approval", visitedNodes: ["start", "say", "ask"] },
    ...{ compensationStack: [], supervisorHistory: [], totalTokensUsed: 0, totalCostUsd: 0 },
  });
  expect(JSON.parse(state.memoryJson)).toEqual({
    said: { goal: "sell", rules: ["be brief"], text: "sell: be brief" },
  });
  const { waitingSince = 0, waitingTimeoutAt = 0, startedAt = 0 } = state;
  expect(waitingTimeoutAt - waitingSince).toBeGreaterThanOrEqual(599_000);
  expect(startedAt).toBeGreaterThanOrEqual(state.createdAt);
  expect(state.updatedAt).toBeGreaterThanOrEqual(startedAt);
  await client.runs.decide(runId, "ask", "approve");
  await storyOf(client, runId);
  expect(await client.runs.state(runId)).toMatchObject({ status: "completed", currentNode: "" });
  expect(await checkInvariants(cluster.databaseUrl, [runId])).toEqual([]);
});

test("a start sets goal, constraints and bounds in place of the definition's, and a repeat with others is refused (S2.2, S2.5, S2.6, S2.10, S2.12, S2.14)", async () => {
  const asked = { goal: "buy", constraints: ["be quick", "be kind"], maxIterations: 9 };
  const options = { ...asked, maxRetries: 0, deadlineMs: 120_000, requestId: crypto.randomUUID() };
  const runId = await waiting(options);
  const state = await client.runs.state(runId);
  expect(state).toMatchObject({ ...asked, maxRetries: 0, maxExecutionTimeMs: 120_000 });
  expect(JSON.parse(state.memoryJson)).toMatchObject({ said: { text: "buy: be quick" } });
  await expect(client.runs.start("talk", { ...options, goal: "steal" })).rejects.toMatchObject({
    reason: "REQUEST_ID_REUSED",
  });
  expect((await client.runs.start("talk", options)).run.runId).toBe(runId);
  await client.runs.cancel(runId);
});

test.each([
  ["a goal that is too long", { goal: "x".repeat(4_001) }, "goal"],
  ["a goal with a NUL", { goal: "a\0b" }, "goal"],
  ["an empty constraint", { constraints: ["fine", ""] }, "constraints[1]"],
  ["too many constraints", { constraints: Array<string>(33).fill("x") }, "constraints"],
  ["too many iterations", { maxIterations: 10_001 }, "max_iterations"],
  ["too many retries", { maxRetries: 20 }, "max_retries"],
])("a start with %s is refused, and no run exists (S2.5)", async (_what, asked, field) => {
  await client.workflows.apply(JSON.stringify(TALK));
  const before = (await client.runs.list()).runs.length;
  await expect(client.runs.start("talk", asked)).rejects.toMatchObject({
    reason: "INPUT_INVALID",
    violations: [expect.objectContaining({ path: field })],
  });
  expect((await client.runs.list()).runs).toHaveLength(before);
});

test("the state can be read after any event, and equals what a reader saw then; a bad event id is refused (S2.35, X5)", async () => {
  const runId = await waiting();
  await client.runs.decide(runId, "ask", "approve");
  const { events } = await storyOf(client, runId);
  const last = events.length;
  const states: WorkflowState[] = [];
  for (let at = 1; at <= last; at++) {
    const { run } = await client.runs.get(runId, { atEventId: at });
    expect(run.lastEventId).toBe(BigInt(at));
    states.push(await client.runs.state(runId, { atEventId: at }));
  }
  const statuses = states.map(({ status }) => status);
  expect(statuses.filter((status, at) => status !== statuses[at - 1])).toEqual([
    ...["scheduled", "running", "waiting", "completed"],
  ]);
  expect(states[0]).toMatchObject({ eventId: 1, visitedNodes: [], memoryJson: "{}" });
  expect(states.at(-1)).toEqual(await client.runs.state(runId));
  await expect(client.runs.get(runId, { atEventId: last + 1 })).rejects.toMatchObject({
    reason: "CURSOR_OUT_OF_RANGE",
  });
  for (const atEventId of [0, -1, 1.5, Number.NaN])
    await expect(client.runs.get(runId, { atEventId })).rejects.toMatchObject({
      reason: "INPUT_INVALID",
    });
});

test("a queued run is scheduled, a run that backs off is retrying, and lists find both (S2.28, S2.29)", async () => {
  const scheduled = await client.runs.test(
    graph(["start > far > end"], { far: { type: "acme.nobody-serves-it" } }),
  );
  const retry = { attempts: 2, backoff_ms: 60_000, max_backoff_ms: 60_000, jitter: false };
  const retrying = await client.runs.test(
    graph(["start > bad > end"], { bad: { ...script("throw new Error('no')"), retry } }),
  );
  await firstEvent(client, retrying.run.runId, ({ type }) => type === "node.retried");
  const found = async (status: RunStatus, runId: string): Promise<boolean> =>
    (await client.runs.list({ statuses: [status] })).runs.some((run) => run.runId === runId);
  expect(await found(RunStatus.SCHEDULED, scheduled.run.runId)).toBe(true);
  expect(await found(RunStatus.RETRYING, retrying.run.runId)).toBe(true);
  const state = await client.runs.state(retrying.run.runId);
  expect(state).toMatchObject({
    ...{ status: "retrying", waitingFor: "retry", retryCount: 1, retries: { bad: 1 } },
    ...{ maxRetries: 1, currentNode: "bad" },
  });
  expect(state.lastError).toContain("no");
  const runIds = [scheduled.run.runId, retrying.run.runId];
  expect(await checkInvariants(cluster.databaseUrl, runIds)).toEqual([]);
  for (const runId of runIds) await client.runs.cancel(runId);
});
