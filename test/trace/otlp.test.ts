// The view of operators: one trace from the caller to the handler, exported over OTLP, and the metrics of every service.
import { createConnectTransport } from "@connectrpc/connect-node";
import type { Interceptor } from "@connectrpc/connect";
import { createPawlClient, type PawlClient } from "@pawl/client";
import { freePort, LOOPBACK } from "@pawl/deploy/ports.ts";
import { expect, onTestFailed, onTestFinished, test } from "vitest";
import { graph } from "../flow/graph.ts";
import { storyOf } from "../flow/story.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { until } from "../support/until.ts";
import { startReceiver, type Receiver, type Span } from "./receiver.ts";

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const CALLER_ID = "b7ad6b7169203331";
/** As OTLP numbers them. */
const KIND = { internal: 1, server: 2, client: 3 } as const;

type Setup = {
  readonly cluster: Cluster;
  readonly receiver: Receiver;
  readonly client: PawlClient;
  readonly schedulerMetrics: string;
};

async function setup(env: Readonly<Record<string, string>> = {}): Promise<Setup> {
  const receiver = await startReceiver();
  onTestFinished(() => receiver.stop());
  const metricsPort = await freePort();
  const cluster = await startCluster({
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...env },
    envOf: { scheduler: { PAWL_METRICS_PORT: String(metricsPort), PAWL_POLL_MS: "100" } },
  });
  onTestFailed(() => console.error(cluster.logs()));
  onTestFinished(() => cluster.stop());
  const traced: Interceptor = (next) => (request) => {
    request.header.set("traceparent", `00-${TRACE_ID}-${CALLER_ID}-01`);
    return next(request);
  };
  const transport = createConnectTransport({
    baseUrl: cluster.url,
    httpVersion: "1.1",
    interceptors: [traced],
  });
  const schedulerMetrics = `http://${LOOPBACK}:${metricsPort}`;
  return { cluster, receiver, client: createPawlClient({ transport }), schedulerMetrics };
}

test("a run is one trace from its caller through gateway, scheduler and executor to the handler (S1.48)", async () => {
  const { cluster, receiver, client } = await setup();
  const { run } = await client.runs.test(graph(["start > work"]));
  expect(run.traceId).toBe(TRACE_ID);
  expect((await storyOf(client, run.runId)).status).toBe("completed");
  const [, completed] = (await client.events.list(run.runId)).events;
  expect(completed).toMatchObject({
    eventId: 2n,
    runId: run.runId,
    type: "node.completed",
    time: { $typeName: "google.protobuf.Timestamp" },
    correlation: { traceId: TRACE_ID, wave: 0, phase: "engine" },
  });
  // A service sends what it still holds back when it stops.
  await cluster.stop();
  expect([...receiver.paths]).toEqual(["/v1/traces"]);
  const one = (service: string, name: string, more: Partial<Span> = {}): Span => {
    const found = receiver.spans.filter(
      (span) =>
        span.service === service &&
        span.name === name &&
        Object.entries(more).every(([key, value]) => span[key as keyof Span] === value), // keys of a Partial<Span>
    );
    expect(found, `${service} ${name}`).toHaveLength(1);
    return found[0] as Span; // its length was just checked
  };
  const method = "pawl.v1.RunService/TestRun";
  const edge = one("pawl-gateway", method, { kind: KIND.server, parentSpanId: CALLER_ID });
  const forward = one("pawl-gateway", method, { kind: KIND.client, parentSpanId: edge.spanId });
  const accept = one("pawl-scheduler", method, {
    kind: KIND.server,
    parentSpanId: forward.spanId,
  });
  const attempts = receiver.spans.filter((span) => span.name === "pawl.attempt");
  expect(attempts.map((span) => span.attributes["pawl.node.id"])).toEqual(["work"]);
  for (const attempt of attempts) {
    expect(attempt).toMatchObject({
      service: "pawl-executor",
      parentSpanId: accept.spanId,
      links: [{ traceId: TRACE_ID, spanId: accept.spanId }],
      attributes: { "pawl.run.id": run.runId, "pawl.outcome": "completed" },
    });
    const handler = one("pawl-executor", "pawl.handler", { parentSpanId: attempt.spanId });
    expect(handler.attributes["pawl.node.type"]).toBe(attempt.attributes["pawl.node.type"]);
  }
  for (const span of [edge, forward, accept, ...attempts]) expect(span.traceId).toBe(TRACE_ID);
});

test("without tracing nothing is exported and the caller's trace is still passed on; every service says its metrics, units in their names (S0.58)", async () => {
  const { cluster, receiver, client, schedulerMetrics } = await setup({
    OTEL_TRACES_EXPORTER: "none",
  });
  const { run } = await client.runs.test(graph(["start > work"]));
  expect(run.traceId).toBe(TRACE_ID);
  expect((await storyOf(client, run.runId)).status).toBe("completed");
  const scheduler = await metricsOf(schedulerMetrics, {
    pawl_runs_started_total: 1,
    pawl_runs_finished_total: 1,
    pawl_run_duration_seconds_count: 1,
    pawl_nodes_started_total: 1,
    pawl_nodes_completed_total: 2,
    pawl_executors_connected: 1,
    pawl_leases: 0,
    pawl_queue_depth: 0,
  });
  expect(scheduler["pawl_tick_duration_seconds_count"]).toBeGreaterThan(0);
  expect(scheduler["pawl_tick_batch_size_count"]).toBeGreaterThan(0);
  expect(scheduler["pawl_sweep_duration_seconds_count"]).toBeGreaterThan(0);
  await metricsOf(cluster.executors[0]?.url, {
    pawl_handler_duration_seconds_count: 1,
    pawl_slots_busy: 0,
  });
  const gateway = await metricsOf(cluster.url, { pawl_stream_subscribers: 0 });
  expect(gateway["pawl_events_delivered_total"]).toBeGreaterThan(0);
  // The two names that OpenTelemetry's conventions fix.
  expect(gateway["rpc_server_call_duration_count"]).toBeGreaterThan(0);
  expect(gateway["rpc_client_call_duration_count"]).toBeGreaterThan(0);
  await cluster.stop();
  expect(receiver.spans).toEqual([]);
  expect([...receiver.paths]).toEqual([]);
});

/** Sums of the samples by name, once the expected ones are among them: a service counts a task a little after it is done. */
const metricsOf = (
  url: string | undefined,
  expected: Readonly<Record<string, number>>,
): Promise<Record<string, number>> =>
  until(
    async () => {
      const text = await (await fetch(`${url}/metrics`)).text();
      const sums: Record<string, number> = {};
      for (const [, sample = "", value] of text.matchAll(/^(\w+)(?:\{[^}]*\})? (\S+)/gm))
        sums[sample] = (sums[sample] ?? 0) + Number(value);
      expect(sums).toMatchObject(expected);
      return sums;
    },
    { what: `the metrics of ${url}` },
  );
