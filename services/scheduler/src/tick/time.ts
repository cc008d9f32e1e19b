// A moment that somebody waits for, as a promise that can be called off.

import type { Timers } from "@pawl/platform/lifecycle/timers";

/** A while, and whether it is over. */
export class Time {
  readonly over: Promise<void>;
  readonly cancel: () => void;
  isOver = false;

  constructor(timers: Timers, ms: number) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.over = promise;
    this.cancel = timers.after(ms, () => {
      this.isOver = true;
      resolve();
    });
  }
}
