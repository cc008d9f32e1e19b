// Helpers for tracing: the tracer, a span around a function, and the traceparent in queues and streams.

import {
  ROOT_CONTEXT,
  SpanStatusCode,
  context,
  propagation,
  trace,
  type Attributes,
  type Context,
  type Link,
  type Span,
  type SpanKind,
  type Tracer,
} from "@opentelemetry/api";

const SCOPE = "pawl";

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
}

/** Runs `work` in a span. A rejection marks the span as failed and is thrown again. */
export const withSpan = async <Result>(
  name: string,
  settings: SpanSettings,
  work: (span: Span) => Promise<Result>,
): Promise<Result> => {
  const { parent = context.active(), ...options } = settings;
  const span = tracer().startSpan(name, options, parent);
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
