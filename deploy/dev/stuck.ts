// A process whose functions ignore their cancel. Each of them keeps a slot until it returns, and no one can end it from outside of the
// process. So the process is replaced: it takes no more work, finishes what it can, and is killed when only such functions are left.
//
// The race: a function returns while its process is being replaced. The process then ends by itself, and the kill reaches nothing.
import type { HandlerProcess } from "./handler-process.ts";

/** How long a function may take to return after its cancel. */
export const IGNORE_GRACE_MS = 30_000;

/** Settles with the number of functions that have ignored their cancel for the grace. It rejects when the signal aborts. */
export type WaitUntilStuck = (signal: AbortSignal) => Promise<number>;

/** Lets a process finish. `alone` settles when it has only functions that ignore their cancel; then it is killed. */
export async function drainOrKill(
  process: HandlerProcess,
  alone: WaitUntilStuck,
): Promise<{ readonly killed: number }> {
  const over = new AbortController();
  let killed = 0;
  const watching = alone(over.signal).then(
    (count) => {
      killed = count;
      process.kill();
    },
    () => undefined,
  );
  await process.drain();
  over.abort();
  await watching;
  return { killed };
}
