// The examples on a real trio, each as `npm start` registers it: with its sample input, and with no input as the console's button starts
// it.

import { createPawlClient, type Json, type PawlClient, repairActionName } from "@pawl/client";
import { dataSources, demoEnv, prepareDemoData } from "@pawl/deploy/demo/demo-data.ts";
import { readExample, readExamples, registerExamples } from "@pawl/deploy/sample.ts";
import { type Approval, ApprovalState } from "@pawl/proto/pawl/v1/approval_pb";
import { Client } from "pg";
import { undoOf } from "@pawl/core/log/undo-iteration";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { type FreshDatabase, freshDatabase } from "../support/postgres.ts";
import { checkInvariants } from "../support/invariants.ts";
import { firstEvent, type Story, storyOf } from "./story.ts";

const DEMO = `pawl_demo_${process.pid}`;

let cluster: Cluster;
let client: PawlClient;
let server: FreshDatabase;

beforeAll(async () => {
  server = await freshDatabase();
  // Twice, as by a second start.
  const dataUrl = await prepareDemoData(server.url, DEMO);
  expect(await prepareDemoData(server.url, DEMO)).toBe(dataUrl);
  cluster = await startCluster({ envOf: { executor: demoEnv(dataSources({ demo: dataUrl })) } });
  client = createPawlClient({ baseUrl: cluster.url });
  await registerExamples(client);
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  const faults = await checkInvariants(cluster.databaseUrl);
  await cluster.stop();
  const owner = new Client({ connectionString: server.url });
  await owner.connect();
  await owner.query(`drop database ${DEMO} with (force)`);
  await owner.query(`drop role ${DEMO}`);
  await owner.end();
  await server.drop();
  expect(faults).toEqual([]);
});

interface Expected {
  readonly workflowId: string;
  readonly output: unknown;
  /** The node that waits for a person, who approves. */
  readonly held?: string;
  /** Why the person approves, if the question needs a reason. */
  readonly comment?: string;
  /** The person's response, if the question needs more than yes. */
  readonly response?: Json;
}

const EXPECTED: readonly Expected[] = [
  { workflowId: "chat", output: { text: expect.stringMatching(/^You said: .+"1 messages"\]$/) } },
  { workflowId: "close-the-tills", output: { shops: 200, takings: 10036 } },
  {
    workflowId: "content-pipeline",
    held: "announcement",
    output: { title: "Good news, everyone. Project Quince ships in May.", words: 50 },
  },
  { workflowId: "page-through-orders", output: { pages: 3, total: 80 } },
  {
    workflowId: "document-approval",
    held: "sign_off",
    output: { title: "Lease of a warehouse", status: "approved", by: "a person" },
  },
  { workflowId: "hello", output: { greeting: expect.stringMatching(/^Hello, \w+!$/) } },
  {
    workflowId: "nightly-report",
    output: {
      rows: 6,
      total: { shops: 6, best: expect.any(String) },
      report: expect.stringContaining("6 shops sold"),
    },
  },
  {
    workflowId: "order-fulfilment",
    output: { order: "A-1042", receipt: "R-A-1042", shipped_by: "dispatch desk" },
  },
  { workflowId: "paced-imports", output: { imported: 12 } },
  {
    workflowId: "pay-an-invoice",
    held: "pay",
    comment: "I called the shop",
    output: { paid: 480, to: "DE02120300000000202051" },
  },
  {
    workflowId: "research-within-budget",
    output: { answers: [1, 2, 3].map(() => expect.objectContaining({ finish_reason: "stop" })) },
  },
  {
    workflowId: "refund-with-approval",
    held: "ask",
    response: { amount: 450, note: "the oil was used" },
    output: { order: "A-1042", refunded: 450, by: "a person" },
  },
  {
    workflowId: "research-and-summarise",
    output: { summary: expect.stringMatching(/^Both agree .*scholar.*sceptic/) },
  },
  { workflowId: "stock-count", output: { shelves: 200, pieces: expect.any(Number) } },
  {
    workflowId: "supervised-research",
    output: { notes: 3, first: expect.stringMatching(/^A spring or its own weight/) },
  },
  {
    workflowId: "support-ticket",
    output: {
      answer: expect.stringMatching(/^(Apologise to Ada for this: The ratchet|Thank you, )/),
      history: ["received", "triaged"],
    },
  },
  {
    workflowId: "weekly-digest",
    output: {
      answers: ["What holds a pawl in its place?", "Who invented the escapement?"],
      pieces: expect.any(Number),
    },
  },
];

