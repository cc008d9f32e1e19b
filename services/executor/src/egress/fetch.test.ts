import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { createGzip, gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { parseCidrs } from "@pawl/platform/egress/address";
import { guardedAgent } from "./connect.ts";
import { egressFetch, type EgressRequest } from "./fetch.ts";
import { DEFAULT_EGRESS, type EgressPolicy } from "@pawl/platform/egress/url";
import type { Lookup } from "./guard.ts";

const LOCAL: EgressPolicy = { ...DEFAULT_EGRESS, allowed: parseCidrs("127.0.0.1/32") ?? [] };

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}

function setup(options: { policy?: EgressPolicy; lookup?: Lookup } = {}) {
  const policy = options.policy ?? LOCAL;
  const agent = guardedAgent(policy, options.lookup);
  onTestFinished(() => agent.destroy());
  return (url: string, request: Partial<EgressRequest> = {}) =>
    egressFetch(
      { agent, policy },
      { method: "GET", url, headers: {}, signal: AbortSignal.timeout(10_000), ...request },
    );
}

test("an exchange gives status, headers and body, decompressed", async () => {
  const url = await serve((_request, response) => {
    response.writeHead(201, { "content-encoding": "gzip", "x-a": ["1", "2"] });
    response.end(gzipSync("hello"));
  });
  const answer = await setup()(url);
  expect(answer).toMatchObject({ ok: true, status: 201, headers: { "x-a": "1, 2" } });
  expect(answer.ok && answer.body.toString()).toBe("hello");
});

/** A server on 127.0.0.1 that keeps the bytes that it gets. */
async function tapped() {
  const bytes: Buffer[] = [];
  const server = createTcpServer((socket) => socket.on("data", (chunk) => void bytes.push(chunk)));
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
  return { bytes, port: (server.address() as AddressInfo).port };
}

test("a name that resolves to a private address is blocked at connect time, and resolved once (U1)", async () => {
  let asked = 0;
  const rebinding: Lookup = async () => {
    asked++;
    return [{ address: "127.0.0.1", family: 4 }];
  };
  const fetch = setup({ policy: DEFAULT_EGRESS, lookup: rebinding });
  const answer = await fetch("http://rebind.example.com/");
  expect(answer).toMatchObject({ ok: false, cause: "url_blocked" });
  expect(asked).toBe(1);
});

test("a name whose answer flips to a private address after the check reaches no server there (U1, F25)", async () => {
  const { bytes, port } = await tapped();
  let reads = 0;
  const flipping = {
    // The first read is the check.
    get address() {
      reads++;
      return reads === 1 ? "93.184.215.14" : "127.0.0.1";
    },
    family: 4,
  };
  const policy = { ...DEFAULT_EGRESS, ports: new Set([port]) };
  const fetch = setup({ policy, lookup: async () => [flipping] });
  const answer = await fetch(`http://rebind.example.com:${port}/`, { method: "POST", body: "x" });
  const message = "the connection ended at an address that may not be called";
  expect(answer).toMatchObject({ ok: false, cause: "url_blocked", message });
  expect(reads).toBeGreaterThan(1);
  expect(bytes).toEqual([]);
});

test("the checked address is the one connected to, with the host's own name", async () => {
  const url = await serve((request, response) => response.end(request.headers.host));
  const { port } = new URL(url);
  const fetch = setup({ lookup: async () => [{ address: "127.0.0.1", family: 4 }] });
  const answer = await fetch(`http://service.example.com:${port}/`);
  expect(answer.ok && answer.body.toString()).toBe(`service.example.com:${port}`);
});

test.each([
  "http://10.1.2.3/",
  "http://127.0.0.2/",
  "http://[::127.0.0.1]/",
  "file:///etc/passwd",
  "http://0/",
])("a redirect to %s is blocked (U7)", async (location) => {
  const url = await serve((_request, response) => response.writeHead(302, { location }).end());
  expect(await setup()(url)).toMatchObject({ ok: false, cause: "url_blocked" });
});

