import { Code } from "@connectrpc/connect";
import { PawlError } from "@pawl/client";
import { expect, test } from "vitest";
import { type Connection, RunFeed, type WatchLog } from "./feed.ts";
import { scriptLog } from "./scripted-events.fixture.ts";

const runStarted = { case: "runStarted", value: {} } as const;
const runCompleted = { case: "runCompleted", value: {} } as const;

test("many events before a frame are drawn once (S1.43)", async () => {
  const { events, add } = scriptLog();
  add("run.started", "", runStarted);
  for (let count = 0; count < 50; count++) add("node.log", "a", { case: "nodeLog", value: {} });
  const frames: (() => void)[] = [];
  let told = 0;
  const hang = Promise.withResolvers<void>();
  const read = Promise.withResolvers<void>();
  const watch: WatchLog = async function* () {
    yield* events;
    read.resolve();
    await hang.promise;
  };
  const feed = new RunFeed(watch, (draw) => frames.push(draw));
  feed.subscribe(() => told++);
  const over = feed.start();
  await read.promise;
  expect(frames).toHaveLength(1);
  frames[0]?.();
  expect(told).toBe(1);
  expect(feed.snapshot()).toMatchObject({ view: { lastSeq: 51 }, connection: { kind: "live" } });
  hang.resolve();
  await over;
});

test("trouble is shown with its count, and is over with the next event", async () => {
  const { events, add } = scriptLog();
  add("run.started", "", runStarted);
  add("run.completed", "", runCompleted);
  const seen: Connection[] = [];
  const watch: WatchLog = async function* ({ onOpen, onTrouble }) {
    onOpen();
    yield* events.slice(0, 1);
    onTrouble(1);
    onTrouble(2);
    onOpen();
    yield* events.slice(1);
  };
  const feed = new RunFeed(watch, (draw) => draw());
  feed.subscribe(() => seen.push(feed.snapshot().connection));
  await feed.start();
  expect(seen).toEqual([
    { kind: "live" },
    { kind: "live" },
    { kind: "reconnecting", tries: 1 },
    { kind: "reconnecting", tries: 2 },
    { kind: "live" },
    { kind: "ended" },
  ]);
});

test("a refusal is a state with a next step, and keeps the events seen so far", async () => {
  const { events, add } = scriptLog();
  add("run.started", "", runStarted);
  const watch: WatchLog = async function* () {
    yield* events;
    throw new PawlError("RUN_NOT_FOUND", "no such run", { code: Code.NotFound });
  };
  const feed = new RunFeed(watch, () => {});
  await feed.start();
  expect(feed.snapshot()).toMatchObject({
    view: { lastSeq: 1 },
    connection: { kind: "refused", fault: { reason: "RUN_NOT_FOUND", retryable: false } },
  });
});

test("a page that was left is not redrawn any more", async () => {
  const { events, add } = scriptLog();
  add("run.started", "", runStarted);
  const frames: (() => void)[] = [];
  const feed = new RunFeed(
    async function* () {
      yield* events;
    },
    (draw) => frames.push(draw),
  );
  let told = 0;
  feed.subscribe(() => told++);
  feed.stop();
  await feed.start();
  for (const draw of frames) draw();
  expect(told).toBe(0);
});

test("the event log has every event once, also of types that this console does not know (S1.45, S1.50)", async () => {
  const { events, add } = scriptLog();
  add("run.started", "", runStarted);
  add("node.dreamt", "a", { case: undefined });
  const watch: WatchLog = async function* () {
    yield* events;
    yield* events;
  };
  const feed = new RunFeed(watch, (draw) => draw());
  await feed.start();
  const { rows, view } = feed.snapshot();
  expect(rows.map(({ seq, type }) => [seq, type])).toEqual([
    [1, "run.started"],
    [2, "node.dreamt"],
  ]);
  expect(view.nodes.size).toBe(0);
});
