// A bound on waiting. Every wait during a stop has one, so that a missing peer cannot hold the process.

/** Waits for `work`, but not longer than `ms`. A rejection is thrown again. */
export async function within(work: Promise<unknown>, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  try {
    await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