test("a fourth redirect is one too many (U7)", async () => {
  const seen: string[] = [];
  const url = await serve((request, response) => {
    seen.push(request.url ?? "");
    response.writeHead(302, { location: `/${seen.length}` }).end();
  });
  expect(await setup()(url)).toMatchObject({ ok: false, cause: "url_blocked" });
  expect(seen).toEqual(["/", "/1", "/2", "/3"]);
});

test("credentials follow a redirect on the same host and are dropped on another (U13)", async () => {
  const seen: IncomingMessage["headers"][] = [];
  const other = await serve((request, response) => {
    seen.push(request.headers);
    response.end("there");
  });
  const first = await serve((request, response) => {
    seen.push(request.headers);
    response.writeHead(307, { location: request.url === "/" ? "/again" : other }).end();
  });
  const headers = {
    authorization: "Bearer x",
    cookie: "a=b",
    "x-api-key": "k",
    "idempotency-key": "e",
  };
  const answer = await setup()(first, { method: "POST", headers, body: "payload" });
  expect(answer.ok && answer.body.toString()).toBe("there");
  expect(
    seen.map((each) => [each.authorization, each["x-api-key"], each["idempotency-key"]]),
  ).toEqual([
    ["Bearer x", "k", "e"],
    ["Bearer x", "k", "e"],
    [undefined, undefined, "e"],
  ]);
});

test("see-other turns a post into a get without its body", async () => {
  const seen: string[] = [];
  const url = await serve((request, response) => {
    seen.push(`${request.method} ${request.headers["content-length"] ?? "-"}`);
    if (seen.length === 1) response.writeHead(303, { location: "/" }).end();
    else response.end();
  });
  await setup()(url, { method: "POST", body: "abc" });
  expect(seen).toEqual(["POST 3", "GET -"]);
});

test("an endless response, plain or compressed, is cut off as too large (U11)", async () => {
  const zeros = Buffer.alloc(1 << 16);
  const url = await serve((request, response) => {
    const isPlain = request.url === "/plain";
    if (!isPlain) response.setHeader("content-encoding", "gzip");
    const sink = isPlain ? response : createGzip();
    if (sink !== response) sink.pipe(response);
    const pump = (): void => {
      while (!response.destroyed && sink.write(zeros)) continue;
      if (!response.destroyed) sink.once("drain", pump);
    };
    pump();
  });
  const fetch = setup();
  expect(await fetch(`${url}/plain`)).toMatchObject({ ok: false, cause: "response_too_large" });
  expect(await fetch(`${url}/bomb`)).toMatchObject({ ok: false, cause: "response_too_large" });
});

test("ten thousand headers are too many (U11)", async () => {
  const url = await serve((_request, response) => {
    for (let i = 0; i < 10_000; i++) response.setHeader(`x-header-${i}`, "x");
    response.end();
  });
  expect(await setup()(url)).toMatchObject({ ok: false, cause: "response_too_large" });
});

test("an answer that never comes, or never ends, is a timeout (U11)", async () => {
  const url = await serve((request, response) => {
    if (request.url === "/drip") response.write("x");
  });
  const fetch = setup();
  for (const path of ["/silent", "/drip"]) {
    const answer = await fetch(url + path, { signal: AbortSignal.timeout(100) });
    expect(answer).toMatchObject({ ok: false, cause: "timeout" });
  }
});

test("an abort is cancelled, and a refused connection is the provider's error", async () => {
  const url = await serve(() => undefined);
  const controller = new AbortController();
  const answer = setup()(url, { signal: controller.signal });
  controller.abort();
  expect(await answer).toMatchObject({ ok: false, cause: "cancelled" });
  const dead = await setup()("http://127.0.0.1:1/");
  expect(dead).toMatchObject({ ok: false, cause: "provider_error" });
});

test("a broken compressed body is the provider's error", async () => {
  const url = await serve((_request, response) => {
    response.writeHead(200, { "content-encoding": "gzip" }).end("not gzip");
  });
  expect(await setup()(url)).toMatchObject({ ok: false, cause: "provider_error" });
});
