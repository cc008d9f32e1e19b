// What traces show besides the calls: waits, ticks, queries, event streams, calls to other servers, and the causes of retries and joins.
import { createConnectTransport } from "@connectrpc/connect-node";
import { createPawlClient, type PawlClient } from "@pawl/client";
import { ROOT } from "@pawl/deploy/settings.ts";
import { claimSpanId } from "@pawl/platform/telemetry/span-id";
import { expect, onTestFailed, onTestFinished, test } from "vitest";
import { call, graph } from "../flow/graph.ts";
import { type ModelServer, openStream, piece, startModelServer } from "../flow/model-server.ts";
import { SINK_EGRESS, startSink } from "../flow/sink.ts";
import { type Story, storyOf } from "../flow/story.ts";
import { startReceiver as startWebhookReceiver } from "../flow/receiver.ts";
import { startCluster } from "../support/cluster.ts";
import { until } from "../support/until.ts";
import { startGrpcReceiver } from "./grpc-receiver.ts";
import { startReceiver, type Receiver, type Span } from "./receiver.ts";

const TRACE_ID = "1af7651916cd43dd8448eb211c80319c";
const TRACEPARENT = `00-${TRACE_ID}-b7ad6b7169203331-01`;

async function setup(env: Readonly<Record<string, string>>, root?: string) {
  const sink = await startSink({
    respond: (name, nth) => (name === "flaky" && nth === 1 ? 503 : 200),
  });
  onTestFinished(() => sink.stop());
  const executor = { PAWL_HANDLER_PORT: "0" };
  const cluster = await startCluster({
    env: { ...SINK_EGRESS, ...env },
    envOf: { executor },
    root,
  });
  onTestFailed(() => console.error(cluster.logs()));
  onTestFinished(() => cluster.stop());
  const transport = createConnectTransport({
    baseUrl: cluster.url,
    httpVersion: "1.1",
    interceptors: [
      (next) => (request) => {
        request.header.set("traceparent", TRACEPARENT);
        return next(request);
      },
    ],
  });
  return { sink, cluster, client: createPawlClient({ transport }) };
}

/** The span of the nth attempt of a node. */
function attemptSpan({ spans }: Receiver, nodeId: string, attempt = 1): Span {
  const found = spans.find(
    ({ name, attributes }) =>
      name === "pawl.attempt" &&
      attributes["pawl.node.id"] === nodeId &&
      attributes["pawl.node.attempt"] === String(attempt),
  );
  if (found === undefined) throw new Error(`no span of attempt ${attempt} of ${nodeId}`);
  return found;
}

/** The ids of the spans under the claims of a node, in order. */
const spanIdsOf = (story: Story, nodeId: string): string[] =>
  story
    .of("node.started", nodeId)
    .map(({ eventId, iteration }) =>
      claimSpanId({ runId: story.runId, nodeId, iteration, epoch: eventId }),
    );

const linkIds = (span: Span): string[] => span.links.map(({ spanId }) => spanId);

