// One trace across client and server, over real sockets, with an exporter that keeps its spans.

import { Code, createClient, createRouterTransport } from "@connectrpc/connect";
import { SpanKind, context, trace } from "@opentelemetry/api";
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { EngineError } from "@pawl/core/fault/engine-error";
import { EventService } from "@pawl/proto/pawl/v1/event_service_pb";
import { RunService } from "@pawl/proto/pawl/v1/run_service_pb";
import { WorkerService } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { expect, onTestFinished, test } from "vitest";

import { until } from "../../../../test/support/until.ts";
import { startTelemetry } from "../telemetry/start.ts";
import { currentTraceparent, linksTo, withSpan } from "../telemetry/trace.ts";
import { connectErrors, connectTracing } from "./connect.ts";
import { createGrpcClient } from "./grpc-client.ts";
import { startGrpcServer } from "./grpc-server.ts";
import { serve, type Implementation } from "./implementation.ts";

const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";

const setup = async (
  implementation: Implementation<typeof RunService>,
  { tracing }: { readonly tracing: boolean } = { tracing: true },
) => {
  const telemetry = await startTelemetry({ serviceName: "test", env: {} });
  const exporter = new InMemorySpanExporter();
  if (tracing) {
    const spanProcessors = [new SimpleSpanProcessor({ exporter })];
    trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors }));
  }
  const server = await startGrpcServer({
    host: "127.0.0.1",
    port: 0,
    services: [
      serve(RunService, implementation),
      serve(WorkerService, {
        work: (stream) => stream.listen({ message: () => undefined, end: () => stream.end() }),
      }),
    ],
    onInternal: () => undefined,
  });
  const address = `127.0.0.1:${server.port}`;
  const client = createGrpcClient(RunService, address);
  onTestFinished(async () => {
    client.close();
    await server.stop(0);
    await telemetry.shutdown();
    trace.disable();
    context.disable();
  });
  return { telemetry, exporter, client, address };
};

/** All spans, once there are so many: the two sides of a call end at different times. */
const finished = (exporter: InMemorySpanExporter, count: number) =>
  until(
    () => {
      const spans = exporter.getFinishedSpans();
      return spans.length >= count ? spans : undefined;
    },
    { what: `${count} spans` },
  );

test("a call is one trace: the caller's span, the client's, the server's and the handler's", async () => {
  const { client, exporter } = await setup({
    getRun: () => withSpan("handler", {}, async () => ({})),
  });
  await withSpan("caller", {}, () => client.call.getRun({}));
  const spans = await finished(exporter, 4);
  const method = "pawl.v1.RunService/GetRun";
  const find = (name: string, kind: SpanKind) =>
    spans.find((span) => span.name === name && span.kind === kind);
  const caller = find("caller", SpanKind.INTERNAL);
  const requester = find(method, SpanKind.CLIENT);
  const server = find(method, SpanKind.SERVER);
  const handler = find("handler", SpanKind.INTERNAL);
  expect(new Set(spans.map((span) => span.spanContext().traceId)).size).toBe(1);
  expect(requester?.parentSpanContext?.spanId).toBe(caller?.spanContext().spanId);
  expect(server?.parentSpanContext?.spanId).toBe(requester?.spanContext().spanId);
  expect(handler?.parentSpanContext?.spanId).toBe(server?.spanContext().spanId);
  expect(server?.attributes).toMatchObject({
    "rpc.system.name": "grpc",
    "rpc.method": method,
    "rpc.response.status_code": "OK",
  });
});

test("a failed call shows its code on both spans and in the metric", async () => {
  const { client, exporter, telemetry } = await setup({
    getRun: () => Promise.reject(new EngineError("RUN_NOT_FOUND", "no")),
  });
  await expect(client.call.getRun({})).rejects.toThrow("no");
  const codes = (await finished(exporter, 2)).map(
    (span) => span.attributes["rpc.response.status_code"],
  );
  expect(codes).toEqual(["NOT_FOUND", "NOT_FOUND"]);
  expect(await telemetry.metricsText()).toContain(
    'rpc_server_call_duration_count{rpc_method="pawl.v1.RunService/GetRun",rpc_response_status_code="NOT_FOUND"} 1',
  );
});

