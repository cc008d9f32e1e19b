// Streams of a thread over logs in memory: whatever happens to the runs, the notifications and the connections, a caller has every event of
// every run with a turn, once and in order.

import type { RunId } from "@pawl/core/name/ids";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Seal } from "../read/seal.ts";
import { createThreadCursors } from "../read/thread-cursor.ts";
import { turn } from "../watch/memory-log.fixture.ts";
import { KEY, MemoryThread } from "../watch/memory-thread.fixture.ts";
import { eventOf } from "../watch/view.ts";
import type { ThreadStream } from "../watch/watch-thread.ts";

const cursors = createThreadCursors(new Seal(async () => Buffer.alloc(32, 7)));
const VIEW = { modes: new Set<never>(), types: new Set<string>() };
const ALL = { ...VIEW, nodeIds: new Set<string>(), nodeTypes: new Set<string>() };

interface Asked {
  readonly cursor?: string;
  readonly untilIdle?: boolean;
  readonly skipFinished?: boolean;
}

function setup() {
  const thread = new MemoryThread(cursors.textOf);
  const open = ({ cursor = "", untilIdle = false, skipFinished = false }: Asked = {}) => {
    const left = new AbortController();
    const asked = { key: KEY, view: ALL, untilIdle, skipFinished, signal: left.signal };
    const stream = thread.watch({ ...asked, cursor: cursors.open("cursor", cursor) });
    return { stream, left };
  };
  return { thread, open };
}

/** A caller that reads as events come, and keeps the cursor of the last. */
class Caller {
  readonly seen: string[] = [];
  cursor = "";
  failure: unknown;
  #over: Promise<void> = Promise.resolve();
  #left = new AbortController();
  readonly #open: ReturnType<typeof setup>["open"];

  constructor(open: ReturnType<typeof setup>["open"]) {
    this.#open = open;
  }

  connect(asked: Asked = {}): void {
    const { stream, left } = this.#open({ cursor: this.cursor, ...asked });
    this.#left = left;
    this.#over = this.#read(stream).catch((error: unknown) => void (this.failure = error));
  }

  async leave(): Promise<void> {
    this.#left.abort();
    await this.#over;
  }

  get over(): Promise<void> {
    return this.#over;
  }

  async #read(stream: ThreadStream): Promise<void> {
    for await (const { batch, mark } of stream)
      for (const form of batch) {
        const { runId, seq } = eventOf(form);
        this.seen.push(`${runId} ${seq}`);
        this.cursor = `${mark}.${seq}`;
        // The connection breaks in the middle of a message.
        if (this.#left.signal.aborted) return;
      }
  }
}

type Step = "accept" | "take" | "append" | "end" | "cancel" | "leave" | "deaf" | "turn";
const STEPS: readonly Step[] = [
  ...["accept", "take", "append", "append", "end", "cancel", "leave", "deaf", "turn"],
] as Step[];

test("a caller that comes back after any interruption has every event of the thread once and in order (S4.41)", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...STEPS), { maxLength: 60 }), async (steps) => {
      const { thread, open } = setup();
      const caller = new Caller(open);
      caller.connect();
      const waiting: RunId[] = [];
      const play: Record<Step, () => Promise<void> | void> = {
        accept: () => void waiting.push(thread.accept()),
        take: () => {
          const next = thread.holder === undefined ? waiting.pop() : undefined;
          if (next !== undefined) thread.take(next);
        },
        append: () => {
          if (thread.holder !== undefined) thread.append(thread.holder);
        },
        end: () => {
          if (thread.holder !== undefined) thread.end(thread.holder);
        },
        cancel: () => {
          const stopped = waiting.shift();
          if (stopped !== undefined) thread.end(stopped);
        },
        leave: async () => {
          await caller.leave();
          caller.connect();
        },
        deaf: () => void (thread.isHeard = !thread.isHeard),
        turn,
      };
      for (const step of steps) await play[step]();
      if (thread.holder !== undefined) thread.end(thread.holder);
      thread.fanout.pollAll();
      await turn();
      await turn();
      expect(caller.failure).toBeUndefined();
      expect(caller.seen).toEqual(thread.all);
      await caller.leave();
      expect(thread.fanout.counts).toEqual({ streams: 0, tails: 0 });
    }),
    { seed: 1, numRuns: 150 },
  );
});

test("callers that wait at one thread share the read of its next run (S4.41)", async () => {
  const { thread, open } = setup();
  const first = thread.accept();
  thread.take(first);
  thread.end(first);
  const callers = Array.from({ length: 200 }, () => new Caller(open));
  for (const caller of callers) caller.connect();
  await turn();
  thread.reads.length = 0;
  thread.take(thread.accept());
  await turn();
  expect(thread.reads).toEqual([1]);
  for (const { seen } of callers) expect(seen).toEqual(thread.all);
  await Promise.all(callers.map((caller) => caller.leave()));
});

test("a stream ends when the thread is idle if the caller asks for that, and a caller with everything gets nothing (S4.41)", async () => {
  const { thread, open } = setup();
  const caller = new Caller(open);
  const run = thread.accept();
  thread.take(run);
  caller.connect({ untilIdle: true });
  await turn();
  thread.end(run);
  await caller.over;
  expect(caller.seen).toEqual(thread.all);
  caller.connect({ untilIdle: true });
  await caller.over;
  expect(caller.seen).toEqual(thread.all);
});