/** Runs an example to its end; a person approves what is held. */
async function play(
  workflowId: string,
  input: Json | undefined,
  { held, response, comment = "" }: Pick<Expected, "held" | "response" | "comment"> = {},
): Promise<Story> {
  const { run } = await client.runs.start(workflowId, input === undefined ? {} : { input });
  if (response !== undefined) {
    const { approvalId, nodeId } = await asked(run.runId);
    expect(nodeId).toBe(held);
    await client.approvals.approve(approvalId, { response, decidedBy: "Ada" });
  } else if (held !== undefined) {
    await firstEvent(client, run.runId, ({ type }) => type === "node.blocked");
    await client.runs.decide(run.runId, held, "approve", { comment });
  }
  return await storyOf(client, run.runId);
}

/** The question of a run, once it asks: the transaction that logs it also lists it. */
async function asked(runId: string): Promise<Approval> {
  await firstEvent(client, runId, ({ type }) => type === "node.blocked");
  const { approvals } = await client.approvals.list({ runId, states: [ApprovalState.OPEN] });
  const [approval] = approvals;
  if (approval === undefined) throw new Error(`run ${runId} asks nothing`);
  return approval;
}

test("no example is left out here", () => {
  const named = EXPECTED.map(({ workflowId }) => workflowId);
  expect(readExamples().map(({ workflowId }) => workflowId)).toEqual(
    [...named, "order-review"].toSorted(),
  );
});

test.each(EXPECTED)(
  "the example $workflowId completes with its sample input and with none",
  async ({ workflowId, output, ...answer }) => {
    const { sampleInput } = readExample(workflowId);
    const stories = await Promise.all([
      play(workflowId, sampleInput, answer),
      play(workflowId, undefined, answer),
    ]);
    for (const story of stories) {
      expect(story.status).toBe("completed");
      expect(story.output).toMatchObject(output as object);
    }
  },
);

test("the example order-review books a large order after its rest", async () => {
  const { sampleInput } = readExample("order-review");
  const story = await play("order-review", sampleInput);
  expect(story.output).toEqual({ booking: "B-560", total: 560 });
  expect(story.nodes).toMatchObject({ cool_off: "completed", accept: "skipped" });
});

test("the carrier that does not exist is called three times, then the error handle is taken (S1.26, S3.33)", async () => {
  const { sampleInput } = readExample("order-fulfilment");
  const story = await play("order-fulfilment", sampleInput);
  expect(story.of("node.retried", "ship")).toHaveLength(2);
  expect(story.nodes).toMatchObject({ dispatch_desk: "completed", shipped: "skipped" });
});

test("an order whose parcel is never found refunds the card and releases each line, then fails (S2.16)", async () => {
  const lines = ["gear", "oil", "belt"].map((sku) => ({ sku, quantity: 1, unit_cents: 500 }));
  const story = await play("order-fulfilment", { order_id: "A-7", lost: true, lines });
  expect(story.status).toBe("failed");
  expect(story.run.compensation).toMatchObject({ undone: 4, left: 0 });
  const undone = story.events.filter(
    (e) => e.type === "node.completed" && e.iteration >= undoOf(0),
  );
  const outputs = undone.map(({ payload }) => (payload as { readonly output: unknown }).output);
  expect(outputs).toEqual(
    expect.arrayContaining([
      { refunded: 1500, receipt: "R-A-7" },
      ...[1, 2, 3].map((released) => ({ released })),
    ]),
  );
});

test("a comment with the number of a card is left out and never shown (S1.18)", async () => {
  const { sampleInput } = readExample("content-pipeline");
  const story = await play("content-pipeline", sampleInput, { held: "announcement" });
  expect(story.nodes).toMatchObject({ left_out: "completed", quoted: "skipped" });
  expect(JSON.stringify(story.of("node.stream.delta", "comment"))).not.toContain("4242");
});

test("a document that is rejected is sent back, and a small amount needs no approval (S1.8)", async () => {
  const { run } = await client.runs.start("document-approval");
  await firstEvent(client, run.runId, ({ type }) => type === "node.blocked");
  await client.runs.decide(run.runId, "sign_off", "reject");
  expect((await storyOf(client, run.runId)).output).toMatchObject({ status: "rejected" });
  const small = await play("document-approval", { title: "Pencils", amount: 12 });
  expect(small.output).toMatchObject({ status: "approved", by: "the rule for small amounts" });
});

