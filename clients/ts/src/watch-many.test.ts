import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { RunEventSchema } from "@pawl/proto/pawl/v1/event_pb";
import {
  type WatchRequest,
  type WatchResponse,
  WatchResponseSchema,
} from "@pawl/proto/pawl/v1/event_service_pb";
import { expect, test } from "vitest";
import { createPawlClient } from "./client.ts";
import { ScriptedGateway, scriptedFailure } from "./scripted-gateway.fixture.ts";

const news = (runId: string, done: boolean, ...types: readonly string[]) => {
  const events = types.map((type, index) =>
    create(RunEventSchema, { runId, type, eventId: BigInt(index + 1) }),
  );
  return create(WatchResponseSchema, { runId, events, done });
};

async function setup(
  watch: (request: WatchRequest, connection: number) => AsyncIterable<WatchResponse>,
) {
  let connections = 0;
  const events = { watch: (request: WatchRequest) => watch(request, connections++) };
  const gateway = new ScriptedGateway({ events });
  const transport = createConnectTransport({ baseUrl: await gateway.start(), httpVersion: "1.1" });
  const clock = { now: () => 0, random: () => 0, pause: () => Promise.resolve() };
  return { gateway, client: createPawlClient({ transport, clock }) };
}

test("many runs over one connection continue with the last event of each run", async () => {
  const asked: [string, bigint][][] = [];
  const { gateway, client } = await setup(async function* ({ runs }) {
    asked.push(runs.map(({ runId, afterEventId }) => [runId, afterEventId]));
    if (asked.length === 1) {
      yield news("a", true, "run.started", "run.completed");
      yield news("b", false, "run.started");
      throw scriptedFailure(Code.Unavailable, "DRAINING", "stops");
    }
    yield create(WatchResponseSchema, { runId: "c", done: true, reason: "RUN_NOT_FOUND" });
    yield news("b", true, "run.started", "run.completed");
  });
  await using _ = gateway;
  const seen: string[] = [];
  const lost: string[] = [];
  const runs = [{ runId: "a" }, { runId: "b" }, { runId: "c", afterEventId: 3 }];
  const onLost = (runId: string, reason: string) => void lost.push(`${runId} ${reason}`);
  for await (const { runId, eventId } of client.watchMany(runs, { onLost }))
    seen.push(`${runId}${eventId}`);
  expect(seen).toEqual(["a1", "a2", "b1", "b2"]);
  expect(lost).toEqual(["c RUN_NOT_FOUND"]);
  expect(asked).toEqual([
    [
      ["a", 0n],
      ["b", 0n],
      ["c", 3n],
    ],
    [
      ["b", 1n],
      ["c", 3n],
    ],
  ]);
});

test("a stream of many runs that is cut without a reason of the gateway continues", async () => {
  const { gateway, client } = await setup(async function* (_request, connection) {
    yield news("a", connection > 0, "run.started", ...(connection > 0 ? ["run.completed"] : []));
    if (connection === 0) throw new ConnectError("a proxy has a bad day", Code.Internal);
  });
  await using _ = gateway;
  const seen: bigint[] = [];
  for await (const { eventId } of client.watchMany([{ runId: "a" }])) seen.push(eventId);
  expect(seen).toEqual([1n, 2n]);
});

test("a gap that stays ends a stream of many runs, also while other runs have news", async () => {
  let opened = 0;
  const { gateway, client } = await setup(async function* (_request, connection) {
    opened += 1;
    const events = [{ runId: "b", type: "x", eventId: BigInt(connection + 1) }];
    yield create(WatchResponseSchema, { runId: "b", events });
    const late = [{ runId: "a", type: "run.started", eventId: 2n }];
    yield create(WatchResponseSchema, { runId: "a", events: late });
  });
  await using _ = gateway;
  const events = client.watchMany([{ runId: "a" }, { runId: "b" }]);
  const readAll = async (seen: string[]) => {
    for await (const { runId } of events) seen.push(runId);
  };
  const gap = { reason: "EVENT_LOG_CORRUPTION", metadata: { runId: "a" } };
  await expect(readAll([])).rejects.toMatchObject(gap);
  expect(opened).toBe(4);
});