test("a caller may leave out the runs that ended before its call (S4.41)", async () => {
  const { thread, open } = setup();
  const [past, live] = [thread.accept(), thread.accept()];
  thread.take(past);
  thread.end(past);
  const [idle, busy] = [new Caller(open), new Caller(open)];
  idle.connect({ skipFinished: true });
  await turn();
  thread.take(live);
  busy.connect({ skipFinished: true });
  await turn();
  thread.end(live);
  await turn();
  const own = thread.all.filter((event) => event.startsWith(live));
  expect([idle.seen, busy.seen]).toEqual([own, own]);
  await Promise.all([idle.leave(), busy.leave()]);
});

test("a deleted thread ends its streams with THREAD_NOT_FOUND, also if another of the same id was created before they look (S4.41)", async () => {
  for (const isCreatedAgain of [false, true]) {
    const { thread, open } = setup();
    const run = thread.accept();
    thread.take(run);
    thread.end(run);
    const caller = new Caller(open);
    caller.connect();
    await turn();
    thread.delete();
    thread.isDeleted = !isCreatedAgain;
    thread.createdAt = 2;
    await caller.over;
    expect(caller.failure).toMatchObject({ reason: "THREAD_NOT_FOUND" });
    const { cursor } = caller;
    const late = new Caller(open);
    late.connect({ cursor });
    await late.over;
    const reason = isCreatedAgain ? "INPUT_INVALID" : "THREAD_NOT_FOUND";
    expect(late.failure).toMatchObject({ reason });
  }
});

test("a gateway that stops ends a stream between two runs with DRAINING and its cursor (S4.41)", async () => {
  const { thread, open } = setup();
  const run = thread.accept();
  thread.take(run);
  thread.end(run);
  const caller = new Caller(open);
  caller.connect();
  await turn();
  thread.fanout.stop();
  await caller.over;
  const { cursor } = caller;
  expect(caller.failure).toMatchObject({ reason: "DRAINING", metadata: { cursor } });
});

test("a removed run is left out, and a cursor inside of it is refused, but not one after its end or before its beginning (S4.41)", async () => {
  const { thread, open } = setup();
  const [removed, kept] = [thread.accept(), thread.accept()];
  thread.take(removed);
  const whole = new Caller(open);
  whole.connect();
  await turn();
  const inside = whole.cursor;
  thread.end(removed);
  await turn();
  const after = whole.cursor;
  await whole.leave();
  thread.take(kept);
  thread.end(kept);
  thread.remove(removed);
  const read = async (cursor: string): Promise<Caller> => {
    const caller = new Caller(open);
    caller.connect({ cursor, untilIdle: true });
    await caller.over;
    return caller;
  };
  const before = inside.replace(/\d+$/, "0");
  for (const cursor of ["", before, after])
    expect(await read(cursor)).toMatchObject({ failure: undefined, seen: thread.all });
  const refused = await read(inside);
  expect(refused.seen).toEqual([]);
  expect(refused.failure).toMatchObject({
    reason: "CURSOR_OUT_OF_RANGE",
    metadata: { run_id: removed },
  });
});

const REFUSED = {
  reason: "INPUT_INVALID",
  violations: [{ field: "cursor", reason: "BAD_CURSOR" }],
};

test("a cursor that was made up, changed in any bit, cut, or made for another thread or by another deployment is refused (C4, C5)", async () => {
  const thread = { ...KEY, createdAt: 1 };
  const mark = {
    runId: new MemoryThread(cursors.textOf).accept(),
    turn: 1,
    position: 1,
    lastSeq: 0,
  };
  const text = await cursors.textOf(thread, mark);
  expect(cursors.open("cursor", `${text}.17`)).toMatchObject({ mark, afterSeq: 17 });
  const bytes = Buffer.from(text, "base64url");
  const changed = Array.from({ length: bytes.length * 8 }, (_, bit) => {
    const copy = Buffer.from(bytes);
    copy.writeUInt8(copy.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    return `${copy.toString("base64url")}.17`;
  });
  const strange = createThreadCursors(new Seal(async () => Buffer.alloc(32, 8)));
  const others = [
    await cursors.textOf({ ...thread, threadId: "other" }, mark),
    await cursors.textOf({ ...thread, tenantId: "other" }, mark),
    await cursors.textOf({ ...thread, createdAt: 2 }, mark),
    await strange.textOf(thread, mark),
  ].map((other) => `${other}.17`);
  for (const forged of [...changed, ...others])
    await expect(cursors.open("cursor", forged)?.check(thread)).rejects.toMatchObject(REFUSED);
  const malformed = [
    ...[text, `${text}.`, `${text}.x`, `${text}.-1`, `${text}.1.1`, `${text}.9007199254740992`],
    ...[`${text.slice(1)}.1`, `${text}=.1`, `.1`, "17", `${mark.runId}.1`, "x".repeat(10_000)],
  ];
  const open = async (each: string) => cursors.open("cursor", each);
  for (const each of malformed) await expect(open(each)).rejects.toMatchObject(REFUSED);
});
