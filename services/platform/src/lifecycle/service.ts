// The life of a service process: starting → serving → draining → gone.
// SIGTERM or SIGINT drains, within a bound; a second one ends at once. A start that fails, a drain that takes too long and a promise
// nobody caught end with 1. Race survived: a signal during the start drains what has started as soon as it has.

import { flushCompileCache } from "node:module";
import type { Logger } from "../telemetry/log.ts";
import { DEFAULT_DRAIN_MS } from "../config/settings.ts";

/** What a service is given to start with. */
export interface ServiceContext {
  /** Aborted when draining begins. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Ends the process: something it cannot live without is gone. */
  fail(error: unknown): void;
}

/** A service that serves. */
export interface Running {
  /** Printed in the ready line. */
  readonly port?: number;
  /** Lets work end and gives back what is held; the process leaves when it settles. */
  stop(): Promise<void>;
}

export interface ServiceOptions {
  readonly name: string;
  readonly log: Logger;
  readonly start: (context: ServiceContext) => Promise<Running>;
  /** How long a drain may take. */
  readonly drainMs?: number;
  /** Called last, whatever happened; sends telemetry still held back. */
  readonly flush?: () => Promise<void>;
}

const SIGNAL_EXIT = { SIGINT: 130, SIGTERM: 143 } as const;
type Signal = keyof typeof SIGNAL_EXIT;
/** What flushing telemetry may take of a process that wants to leave. */
const FLUSH_MS = 2_000;

/** Runs a service until it is told to stop, and ends the process. The promise settles only in so far as the process lives. */
export const runService = async (options: ServiceOptions): Promise<void> => {
  const { log, drainMs = DEFAULT_DRAIN_MS } = options;
  const draining = new AbortController();
  const { promise: ended, resolve: end } = Promise.withResolvers<number>();

  const onSignal = (signal: Signal): void => {
    if (draining.signal.aborted) {
      log.warn({ signal }, "forced to stop");
      process.exit(SIGNAL_EXIT[signal]);
    }
    log.info({ signal }, "draining");
    draining.abort();
    end(0);
  };
  const fail = (error: unknown): void => {
    log.fatal({ err: error }, "cannot go on");
    draining.abort();
    end(1);
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  const onLost = (error: unknown): void => {
    log.fatal({ err: error }, "uncaught error");
    process.exit(1);
  };
  process.on("unhandledRejection", onLost);
  process.on("uncaughtException", onLost);

  // Everything is imported by now and nothing is served yet: whoever starts next need not compile it, even if we are killed. Writing
  // takes half a second once, and a millisecond when there is nothing new.
  flushCompileCache();

  let code = 1;
  try {
    const running = await options.start({ signal: draining.signal, log, fail });
    // The supervisor waits for this line, whatever the level.
    log.child({}, { level: "info" }).info({ name: options.name, port: running.port }, "ready");
    code = await ended;
    if (!(await settlesWithin(running.stop(), drainMs))) {
      log.error({ drainMs }, "the drain took too long");
      code = 1;
    }
  } catch (error) {
    log.fatal({ err: error }, draining.signal.aborted ? "the drain failed" : "the start failed");
    code = 1;
  }
  if (options.flush !== undefined) {
    await settlesWithin(
      options.flush().catch(() => undefined),
      FLUSH_MS,
    );
  }
  log.info({ code }, "stopped");
  process.exit(code);
};

/** Whether `work` settled in time. @throws what it rejects with */
const settlesWithin = async (work: Promise<unknown>, ms: number): Promise<boolean> => {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(resolve, ms, false);
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
};
