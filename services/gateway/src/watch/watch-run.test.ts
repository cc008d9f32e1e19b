import { asyncProperty, assert, array, integer, record } from "fast-check";
import { EngineError } from "@pawl/core/fault/engine-error";
import { expect, test } from "vitest";
import { RUN, turn } from "./memory-log.fixture.ts";
import { BUFFER, setup, take, upTo } from "./watching.fixture.ts";

test("a finished run is replayed and the stream ends after its terminal event", async () => {
  const { log, watch, fanout } = setup();
  log.append(30);
  log.append(1, "run.completed");
  expect(await take(watch(), 99)).toEqual(upTo(31));
  expect(await take(watch({ afterSeq: 29 }), 99)).toEqual([30, 31]);
  expect(await take(watch({ afterSeq: 31 }), 99)).toEqual([]);
  expect(fanout.counts.streams).toBe(0);
});

test("live events follow the replay, and the terminal one ends the stream", async () => {
  const { log, watch, fanout } = setup();
  log.append(3);
  const stream = watch();
  expect(await take(stream, 3)).toEqual([1, 2, 3]);
  fanout.notify(RUN, log.append(2));
  expect(await take(stream, 2)).toEqual([4, 5]);
  fanout.notify(RUN, log.append(1, "run.completed"));
  expect(await take(stream, 9)).toEqual([6]);
  expect(fanout.counts.tails).toBe(0);
});

test("the streams of a run that is deleted right after its end stop with RUN_NOT_FOUND", async () => {
  const { log, watch, fanout } = setup();
  log.append(3);
  const stream = watch();
  expect(await take(stream, 3)).toEqual([1, 2, 3]);
  log.append(1);
  log.append(1, "run.completed");
  const { last } = log;
  log.events = [];
  fanout.ended(last);
  await expect(stream.next()).rejects.toMatchObject({
    reason: "RUN_NOT_FOUND",
    metadata: { run_id: RUN, cursor: "3" },
  });
  expect(fanout.counts.tails).toBe(0);
});

test("a read that began before the notification of the end proves no deletion", async () => {
  const { log, watch, fanout } = setup();
  log.append(3);
  const stream = watch();
  expect(await take(stream, 3)).toEqual([1, 2, 3]);
  let whole = log.events;
  log.beforeRead = async () => {
    // The first read sees the log as it was before the commit that ends the run.
    log.beforeRead = async () => void (log.events = whole);
    await turn();
    log.append(1);
    log.append(1, "run.completed");
    fanout.ended(log.last);
    whole = log.events;
    log.events = whole.slice(0, 3);
  };
  fanout.notify(RUN, 4);
  expect(await take(stream, 9)).toEqual([4, 5]);
});

test("a stream whose run was deleted without a notification ends at the next heartbeat", async () => {
  const { log, watch } = setup({
    heartbeatMs: 1,
    findRun: () => {
      if (log.events.length > 0) return log.findRun();
      throw new EngineError("RUN_NOT_FOUND", "gone");
    },
  });
  log.append(3);
  const stream = watch();
  expect(await take(stream, 3)).toEqual([1, 2, 3]);
  log.events = [];
  await expect(take(stream, 1)).rejects.toMatchObject({ reason: "RUN_NOT_FOUND" });
});

test("a cursor beyond the log is out of range (C4)", async () => {
  const { log, watch } = setup();
  log.append(2);
  await expect(watch({ afterSeq: 3 }).next()).rejects.toMatchObject({
    reason: "CURSOR_OUT_OF_RANGE",
    metadata: { cursor: "3", last_event_id: "2" },
  });
});

test("events are read once for all subscribers of a run", async () => {
  const { log, watch, fanout } = setup();
  const streams = [watch(), watch(), watch()];
  const first = streams.map((stream) => take(stream, 2));
  await turn();
  const readsBefore = log.reads;
  fanout.notify(RUN, log.append(2));
  expect(await Promise.all(first)).toEqual([upTo(2), upTo(2), upTo(2)]);
  expect(log.reads - readsBefore).toBeLessThanOrEqual(2);
});