test("a refund above its limit is asked for with a form that holds; no is an answer, and a small one asks no person (S0.54)", async () => {
  const { run } = await client.runs.start("refund-with-approval");
  const { approvalId, message, assignees, deadlineTime } = await asked(run.runId);
  expect([message, assignees]).toEqual(["Refund 480 EUR to Ada Lovelace?", ["finance"]]);
  expect(deadlineTime).toBeDefined();
  const tooMuch = client.approvals.approve(approvalId, { response: { amount: 5000 } });
  await expect(tooMuch).rejects.toMatchObject({
    reason: "INPUT_INVALID",
    violations: [{ path: "response_json.amount" }],
  });
  await client.approvals.reject(approvalId, { comment: "no receipt", decidedBy: "Ada" });
  const refused = await storyOf(client, run.runId);
  expect(refused.output).toMatchObject({ refunded: 0, by: "a person", note: "no receipt" });
  const small = await play("refund-with-approval", { order: "A-7", amount: 12 });
  expect(small.output).toMatchObject({ order: "A-7", refunded: 12, by: "the rule" });
  expect(small.nodes).toMatchObject({ ask: "skipped" });
});

test("a day without sales ends quietly, and an input that breaks the contract fails the start", async () => {
  const quiet = await play("nightly-report", { day: "2030-01-01" });
  expect(quiet.output).toEqual({ day: "2030-01-01", rows: 0 });
  const wrong = await play("nightly-report", { day: "yesterday" });
  expect(wrong.of("contract.violated", "start")).toHaveLength(1);
  expect(wrong.status).toBe("failed");
});

test("a nightly report that failed is repaired from the failed node with a corrected definition; the query and the model are not asked again (X28)", async () => {
  const { text: fixed } = readExample("nightly-report");
  const mistaken = fixed.replace("const rows = ctx.sales.rows;", "const rows = ctx.sales.lines;");
  expect(mistaken).not.toBe(fixed);
  await client.workflows.apply(mistaken);
  const { run } = await client.runs.start("nightly-report");
  const origin = await storyOf(client, run.runId);
  expect(origin).toMatchObject({
    status: "failed",
    nodes: { remarks: "completed", total: "failed" },
  });
  await client.workflows.apply(fixed);
  const { run: started, plan } = await client.runs.retry(run.runId, { latest: true });
  const actions = plan?.nodes.map(({ nodeId, action }) => [nodeId, repairActionName(action)]);
  expect(Object.fromEntries(actions ?? [])).toEqual({
    ...{ start: "reuse", day: "reuse", sales: "reuse", remarks: "reuse" },
    ...{ total: "run", summary: "run", end: "run", quiet: "reuse" },
  });
  const repaired = await storyOf(client, started.runId);
  expect(repaired.output).toMatchObject({ rows: 6, total: { shops: 6 } });
  expect(repaired.of("node.started").map(({ nodeId }) => nodeId)).toEqual(["total", "summary"]);
  expect(repaired.run.workflowVersion).toBeGreaterThan(origin.run.workflowVersion);
});

test("the reader of the demo data can neither write it nor make tables (S3.27)", async () => {
  const dataUrl = await prepareDemoData(server.url, DEMO);
  const reader = new Client({ connectionString: dataUrl });
  await reader.connect();
  await expect(reader.query("delete from sales")).rejects.toThrow("permission denied");
  await expect(reader.query("create table mine ()")).rejects.toThrow("permission denied");
  await reader.end();
});

test("an invoice is paid after a person releases it, and its path shows where the labels began and ended (S2.40, S2.41, S2.42)", async () => {
  const held = { held: "pay", comment: "I called the shop" };
  const story = await play("pay-an-invoice", { order: "A-7" }, held);
  expect(story.status).toBe("completed");
  expect(story.of("node.started", "pay")).toHaveLength(1);
  const trace = await client.runs.explainTaint(story.runId, { nodeId: "pay" });
  expect(trace.labels).toEqual([]);
  const words = trace.steps.map(({ nodeId, added, dropped }) => [nodeId, ...added, ...dropped]);
  expect(words).toEqual([
    ["mail", "mail"],
    ["summary", "model"],
    ["account"],
    ["pay"],
    ["pay", "mail", "model"],
  ]);
  expect(trace.steps.at(-1)?.reason).toBe("I called the shop");
  const iban = story.run.nodes.find(({ nodeId }) => nodeId === "iban");
  expect(iban?.taint).toEqual([]);
});