test("a retry links to the attempt before it, a join to its parents, a queued command continues its caller's trace, and waits, ticks, queries, webhooks and outgoing calls have spans", async () => {
  const receiver = await startReceiver();
  onTestFinished(() => receiver.stop());
  const models = await startModels();
  const { sink, cluster, client } = await setup({
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    PAWL_LLM_PROVIDERS: models.providers,
  });
  const { run } = await client.runs.test(
    graph(["start > flaky > join", "start > other > join", "start > ask"], {
      ask: { type: "llm", config: { model: "one", prompt: "well?" } },
      flaky: call(sink.url("flaky"), {
        retry: { attempts: 2, backoff_ms: 50, retry_on: ["provider_error"] },
      }),
      other: call(sink.url("other")),
      join: call(sink.url("join")),
    }),
  );
  const story = await storyOf(client, run.runId);
  expect(story.status).toBe("completed");
  const commanded = await commandedRun(client);
  const told = await toldRun(client);
  const events = await fetch(`${cluster.url}/execute/workflows/${run.runId}/events`, {
    headers: { traceparent: TRACEPARENT },
  });
  expect(await events.text()).toContain("run.completed");
  await cluster.stop();
  expectCommandInTrace(receiver, commanded);
  expectLineInTrace(cluster.logs(), { run_id: told.runId, assistant_id: "aide" });
  expectWebhookInTrace(receiver, told);
  const [first = "", second = ""] = spanIdsOf(story, "flaky");
  const [other = ""] = spanIdsOf(story, "other");
  const retried = attemptSpan(receiver, "flaky", 2);
  expect(attemptSpan(receiver, "flaky").spanId).toBe(first);
  expect(retried.spanId).toBe(second);
  expect(linkIds(retried)).toContain(first);
  expect(linkIds(attemptSpan(receiver, "join"))).toEqual(expect.arrayContaining([second, other]));
  // The server continues the trace that its caller's span belongs to.
  const outgoing = receiver.spans.filter(
    ({ name, service, attributes }) =>
      service === "pawl-executor" &&
      name === "POST" &&
      attributes["server.address"] === "127.0.0.1",
  );
  const traced = [...sink.calls, ...models.asked].map(({ traceparent }) => traceparent);
  const arrived = [...traced, told.traceparent];
  expect(models.asked).toHaveLength(1);
  expect(arrived.toSorted()).toEqual(
    outgoing.map(({ spanId }) => `00-${TRACE_ID}-${spanId}-01`).toSorted(),
  );
  const waits = receiver.spans.filter(({ name }) => name === "pawl.wait");
  expect(waits.length).toBeGreaterThan(0);
  expect(new Set(waits.map(({ traceId }) => traceId))).toEqual(new Set([TRACE_ID]));
  const ticks = receiver.spans.filter(({ name }) => name === "pawl.tick");
  expect(ticks.length).toBeGreaterThan(0);
  for (const { links } of ticks) expect(links.map(({ traceId }) => traceId)).toContain(TRACE_ID);
  expect(receiver.spans).toContainEqual(
    expect.objectContaining({ name: "pawl.query", traceId: TRACE_ID }),
  );
  expect(receiver.spans).toContainEqual(
    expect.objectContaining({
      name: "GET /execute/workflows/{runId}/events",
      traceId: TRACE_ID,
      service: "pawl-gateway",
    }),
  );
});

/** A model that answers one word. */
async function startModels(): Promise<ModelServer> {
  const models = await startModelServer((_asked, _nth, response) => {
    openStream(response).write(piece({ content: "Yes." }, "stop"));
    response.end("data: [DONE]\r\n\r\n");
  });
  onTestFinished(() => models.stop());
  return models;
}

/** A run with a webhook, and the trace that its receiver got. */
type ToldRun = { readonly runId: string; readonly traceparent: string };

/** Starts a run of an assistant with a webhook, and waits until the call is over. */
async function toldRun(client: PawlClient): Promise<ToldRun> {
  const hook = await startWebhookReceiver();
  onTestFinished(() => hook.stop());
  await client.assistants.create("aide", { workflowId: "commanded" });
  const webhook = { url: hook.url("hook") };
  const { run } = await client.runs.start("", { assistantId: "aide", webhook });
  const { id, headers } = await hook.received("hook");
  await until(async () => (await client.webhooks.delivery(id)).delivery.endTime !== undefined, {
    what: "the end of the delivery",
  });
  return { runId: run.runId, traceparent: String(headers["traceparent"]) };
}

/** Starts a run by a command of the workflow queue, and waits for its end. */
async function commandedRun(client: PawlClient): Promise<string> {
  const work = { type: "javascript", config: { code: "return 1" } };
  const workflowId = "commanded";
  await client.workflows.create({
    id: workflowId,
    title: "Commanded",
    ...graph(["start > late > end"], { late: work }),
  });
  const { commandId } = await client.commands.start(workflowId);
  const runId = await until(
    async () => (await client.commands.get(commandId)).startedRunId || undefined,
    { what: "the run of the command" },
  );
  await client.runs.wait(runId);
  return runId;
}

