// Helpers for tracing: the tracer, a span around a function, and the traceparent in queues and streams.

import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  context,
  propagation,
  trace,
  type Attributes,
  type Context,
  type Link,
  type Span,
  type Tracer,
} from "@opentelemetry/api";
import { withSpanId } from "./span-id.ts";

const SCOPE = "pawl";

/** The parent of a span that begins a trace. */
export const NO_TRACE: Context = ROOT_CONTEXT;
/** The kind of a span that answers a call. */
export const serverSide = SpanKind.SERVER;

let isOn = false;
/** Whether spans are recorded. Links of a tick cost time, so the scheduler computes them only then. */
export const isTracing = (): boolean => isOn;
export const turnTracingOn = (): void => {
  isOn = true;
};

/** The tracer of Pawl. It does nothing unless `startTelemetry` turned traces on. */
export const tracer = (): Tracer => trace.getTracer(SCOPE);

/** The W3C traceparent of the active span, also of a span that is only forwarded. "" if there is none. */
export const currentTraceparent = (from: Context = context.active()): string => {
  const carrier: Record<string, string> = {};
  propagation.inject(from, carrier);
  return carrier["traceparent"] ?? "";
};

/** A context whose parent is the span that `traceparent` names. The root context if it names none. */
export const contextFrom = (traceparent: string | undefined): Context =>
  traceparent === undefined || traceparent === ""
    ? ROOT_CONTEXT
    : propagation.extract(ROOT_CONTEXT, { traceparent });

/** The span of a trace by its id, such as the span of an earlier attempt. */
export const linkTo = (traceparent: string, spanId: string): Link[] => {
  const spanContext = trace.getSpanContext(contextFrom(traceparent));
  return spanContext === undefined ? [] : [{ context: { ...spanContext, spanId } }];
};

/** A link to the span that `traceparent` names. Work from a queue links to its producer and is not its child. */
export const linksTo = (traceparent: string | undefined): Link[] => {
  const spanContext = trace.getSpanContext(contextFrom(traceparent));
  return spanContext === undefined ? [] : [{ context: spanContext }];
};

interface SpanSettings {
  readonly kind?: SpanKind;
  readonly attributes?: Attributes;
  readonly links?: Link[];
  /** The parent context of the span. The active context by default. */
  readonly parent?: Context;
  /** The id of the span. Random by default. */
  readonly spanId?: string;
}

/** Runs `work` in a span. A rejection marks the span as failed and is thrown again. */
export const withSpan = async <Result>(
  name: string,
  settings: SpanSettings,
  work: (span: Span) => Promise<Result>,
): Promise<Result> => {
  const { parent = context.active(), spanId, ...options } = settings;
  const span = withSpanId(spanId, () => tracer().startSpan(name, options, parent));
  try {
    return await context.with(trace.setSpan(parent, span), () => work(span));
  } catch (error) {
    span.recordException(error instanceof Error ? error : String(error));
    span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
};

/** Runs `work` in a span of its own if a recorded span is active. Polls and sweeps, which belong to no trace, make no spans. */
export const inActiveTrace = <Result>(
  name: string,
  settings: SpanSettings,
  work: (span?: Span) => Promise<Result>,
): Promise<Result> =>
  trace.getActiveSpan()?.isRecording() === true ? withSpan(name, settings, work) : work();

/** Runs `work` in the trace that `traceparent` names, without a span. */
export const inTraceOf = <Result>(traceparent: string, work: () => Result): Result =>
  traceparent === "" ? work() : context.with(contextFrom(traceparent), work);

/** The headers that continue the active trace at another server. Empty if there is none. */
export const traceHeaders = (): Readonly<Record<string, string>> => {
  const traceparent = currentTraceparent();
  return traceparent === "" ? {} : { traceparent };
};
