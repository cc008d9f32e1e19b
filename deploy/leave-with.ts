// The end of a local command: the signals that stop it, its exit code, and the advice for a person when it could not start.
import { say } from "./logbook.ts";

/** A start that failed for a reason that a person can remove, with the fault and the advice. */
export class StartFault extends Error {
  override readonly name = "StartFault";
  readonly advice: string;

  constructor(message: string, advice: string, options?: ErrorOptions) {
    super(message, options);
    this.advice = advice;
  }
}

/** A Ctrl-C reaches the whole process group, and parents forward it. So one press may arrive several times within this time. */
const ECHO_MS = 1_000;

/** Ctrl-C and SIGTERM as an AbortSignal. It aborts on the first signal. A second press ends the process at once. */
function stopSignal(): AbortSignal {
  const controller = new AbortController();
  let firstAt = 0;
  const onSignal = (): void => {
    const now = Date.now();
    if (firstAt === 0) {
      firstAt = now;
      controller.abort();
    } else if (now - firstAt > ECHO_MS) {
      say("! leaving without waiting; guards end what is left");
      process.exit(130);
    }
  };
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, onSignal);
  return controller.signal;
}

/** Runs `work` until it ends or a signal stops it, and sets the exit code of this process. */
export async function leaveWith(work: (stop: AbortSignal) => Promise<number>): Promise<void> {
  const stop = stopSignal();
  try {
    process.exitCode = await work(stop);
    say("stopped");
  } catch (error) {
    // A start that a signal stopped has not failed.
    if (!stop.aborted) explain(error);
    process.exitCode = stop.aborted ? 0 : 1;
  }
}

/** Prints for a person why a command did not do its work. */
export function explain(error: unknown, what = "Pawl could not start"): void {
  if (error instanceof StartFault) {
    process.stderr.write(`\n${error.message}\n${error.advice}\n`);
    return;
  }
  const why = error instanceof Error ? error.message : String(error);
  process.stderr.write(`\n${what}: ${why}\n`);
}
