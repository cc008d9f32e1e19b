// Starts OpenTelemetry. Metrics are always on: pulled as Prometheus text, and pushed if OTEL_* asks for it. Traces are on only if OTEL_*
// asks for them, because the SDK costs start-up time and every span some microseconds. Without traces a service still forwards a
// traceparent.

import { context, metrics, propagation, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { PrometheusExporter, PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import { resourceFromAttributes, type Resource } from "@opentelemetry/resources";
import { MeterProvider, type MetricReader } from "@opentelemetry/sdk-metrics";

import { bindMetrics } from "./catalogue.ts";
import { turnTracingOn } from "./trace.ts";

type Env = Readonly<Record<string, string | undefined>>;

interface TelemetryOptions {
  /** service.name, such as pawl-scheduler. */
  readonly serviceName: string;
  readonly env: Env;
}

export interface Telemetry {
  /** Whether spans are recorded. */
  readonly isTracing: boolean;
  /** Every metric in Prometheus' text format. */
  metricsText(): Promise<string>;
  /** Sends buffered telemetry, and stops. */
  shutdown(): Promise<void>;
}

/** Whether the environment asks for traces to be exported. */
export const wantsTraces = (env: Env): boolean => {
  const exporter = env["OTEL_TRACES_EXPORTER"];
  if (env["OTEL_SDK_DISABLED"] === "true" || exporter === "none") return false;
  return exporter === "otlp" || endpointFrom(env, "traces").url !== undefined;
};

/** Whether the environment asks for metrics to be pushed as well. */
const wantsMetrics = (env: Env): boolean =>
  env["OTEL_SDK_DISABLED"] !== "true" && env["OTEL_METRICS_EXPORTER"] === "otlp";

/** Starts telemetry for this process; call it once, before anything records. */
export const startTelemetry = async (options: TelemetryOptions): Promise<Telemetry> => {
  const { env } = options;
  const resource = resourceFromAttributes({
    "service.name": env["OTEL_SERVICE_NAME"] ?? options.serviceName,
    "service.namespace": "pawl",
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());

  const reader = new PrometheusExporter({ preventServerStart: true });
  const readers = wantsMetrics(env) ? [reader, await pushReader(env)] : [reader];
  const meterProvider = new MeterProvider({ resource, readers });
  metrics.setGlobalMeterProvider(meterProvider);
  bindMetrics(meterProvider.getMeter("pawl"));
  const serializer = new PrometheusSerializer(undefined, false, undefined, false, true);

  const stopTraces = wantsTraces(env) ? await startTraces(resource, env) : undefined;
  return {
    isTracing: stopTraces !== undefined,
    metricsText: async () => serializer.serialize((await reader.collect()).resourceMetrics),
    shutdown: async () => {
      await stopTraces?.();
      await meterProvider.shutdown();
    },
  };
};

const PUSH_INTERVAL_MS = 60_000;

/** A reader that pushes at the standard interval. */
const pushReader = async (env: Env): Promise<MetricReader> => {
  const [{ PeriodicExportingMetricReader }, { OTLPMetricExporter }] = await Promise.all([
    import("@opentelemetry/sdk-metrics"),
    speaksGrpc(env, "metrics")
      ? import("@opentelemetry/exporter-metrics-otlp-grpc")
      : import("@opentelemetry/exporter-metrics-otlp-http"),
  ]);
  const asked = Number(env["OTEL_METRIC_EXPORT_INTERVAL"] ?? "");
  return new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter(endpointFrom(env, "metrics")),
    exportIntervalMillis: asked > 0 ? asked : PUSH_INTERVAL_MS,
  });
};

/** Loads the tracing SDK, which the process does not need otherwise. */
const startTraces = async (resource: Resource, env: Env): Promise<() => Promise<void>> => {
  const [{ BatchSpanProcessor, TracerProvider }, { OTLPTraceExporter }, { samplerFrom }, ids] =
    await Promise.all([
      import("@opentelemetry/sdk-trace"),
      speaksGrpc(env, "traces")
        ? import("@opentelemetry/exporter-trace-otlp-grpc")
        : import("@opentelemetry/exporter-trace-otlp-http"),
      import("./sampler.ts"),
      import("./id-generator.ts"),
    ]);
  const provider = new TracerProvider({
    resource,
    sampler: samplerFrom(env),
    idGenerator: new ids.ClaimIdGenerator(),
    spanProcessors: [
      new BatchSpanProcessor({ exporter: new OTLPTraceExporter(endpointFrom(env, "traces")) }),
    ],
  });
  trace.setGlobalTracerProvider(provider);
  turnTracingOn();
  return () => provider.shutdown();
};

type Signal = "traces" | "metrics";

/** Whether a signal goes over gRPC. OTLP over HTTP is the default. */
const speaksGrpc = (env: Env, signal: Signal): boolean =>
  (env[`OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_PROTOCOL`] ??
    env["OTEL_EXPORTER_OTLP_PROTOCOL"]) === "grpc";

/** The address of a signal. The exporter reads headers, timeouts and compression from the standard variables. */
const endpointFrom = (env: Env, signal: Signal): { readonly url?: string } => {
  const own = env[`OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_ENDPOINT`] ?? "";
  const base = env["OTEL_EXPORTER_OTLP_ENDPOINT"] ?? "";
  if (own !== "") return { url: own };
  if (base === "") return {};
  return { url: speaksGrpc(env, signal) ? base : `${base.replace(/\/$/, "")}/v1/${signal}` };
};
