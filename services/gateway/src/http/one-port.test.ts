import http2 from "node:http2";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { type Client, Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { createGrpcClient } from "@pawl/platform/rpc/grpc-client";
import { REFLECTIONS } from "@pawl/platform/rpc/reflection";
import { ErrorInfoSchema } from "@pawl/proto/google/rpc/error_details_pb";
import { EventService } from "@pawl/proto/pawl/v1/event_service_pb";
import { RunService } from "@pawl/proto/pawl/v1/run_service_pb";
import { expect, onTestFinished, test } from "vitest";
import { startGateway } from "../gateway.fixture.ts";

const TRANSPORTS: readonly (readonly [string, (baseUrl: string) => Transport])[] = [
  ["gRPC", (baseUrl) => createGrpcTransport({ baseUrl })],
  ["gRPC-web over HTTP/1.1", (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" })],
  ["gRPC-web over HTTP/2", (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "2" })],
  ["Connect over HTTP/1.1", (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1" })],
  ["Connect over HTTP/2", (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "2" })],
  [
    "Connect in JSON",
    (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: false }),
  ],
];

async function watched(client: Client<typeof EventService>, runId: string): Promise<number[]> {
  const seqs: number[] = [];
  for await (const { events } of client.watchRun({ runId })) {
    seqs.push(...events.map(({ eventId }) => Number(eventId)).filter((seq) => seq > 0));
  }
  return seqs;
}

test.each(TRANSPORTS)(
  "%s reads, streams and fails with details on the one port",
  async (_, make) => {
    const gateway = await startGateway();
    const run = await gateway.addRun();
    const transport = make(gateway.url);
    const runs = createClient(RunService, transport);
    const found = await runs.getRun({ runId: run.toUpperCase() });
    expect(found.run).toMatchObject({ runId: run, lastEventId: 1n, workflowId: "orders" });
    expect(found.run?.nodes.map(({ nodeId }) => nodeId)).toEqual(["start", "a"]);

    const watching = watched(createClient(EventService, transport), run);
    await gateway.append(run, "node.log", {
      payload: { level: "info", message: "x", logIndex: 0 },
    });
    await gateway.append(run, "run.completed", {
      payload: { hasFailures: false },
      value: { done: true },
      status: "completed",
    });
    expect(await watching).toEqual([1, 2, 3]);

    const error = await runs
      .getRun({ runId: "not-a-uuid" })
      .catch((thrown: unknown) => ConnectError.from(thrown));
    expect(error).toBeInstanceOf(ConnectError);
    if (!(error instanceof ConnectError)) return;
    expect(error.code).toBe(Code.InvalidArgument);
    expect(error.findDetails(ErrorInfoSchema)[0]).toMatchObject({
      reason: "INPUT_INVALID",
      domain: "pawl",
    });
  },
);

test("a grpc-js client speaks to the same port", async () => {
  const gateway = await startGateway();
  const run = await gateway.addRun();
  const client = createGrpcClient(RunService, `127.0.0.1:${gateway.port}`);
  onTestFinished(() => client.close());
  expect((await client.call.getRun({ runId: run })).run?.runId).toBe(run);
  await expect(client.call.cancelRun({ runId: run })).rejects.toMatchObject({
    reason: "UNKNOWN_METHOD",
  });
  await expect(client.call.getRun({ runId: run.replaceAll("-", "") })).rejects.toMatchObject({
    reason: "INPUT_INVALID",
    violations: [{ field: "run_id", reason: "BAD_ID" }],
  });
});

test("fetch speaks Connect's JSON by hand", async () => {
  const gateway = await startGateway();
  const answer = await fetch(`${gateway.url}/pawl.v1.RunService/ListRuns`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  });
  expect([answer.status, await answer.json()]).toEqual([200, {}]);
});

test("HTTP/2 with prior knowledge reaches the plain handlers too", async () => {
  const gateway = await startGateway();
  const session = http2.connect(gateway.url);
  onTestFinished(() => session.destroy());
  const request = session.request({ ":path": "/healthz" });
  expect(await text(request)).toBe("ok\n");
});

test("a preface that arrives byte by byte is still HTTP/2, and other first bytes are HTTP/1.1", async () => {
  const gateway = await startGateway();
  const socket = connect(gateway.port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  for (const byte of "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") socket.write(byte);
  // An empty SETTINGS frame completes the client's part of the preface; the server answers with its own.
  socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
  const [first] = await once(socket);
  expect(first).toBe(0);
  const plain = connect(gateway.port, "127.0.0.1");
  onTestFinished(() => void plain.destroy());
  plain.write("PR");
  plain.write("OPFIND / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  expect(String(await once(plain))).toMatch(/^HTTP\/1\.1 \d{3}/);
});

const once = (socket: ReturnType<typeof connect>): Promise<Buffer> =>
  new Promise((resolve) => socket.once("data", resolve));

test.each(
  REFLECTIONS.flatMap((service) =>
    TRANSPORTS.filter(([name]) => /HTTP\/2|^gRPC$/.test(name)).map(
      ([name, transport]) => ({ name, service, transport, typeName: service.typeName }) as const,
    ),
  ),
)(
  "$typeName names the services and gives their files over $name",
  async ({ service, transport }) => {
    const gateway = await startGateway();
    const client = createClient(service, transport(gateway.url));
    const asked = (async function* () {
      yield { messageRequest: { case: "listServices" as const, value: "" } };
      yield {
        messageRequest: { case: "fileContainingSymbol" as const, value: "pawl.v1.RunEvent" },
      };
      yield { messageRequest: { case: "fileContainingSymbol" as const, value: "pawl.v1.Nothing" } };
    })();
    const answers = [];
    for await (const { messageResponse } of client.serverReflectionInfo(asked))
      answers.push(messageResponse);
    expect(answers.map((answer) => answer.case)).toEqual([
      "listServicesResponse",
      "fileDescriptorResponse",
      "errorResponse",
    ]);
  },
);