test("a stream is one span on each side", async () => {
  const { exporter, address } = await setup({});
  const client = createGrpcClient(WorkerService, address);
  onTestFinished(() => client.close());
  const stream = client.open.work();
  stream.listen({ message: () => undefined });
  for (let turn = 0; turn < 10; turn += 1) stream.write({});
  stream.end();
  await stream.closed;
  const spans = await finished(exporter, 2);
  expect(new Set(spans.map((span) => span.kind))).toEqual(
    new Set([SpanKind.SERVER, SpanKind.CLIENT]),
  );
  expect(spans).toHaveLength(2);
  expect(new Set(spans.map((span) => span.spanContext().traceId)).size).toBe(1);
});

test("with tracing off nothing is recorded, and a caller's traceparent is still passed on", async () => {
  const inner = await setup(
    { getRun: async () => ({ definitionJson: Buffer.from(currentTraceparent()) }) },
    { tracing: false },
  );
  const outer = await setup(
    { getRun: async () => inner.client.call.getRun({}) },
    { tracing: false },
  );
  const traceparent = async (metadata: Record<string, string>) =>
    Buffer.from((await outer.client.call.getRun({}, { metadata })).definitionJson).toString();
  expect(await traceparent({ traceparent: TRACEPARENT })).toBe(TRACEPARENT);
  expect(await traceparent({})).toBe("");
  expect(outer.exporter.getFinishedSpans()).toEqual([]);
});

test("work from a queue is linked to the span that enqueued it", async () => {
  await setup({});
  expect(linksTo(TRACEPARENT)[0]?.context.traceId).toBe(TRACE_ID);
  expect(linksTo("")).toEqual([]);
  expect(linksTo("nonsense")).toEqual([]);
});

test("a stream of the edge is made in its caller's trace, from its first item to its clean-up", async () => {
  await setup({});
  const seen: string[] = [];
  const see = (): void => void seen.push(currentTraceparent().split("-")[1] ?? "");
  const transport = createRouterTransport(
    (router) =>
      router.service(EventService, {
        watchRun: async function* () {
          try {
            see();
            yield {};
            await Promise.resolve();
            see();
            yield {};
          } finally {
            see();
          }
        },
      }),
    { router: { interceptors: [connectTracing] } },
  );
  const events = createClient(EventService, transport);
  for await (const _ of events.watchRun({}, { headers: { traceparent: TRACEPARENT } }));
  expect(seen).toEqual([TRACE_ID, TRACE_ID, TRACE_ID]);
});

test("the edge continues a browser's trace, maps errors and measures streams to their end", async () => {
  const { exporter, telemetry } = await setup({});
  const faults: unknown[] = [];
  const interceptors = [connectTracing, connectErrors(({ error }) => void faults.push(error))];
  const bug = new Error("bug");
  const transport = createRouterTransport(
    (router) => {
      router.service(RunService, {
        getRun: () => {
          throw new EngineError("RUN_NOT_FOUND", "no run", { metadata: { run_id: "r" } });
        },
      });
      router.service(EventService, {
        // oxlint-disable-next-line require-yield -- the stream breaks before its first event
        watchRun: async function* () {
          throw bug;
        },
      });
    },
    { router: { interceptors } },
  );
  const headers = { traceparent: TRACEPARENT };
  const runs = createClient(RunService, transport);
  await expect(runs.getRun({}, { headers })).rejects.toMatchObject({ code: Code.NotFound });
  const events = createClient(EventService, transport);
  const watching = events.watchRun({}, { headers })[Symbol.asyncIterator]();
  await expect(watching.next()).rejects.toMatchObject({
    code: Code.Internal,
    rawMessage: expect.stringContaining("quote request"),
  });
  expect(faults).toEqual([bug]);
  const spans = exporter.getFinishedSpans();
  expect(spans.map((span) => span.spanContext().traceId)).toEqual([TRACE_ID, TRACE_ID]);
  expect(spans.map((span) => span.attributes["rpc.response.status_code"])).toEqual([
    "NOT_FOUND",
    "INTERNAL",
  ]);
  expect(await telemetry.metricsText()).toContain('rpc_method="pawl.v1.EventService/WatchRun"');
});
