// Structured logging: one JSON object a line on stdout, with the trace it belongs to. Lines about a run carry run_id, node_id, epoch.

import { context, isSpanContextValid, trace } from "@opentelemetry/api";
import { pino, type DestinationStream, type Logger as PinoLogger } from "pino";

/** The logger every room is handed; make narrower ones with `child`. */
export type Logger = PinoLogger;

export interface LoggerOptions {
  /** Which service speaks. */
  readonly service: string;
  /** trace, debug, info, warn, error, fatal or silent. */
  readonly level: string;
  /** Default stdout, written synchronously: the last line before a crash is the one that matters. */
  readonly destination?: DestinationStream;
}

/** What may be bound to a child logger; the names are those of the log's consumers. */
export interface LogFields {
  readonly run_id?: string;
  readonly node_id?: string;
  readonly iteration?: number;
  readonly epoch?: number | bigint;
  readonly executor_id?: string;
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
  // pino buffers by itself unless told otherwise, and a killed process would take its last lines along.
  return pino(settings, options.destination ?? pino.destination({ dest: 1, sync: true }));
};
