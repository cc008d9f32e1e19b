// Timers as a dependency, so that tests of waiting code do not wait.

/** Cancels the timer. It may be called any number of times, also after the timer fired. */
export type Cancel = () => void;

export interface Timers {
  /** Calls back once, after at least this time. */
  after(ms: number, wake: () => void): Cancel;
}

export const systemTimers: Timers = {
  after: (ms, wake) => {
    const timer = setTimeout(wake, ms);
    return () => clearTimeout(timer);
  },
};
