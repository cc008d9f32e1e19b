import { create } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { RunEventSchema } from "@pawl/proto/pawl/v1/event_pb";
import {
  StreamMode,
  type WatchThreadRequest,
  type WatchThreadResponse,
  WatchThreadResponseSchema,
} from "@pawl/proto/pawl/v1/event_service_pb";
import { expect, test } from "vitest";
import { createPawlClient } from "./client.ts";
import { ScriptedGateway, scriptedFailure } from "./scripted-gateway.fixture.ts";

/** Events of a run, from an id on. The cursor of a run is its name. */
const news = (runId: string, from: number, ...types: readonly string[]) => {
  const events = types.map((type, index) =>
    create(RunEventSchema, { runId, type, eventId: BigInt(from + index) }),
  );
  const cursor = `${runId}.${from + types.length - 1}`;
  return create(WatchThreadResponseSchema, { runId, events, cursor });
};

const items = (runId: string, ...list: readonly (readonly [bigint, StreamMode])[]) =>
  create(WatchThreadResponseSchema, {
    runId,
    items: list.map(([eventId, mode]) => ({ runId, eventId, mode })),
    cursor: `${runId}.${list.at(-1)?.[0]}`,
  });

/** Plays the connections in order and notes their requests. An error fails its connection. */
async function setup(...connections: readonly (readonly (WatchThreadResponse | Error)[])[]) {
  const asked: WatchThreadRequest[] = [];
  const gateway = new ScriptedGateway({
    events: {
      async *watchThread(request: WatchThreadRequest) {
        asked.push(request);
        for (const step of connections[asked.length - 1] ?? []) {
          if (step instanceof Error) throw step;
          yield step;
        }
      },
    },
  });
  const transport = createConnectTransport({ baseUrl: await gateway.start(), httpVersion: "1.1" });
  const clock = { now: () => 0, random: () => 0, pause: () => Promise.resolve() };
  return { gateway, client: createPawlClient({ transport, clock }), asked };
}

const drains = scriptedFailure(Code.Unavailable, "DRAINING", "stops");

test("a stream of a thread continues after its last event when it is cut, drops repeats and reopens on a gap (S4.41)", async () => {
  const { gateway, client, asked } = await setup(
    [news("a", 1, "run.started", "run.completed"), news("b", 1, "run.started"), drains],
    [news("b", 1, "run.started"), news("b", 3, "node.completed")],
    [create(WatchThreadResponseSchema, { cursor: "b.1" }), news("b", 2, "x", "run.completed")],
  );
  await using _ = gateway;
  const seen: string[] = [];
  const reconnects: string[] = [];
  const options = { types: [], untilIdle: true, onReconnect: (at: string) => reconnects.push(at) };
  for await (const { cursor, event } of client.watchThread("chat", options)) {
    expect(`${event.runId}.${event.eventId}`).toBe(cursor);
    seen.push(cursor);
  }
  expect(seen).toEqual(["a.1", "a.2", "b.1", "b.2", "b.3"]);
  expect(asked.map(({ cursor }) => cursor)).toEqual(["", "b.1", "b.1"]);
  expect(reconnects).toEqual(["b.1", "b.1"]);
});

test("without an end at idle a stream of a thread that the server ends is opened again (S4.41)", async () => {
  const { gateway, client, asked } = await setup(
    [news("a", 5, "node.completed")],
    [news("a", 6, "run.completed"), news("b", 1, "run.started")],
  );
  await using _ = gateway;
  const seen: string[] = [];
  for await (const { cursor } of client.watchThread("chat", { cursor: "a.4" })) {
    seen.push(cursor);
    if (cursor === "b.1") break;
  }
  expect(seen).toEqual(["a.5", "a.6", "b.1"]);
  expect(asked.map(({ cursor }) => cursor)).toEqual(["a.4", "a.5"]);
});

test("a stream of a thread in modes has a cursor between events, and never inside one (S4.41)", async () => {
  const { DEBUG, UPDATES, CONTROL } = StreamMode;
  const { gateway, client, asked } = await setup(
    [items("a", [1n, DEBUG], [1n, UPDATES], [2n, DEBUG]), drains],
    [items("a", [2n, DEBUG], [3n, DEBUG], [3n, CONTROL]), items("b", [1n, DEBUG])],
  );
  await using _ = gateway;
  const seen: string[] = [];
  const options = { modes: ["debug", "updates"], untilIdle: true } as const;
  for await (const { runId, eventId, mode, cursor } of client.streamThread("chat", options))
    seen.push(`${runId}.${eventId} ${mode} ${cursor}`);
  expect(seen).toEqual([
    "a.1 debug ",
    "a.1 updates a.1",
    "a.2 debug a.2",
    "a.3 debug a.2",
    "a.3 control a.3",
    "b.1 debug b.1",
  ]);
  expect(asked.map(({ cursor, modes }) => [cursor, modes])).toEqual([
    ["", [DEBUG, UPDATES]],
    ["a.2", [DEBUG, UPDATES]],
  ]);
});

test("a deleted thread ends its stream with THREAD_NOT_FOUND, and no reconnect follows (S4.41)", async () => {
  const deleted = scriptedFailure(Code.NotFound, "THREAD_NOT_FOUND", "deleted");
  const { gateway, client, asked } = await setup([news("a", 1, "run.completed"), deleted]);
  await using _ = gateway;
  const events = client.watchThread("chat");
  expect(await events.next()).toMatchObject({ value: { cursor: "a.1" } });
  await expect(events.next()).rejects.toMatchObject({
    reason: "THREAD_NOT_FOUND",
  });
  expect(asked).toHaveLength(1);
});

test("a gap that stays ends a stream of a thread (S4.41)", async () => {
  const late = [news("a", 2, "node.completed")];
  const { gateway, client, asked } = await setup(late, late, late, late, late);
  await using _ = gateway;
  const events = client.watchThread("chat");
  await expect(events.next()).rejects.toMatchObject({ reason: "EVENT_LOG_CORRUPTION" });
  expect(asked).toHaveLength(4);
});
