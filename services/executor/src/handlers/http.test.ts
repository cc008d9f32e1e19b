import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { parseCidrs } from "@pawl/platform/egress/address";
import { guardedAgent } from "../egress/connect.ts";
import { DEFAULT_EGRESS } from "@pawl/platform/egress/url";
import { returned } from "../run/outcome.ts";
import { memoryLedger } from "../work/memory-ledger.fixture.ts";
import { probeHandler } from "./handler-probe.fixture.ts";
import { httpHandler } from "./http.ts";

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

async function setup(answer: (response: ServerResponse, seen: Seen) => void) {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const one = { method, url, headers, body: Buffer.concat(parts).toString() };
      seen.push(one);
      answer(response, one);
    });
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const policy = { ...DEFAULT_EGRESS, allowed: parseCidrs("127.0.0.0/8") ?? [] };
  const agent = guardedAgent(policy);
  onTestFinished(async () => {
    await agent.destroy();
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { handler: httpHandler({ agent, policy }), url: `http://127.0.0.1:${port}`, seen };
}

test("a request carries its query, headers, JSON body and the effect key", async () => {
  const { handler, url, seen } = await setup((response) => {
    response.writeHead(200, { "content-type": "application/json" }).end('{"ok":[1]}');
  });
  const config = {
    url: `${url}/a?x=1`,
    method: "POST",
    headers: { "X-Number": 5 },
    query: { y: "ü", z: true },
    body: { a: 1 },
  };
  const { result } = await probeHandler(handler, config);
  expect(result).toMatchObject({ output: { status: 200, body: { ok: [1] } } });
  expect(seen).toMatchObject([
    {
      method: "POST",
      url: "/a?x=1&y=%C3%BC&z=true",
      body: '{"a":1}',
      headers: {
        "x-number": "5",
        "content-type": "application/json",
        "idempotency-key": "01890000-0000-7000-8000-000000000000/n/0",
      },
    },
  ]);
});

test("text, and invalid JSON, come back as text", async () => {
  const { handler, url } = await setup((response, { url: path }) => {
    response.setHeader("content-type", path === "/json" ? "application/json" : "text/plain");
    response.end("{broken");
  });
  for (const path of ["/json", "/text"]) {
    const { result } = await probeHandler(handler, { url: url + path });
    expect(result).toMatchObject({ output: { body: "{broken" } });
  }
});

test.each([
  [429, "rate_limit", false],
  [500, "provider_error", false],
  [503, "provider_error", false],
  [408, "provider_error", false],
  [404, "http_status", true],
  [400, "http_status", true],
])("status %i is %s (S1.29)", async (status, cause, permanent) => {
  const { handler, url } = await setup((response) => response.writeHead(status).end("why"));
  const { result } = await probeHandler(handler, { url });
  expect(result).toMatchObject({ failed: { cause, permanent, details: { status, body: "why" } } });
});

test.each([429, 503])(
  "status %i carries how long the server asks to wait (S1.29)",
  async (status) => {
    const { handler, url } = await setup((response) =>
      response.writeHead(status, { "retry-after": "3" }).end(),
    );
    const { result } = await probeHandler(handler, { url });
    expect(result).toMatchObject({ failed: { permanent: false, retryAfterMs: 3_000 } });
  },
);

test("a private address is blocked for good (U4)", async () => {
  const { handler } = await setup((response) => response.end());
  const { result } = await probeHandler(handler, { url: "http://10.0.0.1/" });
  expect(result).toMatchObject({ failed: { cause: "url_blocked", permanent: true } });
});

test("a line break in a header is header_injection and nothing is sent (T14)", async () => {
  const { handler, url, seen } = await setup((response) => response.end());
  const { result } = await probeHandler(handler, { url, headers: { "x-a": "1\r\nx-b: 2" } });
  expect(result).toMatchObject({ failed: { cause: "header_injection", permanent: true } });
  expect(seen).toEqual([]);
});

test("an author's own idempotency key and header name win", async () => {
  const { handler, url, seen } = await setup((response) => response.end());
  await probeHandler(handler, { url, headers: { "Idempotency-Key": "mine" } });
  await probeHandler(handler, { url, idempotency_key_header: "X-Request-Id" });
  expect(seen[0]?.headers["idempotency-key"]).toBe("mine");
  expect(seen[1]?.headers["x-request-id"]).toBe("01890000-0000-7000-8000-000000000000/n/0");
});

test("no answer in time is a timeout, which a policy may retry (S1.32)", async () => {
  const { handler, url } = await setup(() => undefined);
  const { result } = await probeHandler(handler, { url, timeout_ms: 50 });
  const message = "no answer within 50 ms";
  const failed = { cause: "timeout", permanent: false, timeoutMs: 50, message };
  expect(result).toMatchObject({ failed });
});

test.each(["GET", "POST"])(
  "a reply to %s that is nested without end is a failure for good",
  async (method) => {
    const { handler, url } = await setup((response) => {
      response.setHeader("content-type", "application/json");
      response.end("[".repeat(100_000) + "]".repeat(100_000));
    });
    const { result } = await probeHandler(handler, { url, method });
    const failed = { cause: "output_invalid", permanent: true };
    expect("refused" in result ? result : returned(result)).toMatchObject({
      case: "failed",
      value: failed,
    });
  },
);

test("a request body over its limit is not sent", async () => {
  const { handler, url, seen } = await setup((response) => response.end());
  const { result } = await probeHandler(handler, {
    url,
    method: "PUT",
    body: "x".repeat(2 ** 20 + 1),
  });
  expect(result).toMatchObject({ failed: { cause: "request_too_large" } });
  expect(seen).toEqual([]);
});

test("a call that writes is entered into the ledger, and its answer is given to a later attempt without another call", async () => {
  const { handler, url, seen } = await setup((response) => response.end("ordered"));
  const ledger = memoryLedger();
  const first = await probeHandler(handler, { url, method: "POST" }, {}, ledger);
  expect(ledger.begun).toEqual([{ name: "http", class: "idempotent" }]);
  expect(first.result).toEqual({ output: ledger.committed.get("http") });
  const known = memoryLedger({
    state: "committed",
    resultJson: JSON.stringify(ledger.committed.get("http")),
  });
  const again = await probeHandler(handler, { url, method: "POST" }, { attempt: 2 }, known);
  expect(again.result).toEqual(first.result);
  expect(seen).toHaveLength(1);
});

test("a call that only reads, or is declared without effect, leaves no record", async () => {
  const { handler, url } = await setup((response) => response.end("read"));
  for (const config of [
    { url, method: "GET" },
    { url, method: "HEAD" },
    { url, method: "POST", effect: "none" },
  ]) {
    const ledger = memoryLedger();
    expect((await probeHandler(handler, config, {}, ledger)).result).toHaveProperty("output");
    expect(ledger.begun).toEqual([]);
  }
});

test("an answer that failed is not recorded, so the next attempt calls again", async () => {
  const { handler, url, seen } = await setup((response) => {
    response.writeHead(seen.length === 1 ? 503 : 200).end();
  });
  const ledger = memoryLedger();
  const first = await probeHandler(handler, { url, method: "PUT" }, {}, ledger);
  expect(first.result).toMatchObject({ failed: { cause: "provider_error", permanent: false } });
  expect(ledger.committed.size).toBe(0);
  const before = memoryLedger({ state: "begun_before" });
  const second = await probeHandler(handler, { url, method: "PUT" }, {}, before);
  expect(second.result).toMatchObject({ output: { status: 200 } });
  expect(seen.map(({ headers }) => headers["idempotency-key"])).toEqual([
    "01890000-0000-7000-8000-000000000000/n/0",
    "01890000-0000-7000-8000-000000000000/n/0",
  ]);
});

test("a later attempt does not repeat an at-most-once call", async () => {
  const { handler, url, seen } = await setup((response) => response.end());
  const before = memoryLedger({ state: "begun_before" });
  const config = { url, method: "POST", effect: "at_most_once" };
  const { result } = await probeHandler(handler, config, {}, before);
  expect(result).toMatchObject({ failed: { cause: "effect_unknown", permanent: true } });
  expect(seen).toEqual([]);
});
