import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { HeldEvents, MESSAGE_BYTES, MESSAGE_EVENTS } from "./held-events.ts";
import { LoggedEvent } from "./logged-event.ts";
import { MemoryLog, RUN, turn } from "./memory-log.fixture.ts";
import { setup, take, upTo } from "./watching.fixture.ts";

const RELEASE_MS = 1_000;
/** Only one event of this size fits into a message. */
const LARGE = "x".repeat(MESSAGE_BYTES - 1_000);

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

test("held events come in parts of the size of a message, and an event that is larger comes alone", () => {
  const log = new MemoryLog();
  log.append(MESSAGE_EVENTS + 1);
  log.append(2, "node.log", LARGE);
  log.append(1, "node.log", `${LARGE}${LARGE}`);
  const scope = { workflowId: "w", traceId: "", waveOf: () => 0 };
  const events = log.events.map((event) => new LoggedEvent(event, scope));
  const small = Math.min(MESSAGE_EVENTS, Math.floor(MESSAGE_BYTES / (events[0]?.bytes ?? 1)));
  const held = new HeldEvents();
  held.put(events);
  const parts: number[][] = [];
  for (let part = held.next(); part !== undefined; part = held.next())
    parts.push(part.map(({ event }) => event.seq));
  expect(parts.flat()).toEqual(upTo(events.length));
  expect(parts[0]).toHaveLength(small);
  expect(parts.slice(-2)).toEqual([[events.length - 1], [events.length]]);
  held.release();
  expect([held.next(), held.isReleased]).toEqual([undefined, false]);
  held.put(events);
  held.release();
  expect([held.next(), held.isReleased]).toEqual([undefined, true]);
});

test("a reader whose connection accepts nothing lets go of its events, in a replay and live, and reads them again (F12)", async () => {
  const { log, watch, fanout } = setup({ releaseMs: RELEASE_MS });
  log.append(4, "node.log", LARGE);
  const stream = watch();
  expect(await take(stream, 1)).toEqual([1]);
  await vi.advanceTimersByTimeAsync(RELEASE_MS);
  const { reads } = log;
  expect(await take(stream, 3)).toEqual(upTo(4, 2));
  expect(log.reads).toBeGreaterThan(reads);
  const live = take(stream, 1);
  await turn();
  fanout.notify(RUN, log.append(3, "node.log", LARGE));
  expect(await live).toEqual([5]);
  await vi.advanceTimersByTimeAsync(RELEASE_MS);
  fanout.notify(RUN, log.append(2, "node.log", LARGE));
  await turn();
  expect(await take(stream, 4)).toEqual(upTo(9, 6));
  fanout.notify(RUN, log.append(1, "run.completed"));
  expect(await take(stream, 9)).toEqual([10]);
  expect(fanout.counts).toEqual({ streams: 0, tails: 0 });
});

test("a reader that let go of its events is cut off with its cursor if more come than its buffer holds (F12)", async () => {
  const { log, watch, fanout } = setup({ releaseMs: RELEASE_MS, stallMs: -1 });
  const stream = watch();
  const first = take(stream, 1);
  await turn();
  fanout.notify(RUN, log.append(1));
  expect(await first).toEqual([1]);
  await vi.advanceTimersByTimeAsync(RELEASE_MS);
  for (let round = 0; round < 5; round += 1) {
    fanout.notify(RUN, log.append(8));
    await turn();
  }
  await expect(stream.next()).rejects.toMatchObject({
    reason: "STREAM_LIMIT",
    metadata: { cursor: "1" },
  });
});

test("a reader that accepts nothing for too long in a replay is cut off with its cursor (F12)", async () => {
  const { log, watch } = setup({ releaseMs: RELEASE_MS, stallMs: -1 });
  log.append(3, "node.log", LARGE);
  log.append(1, "run.completed");
  const stream = watch();
  expect(await take(stream, 1)).toEqual([1]);
  expect(await take(stream, 1)).toEqual([2]);
  await vi.advanceTimersByTimeAsync(RELEASE_MS);
  await expect(stream.next()).rejects.toMatchObject({
    reason: "STREAM_LIMIT",
    metadata: { cursor: "2" },
  });
});

test("readers that replay the same events share their forms", async () => {
  const { log, watch } = setup();
  log.append(3);
  log.append(1, "run.completed");
  const read = async (): Promise<readonly LoggedEvent[]> => {
    const events: LoggedEvent[] = [];
    for await (const batch of watch()) events.push(...batch);
    return events;
  };
  const [one, two] = await Promise.all([read(), read()]);
  expect(one).toHaveLength(4);
  one.forEach((logged, at) => expect(two[at]).toBe(logged));
});
