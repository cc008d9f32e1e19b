// Structured logging: one JSON object per line on stdout, with its trace. Lines about a run carry run_id, node_id, epoch.

import { context, isSpanContextValid, trace } from "@opentelemetry/api";
import { pino, type DestinationStream, type Logger as PinoLogger } from "pino";

/** The logger that every room gets. `child` makes narrower ones. */
export type Logger = PinoLogger;

interface LoggerOptions {
  /** The name of the service. */
  readonly service: string;
  /** trace, debug, info, warn, error, fatal or silent. */
  readonly level: string;
  /** stdout by default. The logger writes synchronously, because the last line before a crash matters most. */
  readonly destination?: DestinationStream;
}

const traceFields = (): Record<string, string> => {
  const span = trace.getSpanContext(context.active());
  if (span === undefined || !isSpanContextValid(span)) return {};
  return { trace_id: span.traceId, span_id: span.spanId };
};

/** A logger of `service`. */
export const createLogger = (options: LoggerOptions): Logger => {
  const settings = {
    level: options.level,
    base: { service: options.service, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    mixin: traceFields,
  };
  // pino buffers by default, and a killed process would lose its last lines.
  return pino(settings, options.destination ?? pino.destination({ dest: 1, sync: true }));
};
