// Webhooks by real processes to a real receiver on loopback: signed, repeated under one id, switched off, sent again, and never in the way of
// a run.
import { createHmac } from "node:crypto";
import {
  createPawlClient,
  type PawlClient,
  type PawlError,
  RunFailed,
  verifyWebhook,
} from "@pawl/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { until } from "../support/until.ts";
import { graph, script } from "./graph.ts";
import { type Receiver, startReceiver, type WebhookCall } from "./receiver.ts";
import { SINK_EGRESS } from "./sink.ts";

let cluster: Cluster;
let client: PawlClient;
let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver((path, nth, response) => {
    if (path === "gone") response.statusCode = 410;
    if (path === "down" || (path === "flaky" && nth <= 2)) response.statusCode = 503;
    if (path === "moved") response.writeHead(302, { location: receiver.url("elsewhere") });
    response.end();
  });
  const env = { ...SINK_EGRESS, PAWL_WEBHOOK_RETRY_MS: "20", PAWL_WEBHOOK_RETRY_MAX_MS: "40" };
  cluster = await startCluster({ schedulers: 2, executors: 2, env });
  client = createPawlClient({ baseUrl: cluster.url });
  const answer = graph(["start > work > end"], {
    work: script("return { sum: ctx.input.a + 1 }"),
  });
  const failing = graph(["start > work > end"], {
    work: script("throw new Error('no luck')"),
  });
  await client.workflows.apply({ ...answer, id: "answers" });
  await client.workflows.apply({ ...failing, id: "fails" });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  const faults = await checkInvariants(cluster.databaseUrl);
  await cluster.stop();
  await receiver.stop();
  expect(faults).toEqual([]);
});

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

/** The signature by the public algorithm, written here without any of the product's code. */
function signatureOf({ id, headers, body }: WebhookCall, secret: string): string {
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const text = `${id}.${String(headers["webhook-timestamp"])}.${body}`;
  return `v1,${createHmac("sha256", key).update(text).digest("base64")}`;
}

const settled = (deliveryId: string) =>
  until(
    async () => {
      const { delivery } = await client.webhooks.delivery(deliveryId);
      return delivery.endTime === undefined
        ? undefined
        : await client.webhooks.delivery(deliveryId);
    },
    { what: `the end of delivery ${deliveryId}` },
  );

test("a run that ends calls the webhook of its start, signed, with the same record that WaitRun gives (S4.6, S4.18)", async () => {
  const webhook = { url: receiver.url("one"), secret: SECRET, headers: { "x-team": "blue" } };
  const { run } = await client.runs.start("answers", { input: { a: 41 }, webhook });
  const call = await receiver.received("one");
  expect(call.headers).toMatchObject({ "x-team": "blue", "content-type": "application/json" });
  expect(call.headers["webhook-signature"]).toBe(signatureOf(call, SECRET));
  const event = await verifyWebhook(call.headers, call.body, SECRET);
  expect(event.type).toBe("run.completed");
  await settled(call.id);
  const record = await client.runs.result(run.runId);
  expect(event.data.result).toMatchObject({
    run_id: run.runId,
    workflow_id: "answers",
    workflow_version: 1,
    status: "completed",
    output: record.output,
    has_failures: false,
    last_event_id: Number(record.lastEventId),
    run_started_at: record.runStartedAt?.toISOString(),
    run_ended_at: record.runEndedAt?.toISOString(),
    state: { run_id: run.runId, status: "completed", event_id: record.state?.eventId },
  });
  expect(event.timestamp).toBe(record.runEndedAt?.toISOString());
  expect(record.webhooks).toEqual([
    {
      deliveryId: call.id,
      eventType: "run.completed",
      state: "delivered",
      attempts: 1,
      statusCode: 200,
      error: "",
    },
  ]);
});

test("a run that fails sends the cause, the message and the node; chosen events come with it (S4.6, S4.18)", async () => {
  const events = ["node.failed", "run.failed"];
  const webhook = { url: receiver.url("failed"), events };
  const { run } = await client.runs.start("fails", { webhook });
  // The end node fails too, because its parent did.
  const calls = await Promise.all([1, 2, 3].map((nth) => receiver.received("failed", nth)));
  expect(calls.every(({ headers }) => headers["webhook-signature"] === undefined)).toBe(true);
  const bodies = calls.map(({ body }) => JSON.parse(body));
  expect(new Set(bodies.map(({ type }) => type))).toEqual(new Set(events));
  const exception = { cause: "js_error", failure_class: "retriable", node_id: "work" };
  const ended = bodies.find(({ type }) => type === "run.failed");
  expect(ended.data.result).toMatchObject({ run_id: run.runId, status: "failed", exception });
  expect(ended.data.result.exception.message).toContain("no luck");
  const nodes = bodies.flatMap(({ data }) => data.node_id ?? []);
  expect(new Set(nodes)).toEqual(new Set(["end", "work"]));
  const record = await client.runs.result(run.runId);
  const { failure_class: failureClass, node_id: nodeId, ...same } = ended.data.result.exception;
  expect(record.exception).toEqual({ details: undefined, ...same, failureClass, nodeId });
  const failed = await client.run("fails").catch((thrown: unknown) => thrown);
  expect(failed).toBeInstanceOf(RunFailed);
  expect(failed).toMatchObject({ cause: "js_error", failureClass, failedNodeId: "work" });
});