test("an event committed between the last page and the join is not lost (G4)", async () => {
  const { log, watch, fanout } = setup();
  log.append(200);
  let appended = 200;
  log.beforeRead = () => {
    // Every read finds the log a little longer than its reader knows, and hints come before the join.
    if (appended < 230) fanout.notify(RUN, (appended = log.append(3)));
  };
  const stream = watch();
  expect(await take(stream, 230)).toEqual(upTo(230));
});

test("a reader behind the tail gets the gap from the store before live events", async () => {
  const { log, watch, fanout } = setup();
  log.append(4);
  const early = watch();
  expect(await take(early, 4)).toEqual(upTo(4));
  const late = watch();
  expect(await take(late, 4)).toEqual(upTo(4));
  const ahead = watch({ afterSeq: 4 });
  const next = take(ahead, 2);
  await turn();
  fanout.notify(RUN, log.append(2));
  expect(await take(late, 2)).toEqual([5, 6]);
  expect(await take(early, 2)).toEqual([5, 6]);
  expect(await next).toEqual([5, 6]);
});

test("whatever the order of appends, hints and joins, each reader gets every event once (invariant 36)", async () => {
  const step = record({
    appended: integer({ min: 0, max: 30 }),
    joins: integer({ min: 0, max: 2 }),
  });
  await assert(
    asyncProperty(array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      const { log, watch, fanout } = setup({ subscribersMax: 100 });
      const readers: { afterSeq: number; seqs: Promise<number[]> }[] = [];
      for (const { appended, joins } of steps) {
        for (let n = 0; n < joins; n += 1) {
          const afterSeq = Math.floor(log.events.length / (n + 1));
          readers.push({ afterSeq, seqs: take(watch({ afterSeq }), Number.POSITIVE_INFINITY) });
        }
        const last = log.append(appended);
        if (appended % 3 !== 0) fanout.notify(RUN, last);
        if (appended % 2 === 0) await turn();
      }
      const last = log.append(1, "run.completed");
      fanout.notify(RUN, last);
      for (const { afterSeq, seqs } of readers)
        expect(await seqs).toEqual(upTo(last, afterSeq + 1));
    }),
    { numRuns: 150, seed: 7 },
  );
});

test("a reader that stays too slow is ended with STREAM_LIMIT and its cursor (F12)", async () => {
  const { log, watch, fanout } = setup({ stallMs: -1 });
  const stream = watch();
  const first = take(stream, 1);
  await turn();
  fanout.notify(RUN, log.append(1));
  expect(await first).toEqual([1]);
  // The stream has no reader now, and the tail still pushes.
  for (let round = 0; round < 10; round += 1) {
    fanout.notify(RUN, log.append(8));
    await turn();
    await turn();
  }
  const got: number[] = [1];
  const reading = (async () => {
    for await (const batch of stream) got.push(...batch.map(({ event }) => event.seq));
  })();
  await expect(reading).rejects.toMatchObject({
    reason: "STREAM_LIMIT",
    metadata: { cursor: String(got.length) },
  });
  expect(got).toEqual(upTo(got.length));
  expect(got.length).toBeLessThanOrEqual(1 + BUFFER.events);
  const last = log.append(1, "run.completed");
  expect(await take(watch({ afterSeq: got.length }), last)).toEqual(upTo(last, got.length + 1));
});

test("a quick reader reads a burst that overflows its buffer from the store", async () => {
  const { log, watch, fanout } = setup();
  const stream = watch();
  const first = take(stream, 1);
  await turn();
  fanout.notify(RUN, log.append(1));
  await first;
  for (let round = 0; round < 10; round += 1) {
    fanout.notify(RUN, log.append(8));
    await turn();
    await turn();
  }
  expect(await take(stream, 80)).toEqual(upTo(81, 2));
});

