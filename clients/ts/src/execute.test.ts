import { Code, ConnectError } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import type { RunEvent } from "@pawl/proto/pawl/v1/event_pb";
import { expect, test } from "vitest";
import { SYSTEM_CLOCK } from "./backoff.ts";
import { createPawlClient } from "./client.ts";
import { fetchTransport } from "./transport.ts";
import { jsonOf } from "./json.ts";
import {
  type Script,
  ScriptedGateway,
  scriptedFailure,
  scriptedLog,
} from "./scripted-gateway.fixture.ts";

const RUN = "0199-run";
const LOG = scriptedLog(RUN, [
  { type: "run.started" },
  { type: "node.queued", nodeId: "write" },
  { type: "node.completed", nodeId: "write" },
  { type: "run.completed", fact: { case: "runCompleted", value: {} } },
]);
const ACCEPT = { accept: RUN };

const WAYS = {
  "connect-node": (baseUrl: string) => ({
    transport: createConnectTransport({ baseUrl, httpVersion: "1.1" }),
  }),
  fetch: (baseUrl: string) => ({ transport: fetchTransport(baseUrl) }),
  gRPC: (baseUrl: string) => ({ baseUrl }),
};
type Way = keyof typeof WAYS;

async function setup(
  script: Script,
  { over = "connect-node", timeoutMs = 30_000 }: { over?: Way; timeoutMs?: number } = {},
) {
  const gateway = new ScriptedGateway(script);
  const baseUrl = await gateway.start();
  const clock = { ...SYSTEM_CLOCK, pause: async () => {} };
  return { gateway, client: createPawlClient({ ...WAYS[over](baseUrl), clock, timeoutMs }) };
}

const collect = async (events: AsyncIterable<RunEvent>): Promise<number[]> => {
  const ids: number[] = [];
  for await (const event of events) ids.push(Number(event.eventId));
  return ids;
};

test("one call starts a run and gives its events; the run is known before the first of them", async () => {
  const told = Promise.withResolvers<string>();
  const { gateway, client } = await setup({
    execute: () => [ACCEPT, { until: told.promise }, { send: LOG }],
  });
  await using _ = gateway;
  const events = client.runs.execute("hello", {
    input: { name: "Ada" },
    types: ["node.completed"],
    priority: 3,
    onStart: ({ run, isDuplicate }) => told.resolve(`${run.runId} ${isDuplicate}`),
  });
  expect(await collect(events)).toEqual([1, 2, 3, 4]);
  expect(await told.promise).toBe(`${RUN} false`);
  const [request] = gateway.executed;
  expect(request).toMatchObject({
    start: { workflowId: "hello", priority: 3 },
    types: ["node.completed"],
  });
  expect(jsonOf(request?.start?.inputJson ?? new Uint8Array())).toEqual({ name: "Ada" });
  expect(gateway.watched).toEqual([]);
});

test("an execution lost before its run was named is repeated with the same request id", async () => {
  const { gateway, client } = await setup({
    execute: (_, connection) => {
      if (connection === 0) return [{ fail: new ConnectError("gone", Code.Unavailable) }];
      return connection === 1 ? [{ cut: true }] : [ACCEPT, { send: LOG }];
    },
  });
  await using _ = gateway;
  expect(await collect(client.runs.execute("hello"))).toEqual([1, 2, 3, 4]);
  const ids = gateway.executed.map(({ start }) => start?.requestId);
  expect(ids).toHaveLength(3);
  expect(new Set(ids).size).toBe(1);
  expect(ids[0]).toMatch(/^[0-9a-f-]{36}$/);
});

for (const transport of ["connect-node", "fetch", "gRPC"] as const) {
  for (const seen of [0, 2]) {
    test(`an execution that is cut continues as a watch after the last event, over ${transport}, of ${seen}`, async () => {
      const arrived = Promise.withResolvers<void>();
      const { gateway, client } = await setup(
        {
          execute: () => [
            ACCEPT,
            ...(seen === 0 ? [] : [{ send: LOG.slice(0, seen) }]),
            { until: arrived.promise },
            { cut: true },
          ],
          watch: ({ afterEventId }) => [{ send: LOG.slice(Number(afterEventId)) }],
        },
        { over: transport },
      );
      await using _ = gateway;
      const causes: string[] = [];
      const ids: number[] = [];
      const events = client.runs.execute("hello", {
        onReconnect: ({ cause }) => void causes.push(cause),
        onStart: () => void (seen === 0 && arrived.resolve()),
      });
      for await (const { eventId } of events) {
        ids.push(Number(eventId));
        if (ids.length === seen) arrived.resolve();
      }
      expect(ids).toEqual([1, 2, 3, 4]);
      expect(gateway.executed).toHaveLength(1);
      expect(gateway.watched.map(({ runId, afterEventId }) => [runId, afterEventId])).toEqual([
        [RUN, BigInt(seen)],
      ]);
      expect(causes).toEqual(["error"]);
    });
  }
}

test("repeats of an execution are dropped, and a gap in it is made up for by a watch", async () => {
  const { gateway, client } = await setup({
    execute: () => [
      ACCEPT,
      { send: LOG.slice(0, 2) },
      { send: [...LOG.slice(0, 2), ...LOG.slice(3)] },
      { stall: true },
    ],
    watch: ({ afterEventId }) => [{ send: LOG.slice(Number(afterEventId)) }],
  });
  await using _ = gateway;
  expect(await collect(client.runs.execute("hello"))).toEqual([1, 2, 3, 4]);
  expect(gateway.watched.map(({ afterEventId }) => afterEventId)).toEqual([2n]);
});

test("an execution the server refuses is not repeated", async () => {
  const refused = scriptedFailure(Code.NotFound, "WORKFLOW_NOT_FOUND", "there is none");
  const { gateway, client } = await setup({ execute: () => [{ fail: refused }] });
  await using _ = gateway;
  await expect(collect(client.runs.execute("hello"))).rejects.toMatchObject({
    reason: "WORKFLOW_NOT_FOUND",
  });
  expect(gateway.executed).toHaveLength(1);
});

test("an execution is left quietly once its run is known, and with an error before", async () => {
  const { gateway, client } = await setup({
    execute: (_, connection) =>
      connection === 0 ? [ACCEPT, { send: LOG.slice(0, 2) }, { stall: true }] : [{ stall: true }],
  });
  await using _ = gateway;
  const first = new AbortController();
  const ids: bigint[] = [];
  for await (const { eventId } of client.runs.execute("hello", { signal: first.signal })) {
    ids.push(eventId);
    if (eventId === 2n) first.abort();
  }
  expect(ids).toEqual([1n, 2n]);
  const second = new AbortController();
  const lost = collect(client.runs.execute("hello", { signal: second.signal }));
  second.abort();
  await expect(lost).rejects.toMatchObject({ reason: "CALLER_CANCELLED" });
});

test("an execution whose run is not named in time fails as a start would", async () => {
  const { gateway, client } = await setup({ execute: () => [{ stall: true }] }, { timeoutMs: 50 });
  await using _ = gateway;
  await expect(collect(client.runs.execute("hello"))).rejects.toMatchObject({
    reason: "DEADLINE_PASSED",
    code: Code.DeadlineExceeded,
  });
});
