import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { context, trace } from "@opentelemetry/api";
import { expect, onTestFinished, test } from "vitest";

import { METRICS } from "./catalogue.ts";
import { createLogger } from "./log.ts";
import { startTelemetry, wantsTraces } from "./start.ts";
import { withSpan } from "./trace.ts";

const setup = async (env: Readonly<Record<string, string>> = {}) => {
  const telemetry = await startTelemetry({ serviceName: "pawl-test", env });
  onTestFinished(() => {
    trace.disable();
    context.disable();
  });
  return telemetry;
};

const collector = async () => {
  const posted = Promise.withResolvers<{ path: string; body: string }>();
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
      posted.resolve({ path: request.url ?? "", body });
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, posted: posted.promise };
};

test("metrics are Prometheus text with units in their names and no doubled suffix", async () => {
  const telemetry = await setup();
  METRICS.nodesCompleted.add(2, { state: "completed", type: "http" });
  METRICS.tickDuration.record(0.001);
  METRICS.queueDepth.set(7, { queue: "default" });
  METRICS.streamSubscribers.add(1);
  METRICS.streamSubscribers.add(-1);
  const lines = (await telemetry.metricsText()).split("\n");
  expect(lines).toContain('pawl_nodes_completed_total{state="completed",type="http"} 2');
  expect(lines).toContain('pawl_tick_duration_seconds_bucket{le="0.001"} 1');
  expect(lines).toContain('pawl_queue_depth{queue="default"} 7');
  expect(lines).toContain("pawl_stream_subscribers 0");
  expect(lines.find((line) => line.startsWith("target_info"))).toContain("pawl-test");
});

test("every metric of Pawl has a prefix, a unit where it has one, and a name of its own", () => {
  const names = Object.values(METRICS).map((metric) => metric.name);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names)
    expect(name).toMatch(/^(pawl_[a-z_]+|rpc\.(server|client)\.call\.duration)$/);
});

test("recording before the start is harmless", () => {
  METRICS.claimsFenced.add(1);
});

test("traces are on only if the environment asks for them", () => {
  expect(wantsTraces({})).toBe(false);
  expect(wantsTraces({ OTEL_EXPORTER_OTLP_ENDPOINT: "" })).toBe(false);
  expect(wantsTraces({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" })).toBe(true);
  expect(wantsTraces({ OTEL_TRACES_EXPORTER: "otlp" })).toBe(true);
  expect(
    wantsTraces({ OTEL_TRACES_EXPORTER: "none", OTEL_EXPORTER_OTLP_ENDPOINT: "http://c" }),
  ).toBe(false);
  expect(wantsTraces({ OTEL_TRACES_EXPORTER: "otlp", OTEL_SDK_DISABLED: "true" })).toBe(false);
});

test("with tracing off a span is not recorded", async () => {
  const telemetry = await setup();
  expect(telemetry.isTracing).toBe(false);
  expect(await withSpan("x", {}, async (span) => span.isRecording())).toBe(false);
});

test("spans reach the collector by the time the shutdown settles", async () => {
  const { url, posted } = await collector();
  const telemetry = await setup({ OTEL_EXPORTER_OTLP_ENDPOINT: url });
  expect(telemetry.isTracing).toBe(true);
  await withSpan("the work", {}, async () => undefined);
  await telemetry.shutdown();
  const { path, body } = await posted;
  expect(path).toBe("/v1/traces");
  expect(body).toContain("the work");
  expect(body).toContain("pawl-test");
});

test("metrics are pushed if the environment asks for it, and can still be pulled", async () => {
  const { url, posted } = await collector();
  const telemetry = await setup({
    OTEL_METRICS_EXPORTER: "otlp",
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${url}/v1/metrics`,
  });
  METRICS.runsStarted.add(1, { kind: "saved" });
  expect(await telemetry.metricsText()).toContain("pawl_runs_started_total");
  await telemetry.shutdown();
  const { path, body } = await posted;
  expect(path).toBe("/v1/metrics");
  expect(body).toContain("pawl_runs_started_total");
});

test("a log line is JSON with the ids of its trace and of its run", async () => {
  const { url } = await collector();
  const telemetry = await setup({ OTEL_EXPORTER_OTLP_ENDPOINT: url });
  const lines: string[] = [];
  const log = createLogger({
    service: "test",
    level: "info",
    destination: { write: (line) => void lines.push(line) },
  });
  await withSpan("x", {}, async (span) => {
    log.child({ run_id: "r", node_id: "n", epoch: 7 }).info("claimed");
    log.debug("too quiet");
    const line: unknown = JSON.parse(lines[0] ?? "");
    expect(line).toMatchObject({
      level: "info",
      msg: "claimed",
      service: "test",
      run_id: "r",
      node_id: "n",
      epoch: 7,
      trace_id: span.spanContext().traceId,
      span_id: span.spanContext().spanId,
    });
  });
  log.warn({ err: new Error("why") }, "outside");
  expect(lines).toHaveLength(2);
  expect(lines[1]).not.toContain("trace_id");
  expect(lines[1]).toContain("why");
  await telemetry.shutdown();
});
