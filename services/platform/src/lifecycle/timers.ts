// Timers as a part that is handed in: what waits by them can be tested without waiting.

/** Calls it off; as often as one likes, also afterwards. */
export type Cancel = () => void;

export interface Timers {
  /** Wakes once, after at least this long. */
  after(ms: number, wake: () => void): Cancel;
}

export const systemTimers: Timers = {
  after: (ms, wake) => {
    const timer = setTimeout(wake, ms);
    return () => clearTimeout(timer);
  },
};
