import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { followSignal } from "./backoff.ts";

test("a controller aborts with the signal it follows, for the same reason", () => {
  const [own, late, caller] = [new AbortController(), new AbortController(), new AbortController()];
  followSignal(own, caller.signal);
  expect(own.signal.aborted).toBe(false);
  caller.abort("enough");
  expect(own.signal.reason).toBe("enough");
  followSignal(late, caller.signal);
  expect(late.signal.reason).toBe("enough");
  followSignal(new AbortController(), undefined);
});

test("a signal that outlives its followers keeps no listener of theirs", () => {
  const { signal } = new AbortController();
  for (let nth = 0; nth < 3; nth += 1) {
    const own = new AbortController();
    followSignal(own, signal);
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    own.abort();
  }
  expect(getEventListeners(signal, "abort")).toEqual([]);
});