/** The command is a child of the call that enqueued it, and the attempts of its run are in the same trace. */
function expectCommandInTrace({ spans }: Receiver, runId: string): void {
  const enqueue = spans.find(
    ({ name, service }) =>
      name === "pawl.v1.QueueService/EnqueueCommand" && service === "pawl-scheduler",
  );
  const command = spans.find(({ name }) => name === "pawl.command");
  expect(enqueue).toMatchObject({ traceId: TRACE_ID });
  expect(command).toMatchObject({
    ...{ service: "pawl-scheduler", traceId: TRACE_ID, parentSpanId: enqueue?.spanId },
  });
  const attempt = spans.find(
    ({ name, attributes }) => name === "pawl.attempt" && attributes["pawl.run.id"] === runId,
  );
  expect(attempt).toMatchObject({ traceId: TRACE_ID, parentSpanId: command?.spanId });
}

/** Waits until a schedule has started a run. */
async function scheduledRun(client: PawlClient): Promise<void> {
  const workflowId = "scheduled";
  await client.workflows.apply({ ...graph(["start > end"]), id: workflowId });
  await client.schedules.create("often", { workflowId, expression: "* * * * * *" });
  const runs = async () => (await client.runs.list({ workflowId })).runs[0];
  await until(runs, { what: "the run of an occurrence" });
}

/** The executor's line about the attempt of a run has the ids of its trace. */
function expectLineInTrace(
  logs: string,
  about: { readonly run_id: string; readonly assistant_id: string },
): void {
  const lines = logs
    .split("\n")
    .filter((line) => line.includes("attempt ended") && line.includes(about.run_id));
  expect(lines.map((line): unknown => JSON.parse(line))).toEqual([
    expect.objectContaining({ ...about, workflow_id: "commanded", trace_id: TRACE_ID }),
  ]);
}

/** The webhook call is a child of the call that started its run, and the receiver gets the trace. */
function expectWebhookInTrace({ spans }: Receiver, { runId, traceparent }: ToldRun): void {
  const start = spans.find(
    ({ name, service }) => name === "pawl.v1.RunService/StartRun" && service === "pawl-scheduler",
  );
  const webhook = spans.find(({ name }) => name === "pawl.webhook");
  expect(webhook).toMatchObject({
    ...{ service: "pawl-executor", traceId: TRACE_ID, parentSpanId: start?.spanId },
    links: [{ traceId: TRACE_ID, spanId: start?.spanId }],
    attributes: { "pawl.run.id": runId, "pawl.delivery.call": "1" },
  });
  const post = spans.find(({ parentSpanId }) => parentSpanId === webhook?.spanId);
  expect(traceparent).toBe(`00-${TRACE_ID}-${post?.spanId}-01`);
}

test("spans, also of an occurrence of a schedule, are exported over gRPC if the environment asks for it, and calls to other servers continue a trace also without any export", async () => {
  const receiver = await startGrpcReceiver();
  onTestFinished(() => receiver.stop());
  // The exporter loads its parts when it sends. A service in one file does not have them, so the sources run here.
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
  };
  const { sink, cluster, client } = await setup(env, ROOT);
  const { run } = await client.runs.test(graph(["start > work"], { work: call(sink.url("work")) }));
  expect((await storyOf(client, run.runId)).status).toBe("completed");
  await scheduledRun(client);
  await cluster.stop();
  for (const name of ["pawl.attempt", "pawl.schedule.occurrence"])
    await until(() => receiver.text().includes(name), { what: `the span ${name}` });
  for (const service of ["pawl-gateway", "pawl-scheduler", "pawl-executor"])
    expect(receiver.text()).toContain(service);
  const silent = await setup({ OTEL_TRACES_EXPORTER: "none" });
  const quiet = await silent.client.runs.test(
    graph(["start > work"], { work: call(silent.sink.url("work")) }),
  );
  await storyOf(silent.client, quiet.run.runId);
  expect((await silent.sink.received("work")).traceparent).toMatch(new RegExp(`^00-${TRACE_ID}-`));
});
