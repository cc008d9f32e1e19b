// Approvals through the public API of real processes: people answer by id, and the deadline passes by the database's clock. The process
// that asked may be long gone by then.
import { createPawlClient, type Json, jsonOf, type PawlClient, runStatusName } from "@pawl/client";
import { type Approval, ApprovalState } from "@pawl/proto/pawl/v1/approval_pb";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { until } from "../support/until.ts";
import { type GraphText, graph, type NodeText } from "./graph.ts";
import { firstEvent, runGraph, storyOf } from "./story.ts";

let cluster: Cluster;
let client: PawlClient;

beforeAll(async () => {
  cluster = await startCluster({
    schedulers: 2,
    envOf: { executor: { PAWL_EXECUTOR_SLOTS: "1" } },
  });
  client = createPawlClient({ baseUrl: cluster.url });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(() => cluster.stop());

const AMOUNT = {
  type: "object",
  required: ["amount"],
  properties: { amount: { type: "number", maximum: 100 }, note: { type: "string" } },
} satisfies Json;

const approval = (config: Record<string, Json> = {}): NodeText => ({
  type: "approval",
  config: { message: "Refund {{ ctx.input.amount }}?", ...config },
});

/** Starts a graph and gives its open approvals once there are so many. */
async function ask(
  definition: GraphText,
  count = 1,
): Promise<{ readonly runId: string; readonly approvals: readonly Approval[] }> {
  const { run } = await client.runs.test(definition, { input: { amount: 7 } });
  const approvals = await until(
    async () => {
      const page = await client.approvals.list({ runId: run.runId, pageSize: 200 });
      return page.approvals.length >= count ? page.approvals : undefined;
    },
    { what: `${count} approvals` },
  );
  return { runId: run.runId, approvals };
}

const idOf = ([first]: readonly Approval[]): string => first?.approvalId ?? "";
const stateOf = async (id: string): Promise<ApprovalState> =>
  (await client.approvals.get(id)).state;

test("an approval is found, explained, and answered with a response that fits; a response that does not fit changes nothing (S0.54)", async () => {
  const config = { details: { order: "{{ ctx.input }}" }, assignees: ["finance"] };
  const node = approval({ ...config, response_schema: AMOUNT, deadline_ms: 3_600_000 });
  const { runId, approvals } = await ask(graph(["start > ask > end"], { ask: node }));
  const id = idOf(approvals);
  expect(approvals[0]).toMatchObject({
    message: "Refund 7?",
    state: ApprovalState.OPEN,
    nodeId: "ask",
  });
  const mine = await client.approvals.list({ assignee: "finance", states: [ApprovalState.OPEN] });
  expect(mine.approvals.map((each) => each.approvalId)).toContain(id);
  expect((await client.approvals.list({ assignee: "nobody" })).approvals).toEqual([]);
  const asked = await client.approvals.get(id);
  expect([jsonOf(asked.detailsJson), jsonOf(asked.responseSchemaJson)]).toEqual([
    { order: { amount: 7 } },
    AMOUNT,
  ]);
  const { summary, next } = await client.runs.explain(runId, "ask");
  expect(summary).toMatch(
    new RegExp(`finance to answer approval ${id}.*deadline passes in 60 min`),
  );
  expect(next).toContain(`pawl approval approve ${id}`);
  const before = (await client.runs.get(runId)).run.lastEventId;
  await expect(
    client.approvals.approve(id, { response: { amount: 101, note: 5 } }),
  ).rejects.toMatchObject({
    reason: "INPUT_INVALID",
    violations: [{ path: "response_json.amount" }, { path: "response_json.note" }],
  });
  await expect(client.runs.decide(runId, "ask", "approve")).rejects.toMatchObject({
    reason: "INPUT_INVALID",
  });
  expect((await client.runs.get(runId)).run.lastEventId).toBe(before);
  const answer = { response: { amount: 5 }, decidedBy: "ada", comment: "once" };
  const answered = await client.approvals.approve(id, answer);
  expect(answered).toMatchObject({
    state: ApprovalState.APPROVED,
    decidedBy: "ada",
    comment: "once",
  });
  expect((await client.approvals.approve(id, answer)).state).toBe(ApprovalState.APPROVED);
  for (const response of [{ amount: 6 }, undefined]) {
    await expect(client.approvals.approve(id, { ...answer, response })).rejects.toMatchObject({
      reason: "NODE_ALREADY_DECIDED",
    });
  }
  await expect(client.approvals.reject(id)).rejects.toMatchObject({
    reason: "NODE_ALREADY_DECIDED",
  });
  const story = await storyOf(client, runId);
  expect(story.status).toBe("completed");
  expect(story.outputOf("ask")).toEqual({
    decision: "approved",
    response: { amount: 5 },
    comment: "once",
    decidedBy: "ada",
    approvalId: id,
  });
  expect(story.of("node.decided")).toHaveLength(1);
  expect(await checkInvariants(cluster.databaseUrl, [runId])).toEqual([]);
});

test("a rejection takes the edge rejected, or fails the node for good", async () => {
  const led = graph(["start > ask > ship", "ask:rejected > refuse"], { ask: approval() });
  const first = await ask(led);
  await client.approvals.reject(idOf(first.approvals), { comment: "no" });
  expect((await storyOf(client, first.runId)).nodes).toMatchObject({
    ask: "completed",
    ship: "skipped",
    refuse: "completed",
  });
  const second = await ask(graph(["start > ask > ship"], { ask: approval() }));
  await client.approvals.reject(idOf(second.approvals));
  const story = await storyOf(client, second.runId);
  expect(story.of("node.failed", "ask")[0]?.payload).toMatchObject({ cause: "approval_rejected" });
  expect(story.of("node.retried")).toEqual([]);
});

test("fifty open approvals of a map leave the one slot free; nothing is claimed, queued or logged while they wait (S0.15, S0.53, X17)", async () => {
  const body = approval() as Json;
  const each = {
    type: "map",
    config: { items: Array.from({ length: 50 }, (_, n) => n), body, parallelism: 50 },
  };
  const { runId, approvals } = await ask(graph(["start > each > end"], { each }), 50);
  await until(async () => runStatusName((await client.runs.get(runId)).run.status) === "waiting", {
    what: "the run to wait",
  });
  const before = (await client.runs.get(runId)).run.lastEventId;
  expect((await runGraph(client, graph(["start > a > b > end"]))).status).toBe("completed");
  expect((await client.runs.get(runId)).run.lastEventId).toBe(before);
  expect(await heldOrQueued(runId)).toBe(0);
  expect(await checkInvariants(cluster.databaseUrl, [runId])).toEqual([]);
  await Promise.all(
    approvals.map(({ approvalId, iteration }) =>
      client.approvals.approve(approvalId, { response: iteration }),
    ),
  );
  const story = await storyOf(client, runId);
  const outputs = story.outputOf("each") as readonly { readonly response: number }[];
  expect(outputs.map(({ response }) => response)).toEqual(
    Array.from({ length: 50 }, (_, n) => n + 1),
  );
  expect(story.of("node.decided")).toHaveLength(50);
});

/** Leases and jobs of a run. */
async function heldOrQueued(runId: string): Promise<number> {
  const db = new pg.Client({ connectionString: cluster.databaseUrl });
  await db.connect();
  try {
    const { rows } = await db.query<{ count: number }>(
      `select (select count(*) from pawl.leases where run_id = $1)::integer
         + (select count(*) from pgboss.job where data->>'r' = $1::text)::integer as count`,
      [runId],
    );
    return rows[0]?.count ?? -1;
  } finally {
    await db.end();
  }
}

test("two schedulers see a deadline pass, once and not before it did; a default answers, an answer after it is refused (X15)", async () => {
  const late = { deadline_ms: 600 };
  const fallback = {
    ...late,
    on_deadline: "default",
    default: { amount: 1 },
    response_schema: AMOUNT,
  };
  const [failed, led, answered] = await Promise.all([
    ask(graph(["start > ask > end"], { ask: approval(late) })),
    ask(graph(["start > ask > end", "ask:timeout > late"], { ask: approval(late) })),
    ask(graph(["start > ask > end"], { ask: approval(fallback) })),
  ]);
  const stories = await Promise.all(
    [failed, led, answered].map(({ runId }) => storyOf(client, runId)),
  );
  expect(stories.map(({ status }) => status)).toEqual(["failed", "completed", "completed"]);
  expect(stories[0]?.of("node.failed", "ask")[0]?.payload).toMatchObject({
    cause: "approval_timeout",
  });
  expect(stories[1]?.nodes).toMatchObject({ end: "skipped", late: "completed" });
  expect(stories[2]?.outputOf("ask")).toMatchObject({
    decision: "default",
    response: { amount: 1 },
  });
  for (const story of stories) {
    const [asked] = story.of("node.blocked");
    const [ended, ...more] = story.of("node.decided");
    expect(more).toEqual([]);
    expect((ended?.at ?? 0) - (asked?.at ?? 0)).toBeGreaterThanOrEqual(600);
  }
  await expect(client.approvals.approve(idOf(failed.approvals))).rejects.toMatchObject({
    reason: "APPROVAL_CLOSED",
    metadata: { state: "timed_out" },
  });
  expect(await stateOf(idOf(led.approvals))).toBe(ApprovalState.TIMED_OUT);
});

test("a default that its own schema refuses, or that is too large, is refused with the definition (S2.34)", async () => {
  const config = { deadline_ms: 9, on_deadline: "default", default: {}, response_schema: AMOUNT };
  const definition = graph(["start > ask"], { ask: approval(config) });
  await expect(client.runs.test(definition)).rejects.toMatchObject({
    reason: "DEFINITION_INVALID",
    violations: [{ path: "definition.nodes[1].config.default", reason: "CONTRACT_VIOLATION" }],
  });
  const large = { deadline_ms: 9, on_deadline: "default", default: "x".repeat(250_000) };
  await expect(
    client.runs.test(graph(["start > ask"], { ask: approval(large) })),
  ).rejects.toMatchObject({
    reason: "LIMIT_EXCEEDED",
    violations: [{ path: "definition.nodes[1].config.default", reason: "TOO_LARGE" }],
  });
});

test("a loop asks again until the answer of a person ends it (S3.30, X13)", async () => {
  const body = { type: "approval", config: { message: "Enough?", response_schema: true } };
  const config = { until: "output.response.enough", max_iterations: 5, body };
  const definition = graph(["start > ask > end"], { ask: { type: "loop", config } });
  let { runId, approvals } = await ask(definition);
  for (const enough of [false, true]) {
    await client.approvals.approve(idOf(approvals), { response: { enough } });
    if (enough) break;
    const states = [ApprovalState.OPEN];
    ({ approvals } = await until(
      async () => {
        const page = await client.approvals.list({ runId, states });
        return page.approvals.length > 0 ? page : undefined;
      },
      { what: "the second question" },
    ));
  }
  const story = await storyOf(client, runId);
  expect(story.status).toBe("completed");
  expect(story.outputOf("ask")).toMatchObject([
    { response: { enough: false } },
    { response: { enough: true } },
  ]);
  expect(await checkInvariants(cluster.databaseUrl, [runId])).toEqual([]);
});

test("an approval ends with its run, and cannot be answered then", async () => {
  const { runId, approvals } = await ask(graph(["start > ask > end"], { ask: approval() }));
  await client.runs.cancel(runId);
  await expect(client.approvals.approve(idOf(approvals))).rejects.toMatchObject({
    reason: "APPROVAL_CLOSED",
    metadata: { state: "cancelled" },
  });
  expect(await stateOf(idOf(approvals))).toBe(ApprovalState.CANCELLED);
  await expect(client.approvals.get("0199a000-0000-7000-8000-000000000000")).rejects.toMatchObject({
    reason: "APPROVAL_NOT_FOUND",
  });
});

test("all schedulers and executors die between question and answer; new ones continue, and a deadline that passed meanwhile counts (S0.55, X17)", async () => {
  const plain = await ask(graph(["start > ask > after > end"], { ask: approval() }));
  const timed = await ask(
    graph(["start > ask:timeout > late"], { ask: approval({ deadline_ms: 500 }) }),
  );
  const all = [...cluster.schedulers, ...cluster.executors];
  await Promise.all(all.map((member) => member.kill("SIGKILL")));
  await Promise.all(all.map((member) => member.restart()));
  await client.approvals.approve(idOf(plain.approvals), { response: "yes" });
  const story = await storyOf(client, plain.runId);
  expect(story.status).toBe("completed");
  expect(story.outputOf("ask")).toMatchObject({ response: "yes" });
  await firstEvent(client, timed.runId, ({ type }) => type === "node.decided");
  expect((await storyOf(client, timed.runId)).nodes).toMatchObject({ late: "completed" });
  expect(await checkInvariants(cluster.databaseUrl, [plain.runId, timed.runId])).toEqual([]);
});
