// A bound on waiting: every wait of a stop has one, so that nobody who is gone can hold the process.

/** Waits for `work`, but no longer than `ms`. A rejection is thrown on. */
export async function within(work: Promise<unknown>, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  try {
    await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
