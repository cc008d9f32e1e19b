import { get, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { type GatewayFixture, startGateway } from "../gateway.fixture.ts";
import type { RunId } from "@pawl/core/name/ids";

const open = (url: string, headers: Record<string, string> = {}): Promise<IncomingMessage> =>
  new Promise((resolve, reject) =>
    get(url, { headers, agent: false }, resolve).on("error", reject),
  );

async function finishedRun(gateway: GatewayFixture): Promise<RunId> {
  const run = await gateway.addRun();
  await gateway.append(run, "node.completed", {
    payload: { durationMs: 1 },
    value: { ok: [1, 2] },
  });
  await gateway.append(run, "run.completed", {
    payload: { hasFailures: false },
    status: "completed",
  });
  return run;
}

const ids = (body: string): number[] =>
  [...body.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));

test("the headers are exactly those of a stream, without a Transfer-Encoding of the gateway (S1.52, S1.55, S1.56)", async () => {
  const gateway = await startGateway();
  const run = await finishedRun(gateway);
  const response = await open(`${gateway.url}/execute/workflows/${run}/events`);
  expect(response.statusCode).toBe(200);
  const raw = response.rawHeaders;
  const own = raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1]]] : []));
  expect(own.filter(([name]) => name !== "Date")).toEqual([
    ["Content-Type", "text/event-stream; charset=utf-8"],
    ["Cache-Control", "no-cache, no-transform"],
    ["Connection", "keep-alive"],
    ["X-Accel-Buffering", "no"],
    // Node's own framing of a body without a length.
    ["Transfer-Encoding", "chunked"],
  ]);
  const body = await text(response);
  expect(ids(body)).toEqual([1, 2, 3]);
  expect(body).toMatch(/^retry: \d+\n\n/);
  const frame = body.split("\n\n").find((part) => part.startsWith("id: 2"));
  expect(frame).toMatch(/^id: 2\nevent: node\.completed\ndata: \{/);
  expect(JSON.parse(frame?.split("data: ")[1] ?? "")).toMatchObject({
    eventId: 2,
    sequence: 2,
    workflowId: "orders",
    correlation: { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", wave: 1, phase: "engine" },
    payload: { durationMs: 1, output: { ok: [1, 2] } },
  });
});

test("the query's cursor wins over the browser's header (S1.53, S1.54)", async () => {
  const gateway = await startGateway();
  const run = await finishedRun(gateway);
  const url = `${gateway.url}/execute/workflows/${run}/events`;
  const read = async (query: string, headers: Record<string, string>) =>
    ids(await text(await open(`${url}${query}`, headers)));
  expect(await read("", { "Last-Event-ID": "2" })).toEqual([3]);
  expect(await read("?afterEventId=1", { "Last-Event-ID": "2" })).toEqual([2, 3]);
  expect(await read("?afterEventId=0", {})).toEqual([1, 2, 3]);
  expect(await read("?types=run.started", {})).toEqual([1, 3]);
});

test("a browser that has the terminal event gets 204 and does not reconnect", async () => {
  const gateway = await startGateway();
  const run = await finishedRun(gateway);
  const url = `${gateway.url}/execute/workflows/${run}/events`;
  const response = await open(url, { "Last-Event-ID": "3" });
  expect([response.statusCode, await text(response)]).toEqual([204, ""]);
});

test("malformed cursors and ids are refused with a reason (C1, C4, C10)", async () => {
  const gateway = await startGateway();
  const run = await gateway.addRun();
  const refused = async (path: string, headers: Record<string, string> = {}) => {
    const response = await open(`${gateway.url}/execute/workflows/${path}`, headers);
    const { details } = JSON.parse(await text(response));
    return [response.statusCode, details[0].debug.reason];
  };
  for (const cursor of ["-1", "abc", "1.5", "9223372036854775808", "", "%00", "1&afterEventId=2"]) {
    expect(await refused(`${run}/events?afterEventId=${cursor}`)).toEqual([400, "INPUT_INVALID"]);
  }
  expect(await refused(`${run}/events`, { "Last-Event-ID": "x" })).toEqual([400, "INPUT_INVALID"]);
  expect(await refused("%7Bnope%7D/events")).toEqual([400, "INPUT_INVALID"]);
  expect(await refused(`${run}/events?afterEventId=2`)).toEqual([400, "CURSOR_OUT_OF_RANGE"]);
  const missing = "0198c0de-0000-7000-8000-00000000dead";
  expect(await refused(`${missing}/events`)).toEqual([404, "RUN_NOT_FOUND"]);
});

test("live events arrive as they are committed, and a drain names the cursor (G3)", async () => {
  const gateway = await startGateway();
  const run = await gateway.addRun();
  const response = await open(`${gateway.url}/execute/workflows/${run}/events`);
  let body = "";
  const until = async (part: string): Promise<void> => {
    while (!body.includes(part)) body += String((await chunks.next()).value);
  };
  const chunks = response[Symbol.asyncIterator]();
  await until("id: 1");
  await gateway.append(run, "node.queued");
  await until("id: 2");
  const stopped = gateway.stop();
  await until("stream.ended");
  await stopped;
  expect(ids(body)).toEqual([1, 2]);
  const last = body.split("event: stream.ended\ndata: ")[1] ?? "";
  expect(JSON.parse(last)).toMatchObject({ reason: "DRAINING", metadata: { cursor: "2" } });
});

test("more streams than PAWL_SUBSCRIBERS_MAX are refused, and a stream that ends makes room", async () => {
  const gateway = await startGateway({}, { PAWL_SUBSCRIBERS_MAX: "1" });
  const live = await gateway.addRun();
  const first = await open(`${gateway.url}/execute/workflows/${live}/events`);
  expect(first.statusCode).toBe(200);
  const refused = await open(`${gateway.url}/execute/workflows/${live}/events`);
  expect(refused.statusCode).toBe(429);
  expect(await text(refused)).toContain("STREAM_LIMIT");
  await gateway.append(live, "run.completed", {
    payload: { hasFailures: false },
    status: "completed",
  });
  expect(ids(await text(first))).toEqual([1, 2]);
  expect((await open(`${gateway.url}/execute/workflows/${live}/events`)).statusCode).toBe(200);
});
