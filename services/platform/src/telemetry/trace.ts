// Small words for tracing: the tracer, a span around a function, and the traceparent that travels through queues and streams.

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

/** The tracer of Pawl; a no-op one unless `startTelemetry` was asked for traces. */
export const tracer = (): Tracer => trace.getTracer(SCOPE);

/** The W3C traceparent of the active span, also of one that is merely passed on; "" when there is none. */
export const currentTraceparent = (from: Context = context.active()): string => {
  const carrier: Record<string, string> = {};
  propagation.inject(from, carrier);
  return carrier["traceparent"] ?? "";
};

/** A context whose parent span is the one `traceparent` names; the root context when it names none. */
export const contextFrom = (traceparent: string | undefined): Context =>
  traceparent === undefined || traceparent === ""
    ? ROOT_CONTEXT
    : propagation.extract(ROOT_CONTEXT, { traceparent });

/** A link to the span `traceparent` names: work taken from a queue is linked to who enqueued it, not its child. */
export const linksTo = (traceparent: string | undefined): Link[] => {
  const spanContext = trace.getSpanContext(contextFrom(traceparent));
  return spanContext === undefined ? [] : [{ context: spanContext }];
};

export interface SpanSettings {
  readonly kind?: SpanKind;
  readonly attributes?: Attributes;
  readonly links?: Link[];
  /** Where the span hangs; default the active context. */
  readonly parent?: Context;
}

/** Runs `work` in a span of its own, which ends with it; a rejection marks the span as failed and is thrown on. */
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