test("a webhook that fails is called again under the same id until it succeeds, and each call is in the log (S4.6)", async () => {
  const webhook = { url: receiver.url("flaky") };
  await client.runs.start("answers", { input: { a: 1 }, webhook });
  const calls = [1, 2, 3].map((nth) => receiver.received("flaky", nth));
  const ids = new Set((await Promise.all(calls)).map(({ id }) => id));
  expect(ids.size).toBe(1);
  const bodies = new Set((await Promise.all(calls)).map(({ body }) => body));
  expect(bodies.size).toBe(1);
  const { delivery, attempts, body } = await settled([...ids][0] ?? "");
  expect(bodies).toContain(body);
  expect(delivery.attempts).toBe(3);
  expect(attempts.map(({ statusCode }) => statusCode)).toEqual([503, 503, 200]);
  expect(attempts[0]?.error).toBe("the receiver answered 503");
});

test("a webhook is dead after twelve failures, its run is not touched, and a user sends it again (S4.6, S4.44)", async () => {
  const webhook = { url: receiver.url("down") };
  const { run } = await client.runs.start("answers", { input: { a: 1 }, webhook });
  const { id } = await receiver.received("down");
  const { delivery } = await settled(id);
  expect(delivery.attempts).toBe(12);
  expect(receiver.calls.filter(({ path }) => path === "down")).toHaveLength(12);
  const record = await client.runs.result(run.runId);
  expect(record.status).toBe("completed");
  expect(record.webhooks[0]?.state).toBe("dead");
  const dead = await client.webhooks.deliveries({ runId: run.runId, states: ["dead"] });
  expect(dead.deliveries.map(({ deliveryId }) => deliveryId)).toEqual([id]);
  await client.webhooks.redeliver(id);
  expect((await receiver.received("down", 13)).id).toBe(id);
});

test("a redirect is not followed: it is a failure (U7)", async () => {
  await client.runs.start("answers", { input: { a: 1 }, webhook: { url: receiver.url("moved") } });
  const { id } = await receiver.received("moved", 2);
  const { attempts } = await client.webhooks.delivery(id);
  expect(attempts[0]?.statusCode).toBe(302);
  expect(receiver.calls.some(({ path }) => path === "elsewhere")).toBe(false);
});

test.each([
  ["file:///etc/passwd", "webhook.url"],
  ["gopher://example.com/", "webhook.url"],
  ["http://user:key@example.com/", "webhook.url"],
  ["http://10.0.0.1/", "webhook.url"],
  ["http://[::ffff:10.0.0.1]/", "webhook.url"],
  ["http://169.254.169.254/latest", "webhook.url"],
  ["http://10.0.0.1:22/", "webhook.url"],
  ["not a url", "webhook.url"],
  [`https://example.com/${"x".repeat(2_000)}`, "webhook.url"],
])(
  "a start with the webhook %s is refused and starts nothing (U1, U4, U8, U10)",
  async (url, field) => {
    const before = await client.runs.list({ pageSize: 1 });
    const refused = client.runs.start("answers", { input: { a: 1 }, webhook: { url } });
    const error: PawlError = await refused.then(
      () => expect.unreachable("it was accepted"),
      (thrown) => thrown,
    );
    expect(error.reason).toBe("INPUT_INVALID");
    expect(error.violations.map(({ path }) => path)).toEqual([field]);
    const after = await client.runs.list({ pageSize: 1 });
    expect(after.runs[0]?.runId).toBe(before.runs[0]?.runId);
  },
);

