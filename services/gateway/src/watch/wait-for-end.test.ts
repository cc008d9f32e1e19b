import { expect, test } from "vitest";
import { RUN, turn } from "./memory-log.fixture.ts";
import { waitForEnd } from "./end-only.ts";
import { setup, take, upTo } from "./watching.fixture.ts";

test("a reader that waits for the end costs no read until the run is over", async () => {
  const { log, watch, fanout } = setup();
  log.append(40);
  const end = take(watch({ types: new Set(["run.completed"]) }), 9);
  await turn();
  const readsBefore = log.reads;
  for (let count = 0; count < 20; count += 1) fanout.notify(RUN, log.append(3), false);
  await turn();
  expect(log.reads).toBe(readsBefore);
  fanout.notify(RUN, log.append(1, "run.completed"), true);
  expect(await end).toEqual([101]);
  // Not the sixty events in between: the terminal one is the last.
  expect(log.reads).toBe(readsBefore + 1);
  expect(fanout.counts.tails).toBe(0);
});

test("a subscriber that joins a tail of end-only readers gets all events that the tail skipped", async () => {
  const { log, watch, fanout } = setup();
  log.append(2);
  const end = take(watch({ types: new Set(["run.completed", "run.failed"]) }), 9);
  await turn();
  fanout.notify(RUN, log.append(3), false);
  const all = take(watch(), 9);
  await turn();
  fanout.notify(RUN, log.append(2), false);
  fanout.notify(RUN, log.append(1, "run.completed"), true);
  expect(await all).toEqual(upTo(8));
  expect(await end).toEqual([8]);
});

test("the poll finds a run that ended while no hints arrived (G4)", async () => {
  const { log, watch } = setup();
  log.append(3);
  log.beforeRead = () => {
    if (log.events.length === 3) log.append(1, "run.completed");
  };
  expect(await take(watch({ types: new Set(["run.completed"]) }), 9)).toEqual([4]);
});

test("a wait ends with the run, when the time is up, and when the caller leaves", async () => {
  const { log, watch, fanout } = setup();
  log.append(3);
  const { signal } = new AbortController();
  await waitForEnd(watch, RUN, { signal, timeoutMs: 1 });
  await waitForEnd(watch, RUN, { signal: AbortSignal.abort(), timeoutMs: 60_000 });
  const waiting = waitForEnd(watch, RUN, { signal, timeoutMs: 60_000 });
  await turn();
  fanout.notify(RUN, log.append(1, "run.completed"), true);
  await waiting;
  await waitForEnd(watch, RUN, { signal, timeoutMs: 60_000 });
  expect(fanout.counts.tails).toBe(0);
});
