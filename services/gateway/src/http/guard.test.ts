import http2 from "node:http2";
import { request as httpRequest } from "node:http";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { startGateway } from "../gateway.fixture.ts";

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

const ask = (url: string, headers: Record<string, string>, method = "GET"): Promise<Answer> =>
  new Promise((resolve, reject) => {
    httpRequest(url, { method, headers, agent: false }, (response) => {
      const { statusCode: status = 0, headers: received } = response;
      text(response).then((body) => resolve({ status, headers: received, body }), reject);
    })
      .on("error", reject)
      .end();
  });

async function ask2(url: string, headers: Record<string, string>): Promise<Answer> {
  const session = http2.connect(url);
  session.on("error", () => undefined);
  onTestFinished(() => session.destroy());
  const stream = session.request(headers);
  const got = new Promise<Record<string, unknown>>((resolve, reject) => {
    stream.once("response", resolve);
    stream.once("error", reject);
  });
  const found = await got;
  let trailers: Record<string, unknown> = {};
  stream.once("trailers", (received) => (trailers = received));
  const body = await text(stream);
  return { status: Number(found[":status"]), headers: { ...found, ...trailers }, body };
}

test("only loopback names reach the gateway", async () => {
  const { url, port } = await startGateway();
  for (const host of ["127.0.0.1", "localhost", "[::1]", "LOCALHOST"]) {
    expect((await ask(`${url}/healthz`, { host: `${host}:${port}` })).status).toBe(200);
  }
  for (const host of [
    "evil.example",
    "127.0.0.1.evil.example",
    "localhost@evil.example",
    "[::2]",
    "10.0.0.1",
  ]) {
    const refused = await ask(`${url}/healthz`, { host: `${host}:${port}` });
    expect(refused.status).toBe(403);
    expect(JSON.parse(refused.body)).toMatchObject({
      code: "permission_denied",
      details: [{ debug: { reason: "FORBIDDEN" } }],
    });
  }
});

test("a gRPC caller by another host name gets PERMISSION_DENIED", async () => {
  const { url } = await startGateway();
  const answer = await ask2(url, {
    ":authority": "evil.example",
    ":method": "POST",
    ":path": "/pawl.v1.RunService/ListRuns",
    "content-type": "application/grpc",
  });
  expect(answer).toMatchObject({ status: 200, headers: { "grpc-status": "7" } });
});

test("pages of other origins are refused unless they were allowed", async () => {
  const allowed = "http://localhost:5173";
  const { url } = await startGateway({}, { PAWL_ALLOWED_ORIGINS: allowed });
  const at = `${url}/healthz`;
  expect((await ask(at, { origin: url })).status).toBe(200);
  for (const origin of ["http://evil.example", "http://localhost:9999", "null", `${url}.evil`]) {
    expect((await ask(at, { origin })).status).toBe(403);
  }
  const own = await ask(at, { origin: allowed });
  expect(own).toMatchObject({ status: 200, headers: { "access-control-allow-origin": allowed } });
  const preflight = await ask(at, { origin: allowed }, "OPTIONS");
  expect(preflight.status).toBe(204);
  // Our own client sends this header, so a page that uses the client must be allowed to send it.
  const headers = String(preflight.headers["access-control-allow-headers"]).toLowerCase();
  expect(headers.split(", ")).toEqual(
    expect.arrayContaining([
      ...["pawl-json", "authorization", "x-request-id"],
      ...["traceparent", "tracestate", "baggage"],
    ]),
  );
  expect((await ask(at, { origin: url })).headers).not.toHaveProperty(
    "access-control-allow-origin",
  );
});

test("headers are bounded in number and bytes over both versions of HTTP (H17)", async () => {
  const { url } = await startGateway();
  const long = { "x-long": "x".repeat(24_000) };
  expect((await ask(`${url}/healthz`, long)).status).toBe(431);
  expect((await ask2(url, { ":path": "/healthz", ...long })).status).toBe(431);
  const many = Object.fromEntries(Array.from({ length: 66 }, (_, n) => [`x-${n}`, "v"]));
  expect((await ask(`${url}/healthz`, many)).status).toBe(431);
  const most = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`x-${n}`, "v"]));
  expect((await ask2(url, { ":path": "/healthz", ...most })).status).toBe(200);
});