test("an endpoint gets the ends of every run of its workflows; its secret is shown once, and both secrets sign during a rotation (S4.6)", async () => {
  const input = {
    url: receiver.url("all"),
    workflowIds: ["answers"],
    headers: { authorization: "Bearer key" },
  };
  const { endpoint, secret } = await client.webhooks.create("all", input);
  expect(endpoint.spec?.headers).toEqual({ authorization: "" });
  expect(JSON.stringify(await client.webhooks.list(), plain)).not.toContain(secret.slice(6));
  await client.runs.start("fails");
  await client.runs.start("answers", { input: { a: 1 } });
  const first = await receiver.received("all");
  expect(first.headers.authorization).toBe("Bearer key");
  expect(first.headers["webhook-signature"]).toBe(signatureOf(first, secret));
  const rotated = await client.webhooks.rotateSecret("all");
  await client.runs.start("answers", { input: { a: 2 } });
  const second = await receiver.received("all", 2);
  const signatures = [rotated.secret, secret].map((each) => signatureOf(second, each));
  expect(second.headers["webhook-signature"]).toBe(signatures.join(" "));
  await verifyWebhook(second.headers, second.body, secret);
  await client.webhooks.delete("all");
  const of = JSON.parse(second.body).data.result;
  expect(of.workflow_id).toBe("answers");
});

test("a receiver that answers 410 is switched off and gets nothing more, until a user switches it on (S4.6)", async () => {
  await client.webhooks.create("gone", { url: receiver.url("gone"), byReference: true });
  const webhook = { endpointId: "gone" };
  await client.runs.start("answers", { input: { a: 1 }, webhook });
  const { id } = await receiver.received("gone");
  await settled(id);
  const off = await client.webhooks.get("gone");
  expect(off).toMatchObject({ disabled: true, disabledReason: "the receiver answered 410 Gone" });
  const { run } = await client.runs.start("answers", { input: { a: 2 }, webhook });
  const dead = await until(
    async () => {
      const page = await client.webhooks.deliveries({ runId: run.runId, states: ["dead"] });
      return page.deliveries[0];
    },
    { what: "the end of the delivery" },
  );
  expect(dead.error).toContain("switched off");
  expect(receiver.calls.filter(({ path }) => path === "gone")).toHaveLength(1);
  const on = await client.webhooks.update("gone", undefined, { disabled: false });
  expect(on.disabled).toBe(false);
  await client.webhooks.redeliver(dead.deliveryId);
  expect((await receiver.received("gone", 2)).id).toBe(dead.deliveryId);
});

test("a workflow names its own receivers, and a definition with a URL that may not be called is refused (U1)", async () => {
  const answer = graph(["start > end"]);
  const webhooks = [{ url: receiver.url("own"), events: ["run.started", "run.completed"] }];
  await client.workflows.apply({ ...answer, id: "tells", webhooks });
  const { run } = await client.runs.start("tells");
  const bodies = [await receiver.received("own"), await receiver.received("own", 2)].map(
    ({ body }) => JSON.parse(body),
  );
  const data = Object.fromEntries(bodies.map((body) => [body.type, body.data]));
  expect(Object.keys(data).toSorted()).toEqual(["run.completed", "run.started"]);
  // One commit has both events, so both records are of the end of the run and name its last event.
  const last = Number((await client.runs.result(run.runId)).lastEventId);
  const ended = { status: "completed", last_event_id: last };
  expect(data["run.completed"]).toMatchObject({ event_id: last, result: ended });
  expect(data["run.started"]).toMatchObject({ event_id: 1, result: ended });
  const refused = client.workflows.apply({
    ...{ ...answer, id: "tells" },
    webhooks: [{ url: "http://192.168.0.1/" }],
  });
  await expect(refused).rejects.toMatchObject({
    reason: "DEFINITION_INVALID",
    violations: [{ path: "definition.webhooks[0].url", reason: "URL_BLOCKED" }],
  });
});

test("a start that names an endpoint which does not exist is refused, and so are a second endpoint of an id and an edit of an old version", async () => {
  const start = client.runs.start("answers", { input: {}, webhook: { endpointId: "none" } });
  await expect(start).rejects.toMatchObject({ reason: "WEBHOOK_ENDPOINT_NOT_FOUND" });
  const input = { url: receiver.url("x"), byReference: true };
  const { endpoint } = await client.webhooks.create("twice", input);
  await expect(client.webhooks.create("twice", input)).rejects.toMatchObject({
    reason: "WEBHOOK_ENDPOINT_EXISTS",
  });
  await client.webhooks.update("twice", { ...input, description: "new" });
  const old = { expectedVersion: endpoint.version };
  await expect(client.webhooks.update("twice", input, old)).rejects.toMatchObject({
    reason: "VERSION_MISMATCH",
  });
  await expect(client.webhooks.delivery(crypto.randomUUID())).rejects.toMatchObject({
    reason: "WEBHOOK_DELIVERY_NOT_FOUND",
  });
});

/** JSON has no bigint. */
const plain = (_: string, value: unknown): unknown =>
  typeof value === "bigint" ? String(value) : value;
