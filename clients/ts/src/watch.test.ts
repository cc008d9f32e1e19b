import { Code } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { RetryInfoSchema } from "@pawl/proto/google/rpc/error_details_pb";
import { create } from "@bufbuild/protobuf";
import { type RunEvent, RunEventSchema } from "@pawl/proto/pawl/v1/event_pb";
import { RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import { expect, test } from "vitest";
import type { Clock } from "./backoff.ts";
import { createPawlClient } from "./client.ts";
import { fetchTransport } from "./transport.ts";
import {
  type Script,
  ScriptedGateway,
  scriptedFailure,
  scriptedLog,
} from "./scripted-gateway.fixture.ts";
import { type Reconnect, type WatchSource, watchRun } from "./watch.ts";

const RUN = "0199-run";
const LOG = scriptedLog(RUN, [
  { type: "run.started" },
  { type: "node.started", nodeId: "write", attempt: 1, epoch: 2n },
  delta(0),
  delta(1),
  { type: "node.completed", nodeId: "write" },
  { type: "run.completed", fact: { case: "runCompleted", value: {} } },
]);
const HEARTBEAT = { type: "heartbeat", fact: { case: "heartbeat" as const, value: {} } };

function delta(deltaIndex: number) {
  const fact = { case: "nodeStreamDelta" as const, value: { deltaIndex, text: "x" } };
  return { type: "node.stream.delta", nodeId: "write", epoch: 2n, fact };
}

/** Pauses take no time and are written down. */
function instantClock(): Clock & { readonly pausesMs: number[] } {
  const pausesMs: number[] = [];
  return {
    pausesMs,
    now: () => pausesMs.reduce((sum, ms) => sum + ms, 0),
    random: () => 1,
    pause: async (ms) => void pausesMs.push(ms),
  };
}

async function setup(script: Script, over: "connect-node" | "fetch" | "gRPC" = "connect-node") {
  const gateway = new ScriptedGateway(script);
  const baseUrl = await gateway.start();
  const clock = instantClock();
  const transport =
    over === "fetch"
      ? fetchTransport(baseUrl)
      : createConnectTransport({ baseUrl, httpVersion: "1.1" });
  const client = createPawlClient(over === "gRPC" ? { baseUrl, clock } : { transport, clock });
  const reconnects: Reconnect[] = [];
  const onReconnect = (reconnect: Reconnect) => void reconnects.push(reconnect);
  return { gateway, client, clock, reconnects, onReconnect };
}

const collect = async (events: AsyncIterable<RunEvent>): Promise<number[]> => {
  const ids: number[] = [];
  for await (const event of events) ids.push(Number(event.eventId));
  return ids;
};

for (const transport of ["connect-node", "fetch", "gRPC"] as const) {
  test(`a connection that is cut is resumed after the last event, over ${transport} (S1.51)`, async () => {
    const thirdSeen = Promise.withResolvers<void>();
    const { gateway, client, reconnects, onReconnect } = await setup(
      {
        watch: ({ afterEventId }, connection) =>
          connection === 0
            ? [{ send: LOG.slice(0, 3) }, { until: thirdSeen.promise }, { cut: true }]
            : [{ send: LOG.slice(Number(afterEventId)) }],
      },
      transport,
    );
    await using _ = gateway;
    const seen: number[] = [];
    for await (const event of client.watch(RUN, { onReconnect })) {
      seen.push(Number(event.eventId));
      if (event.eventId === 3n) thirdSeen.resolve();
    }
    expect(seen).toEqual([1, 2, 3, 4, 5, 6]);
    expect(gateway.watched.map((request) => request.afterEventId)).toEqual([0n, 3n]);
    expect(reconnects.map(({ cause, error }) => [cause, error.reason])).toEqual([
      ["error", "UNREACHABLE"],
    ]);
  });
}

test("a reader cut off with STREAM_LIMIT comes back with its cursor, not sooner than asked", async () => {
  const limit = scriptedFailure(Code.ResourceExhausted, "STREAM_LIMIT", "too slow", [
    { desc: RetryInfoSchema, value: { retryDelay: { seconds: 3n } } },
  ]);
  const { gateway, client, clock } = await setup({
    watch: (_, connection) =>
      connection === 0 ? [{ send: LOG.slice(0, 4) }, { fail: limit }] : [{ send: LOG.slice(4) }],
  });
  await using _ = gateway;
  expect(await collect(client.watch(RUN))).toEqual([1, 2, 3, 4, 5, 6]);
  expect(clock.pausesMs).toEqual([3000]);
});

test("pauses grow while nothing new comes and start over after progress", async () => {
  const draining = scriptedFailure(Code.Unavailable, "DRAINING", "stopping");
  const { gateway, client, clock } = await setup({
    watch: (_, connection) => {
      if (connection === 3) return [{ send: LOG.slice(0, 1) }, { fail: draining }];
      return connection < 5 ? [{ fail: draining }] : [{ send: LOG.slice(1) }];
    },
  });
  await using _ = gateway;
  let connectCount = 0;
  const onConnect = () => void connectCount++;
  expect(await collect(client.watch(RUN, { onConnect }))).toHaveLength(6);
  expect(clock.pausesMs).toEqual([200, 400, 800, 200, 400]);
  expect(connectCount).toBe(2);
});

test("repeats after a resume are dropped", async () => {
  const { gateway, client } = await setup({
    watch: (_, connection) =>
      connection === 0 ? [{ send: LOG.slice(0, 4) }, { cut: true }] : [{ send: LOG }],
  });
  await using _ = gateway;
  expect(await collect(client.watch(RUN))).toEqual([1, 2, 3, 4, 5, 6]);
});

test("a gap tears the connection down and reopens it with the cursor (S1.51)", async () => {
  const { gateway, client, reconnects, onReconnect } = await setup({
    watch: ({ afterEventId }, connection) =>
      connection === 0
        ? [{ send: [...LOG.slice(0, 2), ...LOG.slice(3)] }, { stall: true }]
        : [{ send: LOG.slice(Number(afterEventId)) }],
  });
  await using _ = gateway;
  expect(await collect(client.watch(RUN, { onReconnect }))).toEqual([1, 2, 3, 4, 5, 6]);
  expect(gateway.watched.map((request) => request.afterEventId)).toEqual([0n, 2n]);
  expect(reconnects.map(({ cause }) => cause)).toEqual(["gap"]);
});

test("a gap that every reopening shows again is EVENT_LOG_CORRUPTION, never silence", async () => {
  const { gateway, client } = await setup({ watch: () => [{ send: LOG.slice(1) }] });
  await using _ = gateway;
  await expect(collect(client.watch(RUN))).rejects.toMatchObject({
    reason: "EVENT_LOG_CORRUPTION",
  });
  expect(gateway.watched).toHaveLength(4);
});

test("a peer that says nothing is left, and heartbeats count as saying something", async () => {
  const { gateway, client, reconnects, onReconnect } = await setup({
    watch: ({ afterEventId }, connection) =>
      connection === 0
        ? [{ send: LOG.slice(0, 1) }, { send: [HEARTBEAT] }, { stall: true }]
        : [{ send: LOG.slice(Number(afterEventId)) }],
  });
  await using _ = gateway;
  expect(await collect(client.watch(RUN, { onReconnect, silenceMs: 700 }))).toEqual([
    1, 2, 3, 4, 5, 6,
  ]);
  expect(reconnects.map(({ cause }) => cause)).toEqual(["silence"]);
});

test("an error no reconnect can mend is thrown with its reason", async () => {
  const missing = scriptedFailure(Code.NotFound, "RUN_NOT_FOUND", "no such run");
  const { gateway, client } = await setup({ watch: () => [{ fail: missing }] });
  await using _ = gateway;
  await expect(collect(client.watch(RUN))).rejects.toMatchObject({ reason: "RUN_NOT_FOUND" });
  expect(gateway.watched).toHaveLength(1);
});

test("a watch without progress for long enough throws what it last met", async () => {
  const store = scriptedFailure(Code.Unavailable, "STORE_UNAVAILABLE", "no database");
  const { gateway, client } = await setup({ watch: () => [{ fail: store }] });
  await using _ = gateway;
  const watched = collect(client.watch(RUN, { giveUpMs: 1000 }));
  await expect(watched).rejects.toMatchObject({ reason: "STORE_UNAVAILABLE" });
});

test("a stream that ends without the terminal event is reopened while the run lives", async () => {
  const { gateway, client, reconnects, onReconnect } = await setup({
    watch: (_, connection) => [{ send: connection === 0 ? LOG.slice(0, 4) : LOG.slice(4) }],
    runs: { getRun: () => ({ run: { status: RunStatus.RUNNING, lastEventId: 4n } }) },
  });
  await using _ = gateway;
  expect(await collect(client.watch(RUN, { onReconnect }))).toHaveLength(6);
  expect(reconnects.map(({ cause }) => cause)).toEqual(["closed"]);
});

test("a watch that has the terminal event already ends at once", async () => {
  const { gateway, client } = await setup({
    watch: () => [],
    runs: { getRun: () => ({ run: { status: RunStatus.COMPLETED, lastEventId: 6n } }) },
  });
  await using _ = gateway;
  expect(await collect(client.watch(RUN, { afterEventId: 6 }))).toEqual([]);
});

test("after the terminal event the server ends the stream, and the client does not reset it", async () => {
  const release = Promise.withResolvers<void>();
  const isReset = Promise.withResolvers<boolean>();
  const source: WatchSource = {
    async *open(_request, signal) {
      yield { events: LOG.map((event) => create(RunEventSchema, event)) };
      await release.promise;
      isReset.resolve(signal.aborted);
    },
    lastEventIdOfEnded: async () => undefined,
  };
  // This caller leaves the loop as soon as it has the terminal event.
  for await (const event of watchRun(source, RUN)) if (event.eventId === 6n) break;
  release.resolve();
  expect(await isReset.promise).toBe(false);
});

test("aborting the signal ends the watch quietly and closes the stream", async () => {
  const { gateway, client } = await setup({
    watch: () => [{ send: LOG.slice(0, 2) }, { stall: true }],
  });
  await using _ = gateway;
  const controller = new AbortController();
  const seen: bigint[] = [];
  for await (const event of client.watch(RUN, { signal: controller.signal })) {
    seen.push(event.eventId);
    if (event.eventId === 2n) controller.abort();
  }
  expect(seen).toEqual([1n, 2n]);
});
