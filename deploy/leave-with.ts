// The end of a local command: its exit code, and what a person needs to know when it could not do its work.
import { say } from "./logbook.ts";
import { StartFault } from "./start-fault.ts";
import { stopSignal } from "./stop-signal.ts";

/** Runs `work` until it ends or is told to stop, and sets the exit code of this process. */
export async function leaveWith(work: (stop: AbortSignal) => Promise<number>): Promise<void> {
  const stop = stopSignal(say);
  try {
    process.exitCode = await work(stop);
    say("stopped");
  } catch (error) {
    // A start that was told to stop ends as asked, wherever it was.
    if (!stop.aborted) explain(error);
    process.exitCode = stop.aborted ? 0 : 1;
  }
}

function explain(error: unknown): void {
  if (error instanceof StartFault) {
    process.stderr.write(`\n${error.message}\n${error.advice}\n`);
    return;
  }
  const why = error instanceof Error ? error.message : String(error);
  process.stderr.write(`\nPawl could not start: ${why}\n`);
}
