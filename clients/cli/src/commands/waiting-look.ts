// Looks at a run that has gone quiet: when nothing happened for a while, asks once in a while why, so that a node nobody serves
// does not wait in silence. Events put the next look off; one look is open at a time.

/** How long nothing must happen before the first look, and how far looks are apart. */
export const QUIET_MS = 2_000;

export interface WaitingLook {
  /** Something happened. */
  readonly heard: () => void;
  readonly stop: () => void;
}

/** Starts looking. `show` is told what the run waits for, and "" once it goes on. */
export function lookWhileQuiet(
  ask: () => Promise<string>,
  show: (waitingReason: string) => void,
): WaitingLook {
  let timer: NodeJS.Timeout | undefined;
  let turn = 0;
  let shown = "";
  const say = (reason: string): void => {
    if (reason !== shown) show(reason);
    shown = reason;
  };
  const look = async (asked: number): Promise<void> => {
    // A look that fails says nothing: the watch itself tells of a lost connection.
    const reason = await ask().catch(() => shown);
    if (asked !== turn) return;
    say(reason);
    wait();
  };
  const wait = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => void look(turn), QUIET_MS);
  };
  wait();
  return {
    heard: () => {
      turn += 1;
      say("");
      wait();
    },
    stop: () => {
      turn += 1;
      clearTimeout(timer);
    },
  };
}