test("a filter passes only its types and always the terminal event", async () => {
  const { log, watch } = setup();
  log.append(3);
  log.append(2, "node.queued");
  log.append(1, "run.completed");
  expect(await take(watch({ types: new Set(["node.queued"]) }), 99)).toEqual([4, 5, 6]);
  expect(await take(watch({ types: new Set(["nothing"]) }), 99)).toEqual([6]);
});

test("silence is broken by heartbeats", async () => {
  const { watch } = setup({ heartbeatMs: 5 });
  const stream = watch();
  expect((await stream.next()).value).toEqual([]);
  expect((await stream.next()).value).toEqual([]);
  await stream.return();
});

test("a draining gateway ends its streams with DRAINING and their cursors, and takes no more", async () => {
  const { log, watch, fanout } = setup();
  log.append(3);
  const stream = watch();
  await take(stream, 3);
  const next = stream.next();
  fanout.stop();
  await expect(next).rejects.toMatchObject({ reason: "DRAINING", metadata: { cursor: "3" } });
  await expect(watch().next()).rejects.toMatchObject({ reason: "DRAINING" });
});

test("more streams than there is room for are refused, and a closed one makes room (C11)", async () => {
  const { log, watch } = setup({ subscribersMax: 1 });
  log.append(1);
  const stream = watch();
  await stream.next();
  await expect(watch().next()).rejects.toMatchObject({
    reason: "STREAM_LIMIT",
    retryAfterMs: 1_000,
  });
  await stream.return();
  expect((await watch().next()).done).toBe(false);
});

test("a connection that accepts no data for too long is cut", async () => {
  const { log, watch } = setup({ abandonMs: 1 });
  log.append(1);
  const cut = Promise.withResolvers<string>();
  const stream = watch({ abandon: () => cut.resolve("cut") });
  await stream.next();
  // The reader never asks for the batch after this one.
  expect(await cut.promise).toBe("cut");
});

test("an aborted reader leaves its tail, which closes", async () => {
  const { log, watch, fanout } = setup();
  log.append(1);
  const abort = new AbortController();
  const stream = watch({ signal: abort.signal });
  await stream.next();
  const next = stream.next();
  await turn();
  expect(fanout.counts.tails).toBe(1);
  abort.abort();
  expect((await next).done).toBe(true);
  expect([fanout.counts.tails, fanout.counts.streams]).toEqual([0, 0]);
});

test("a tail survives a database that is away", async () => {
  const { log, watch, fanout } = setup();
  log.append(1);
  const stream = watch();
  await take(stream, 1);
  log.outages = 3;
  fanout.notify(RUN, log.append(1));
  expect(await take(stream, 1)).toEqual([2]);
});

test("a lost hint costs time only: the poll finds the event (X25, S4.1, S4.20)", async () => {
  const { log, watch, fanout } = setup();
  log.append(1);
  const stream = watch();
  await take(stream, 1);
  log.append(1);
  fanout.pollAll();
  expect(await take(stream, 1)).toEqual([2]);
});

test("a terminal event in a notification is pushed without a read if no event before it is missing", async () => {
  const { log, fanout, watch } = setup();
  log.append(3);
  const all = watch();
  expect(await take(all, 3)).toEqual(upTo(3));
  const { reads } = log;
  log.append(1, "run.completed");
  const end = take(all, 9);
  await turn();
  fanout.ended(log.last);
  expect(await end).toEqual([4]);
  expect(log.reads).toBe(reads);
});

test("a terminal event in a notification is read with the missing events before it, also during another read", async () => {
  for (const isReading of [false, true]) {
    const { log, fanout, watch } = setup();
    log.append(3);
    const all = watch();
    expect(await take(all, 3)).toEqual(upTo(3));
    const rest = take(all, 9);
    await turn();
    const answer = Promise.withResolvers<void>();
    if (isReading) {
      log.beforeRead = () => answer.promise;
      fanout.notify(RUN, log.append(1), false);
      await turn();
    } else log.append(1);
    log.append(1, "run.completed");
    fanout.ended(log.last);
    await turn();
    answer.resolve();
    expect(await rest).toEqual([4, 5]);
  }
});
