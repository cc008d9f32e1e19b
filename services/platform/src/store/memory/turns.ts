// Transactions of the memory store take turns: what row locks make of writers in Postgres, without the waiting for single
// rows. A transaction that asked first goes first.

/** Waits for its turn, then holds it until the function it gives is called. */
export type TakeTurn = () => Promise<() => void>;

/** A new, free turnstile. */
export function createTurns(): TakeTurn {
  let last: Promise<void> = Promise.resolve();
  return async () => {
    const before = last;
    const { promise, resolve } = Promise.withResolvers<void>();
    last = promise;
    await before;
    return resolve;
  };
}
