// The life of a service process: starting → serving → draining → gone. SIGTERM or SIGINT starts a bounded drain. A second signal ends the
// process at once. A failed start, a drain that takes too long and an uncaught error end with 1. Race: a signal arrives during the start.
// It takes effect as soon as the start is done.

import { flushCompileCache } from "node:module";
import type { Logger } from "../telemetry/log.ts";
import { DEFAULT_DRAIN_MS } from "../config/settings.ts";

/** The context that a service starts with. */
interface ServiceContext {
  /** Aborted when the drain begins. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Ends the process, because something that it needs is missing. */
  fail(error: unknown): void;
}

/** A running service. */
export interface Running {
  /** Printed in the ready line. */
  readonly port?: number;
  /** Lets work end and releases resources. The process exits when this settles. */
  stop(): Promise<void>;
}

interface ServiceOptions {
  readonly name: string;
  readonly log: Logger;
  readonly start: (context: ServiceContext) => Promise<Running>;
  /** How long a drain may take. */
  readonly drainMs?: number;
  /** Called last in every case; sends telemetry that is still buffered. */
  readonly flush?: () => Promise<void>;
}

const SIGNAL_EXIT = { SIGINT: 130, SIGTERM: 143 } as const;
type Signal = keyof typeof SIGNAL_EXIT;
/** How long the exit may wait for telemetry. */
const FLUSH_MS = 2_000;

/** Runs a service until a signal or a failure stops it, and ends the process. */
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

  // The process has imported everything and serves nothing yet. Writing the compile cache here saves the next process the compilation, even
  // if this one is killed. It takes half a second the first time, and a millisecond if nothing is new.
  flushCompileCache();

  let code = 1;
  try {
    const running = await options.start({ signal: draining.signal, log, fail });
    // The supervisor waits for this line, so it is logged at every level.
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

/** Whether `work` settled in time. @throws the rejection of `work` */
const settlesWithin = async (work: Promise<unknown>, ms: number): Promise<boolean> => {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(resolve, ms, false);
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
};
