// Foreign callers: pages of other sites, names that merely resolve to us, header bombs. The gateway refuses each with a named reason and
// stays up for all others (rows H17, H20 and H22).
import { once } from "node:events";
import { type IncomingMessage, request as httpRequest } from "node:http";
import http2 from "node:http2";
import { buffer } from "node:stream/consumers";
import { ConnectError } from "@connectrpc/connect";
import { errorFromJsonBytes } from "@connectrpc/connect/protocol-connect";
import { expect, onTestFinished, test } from "vitest";
import { finishedRun, saveKnown } from "./known-workflow.ts";
import { framed, type Framing, rawCall } from "./raw-call.ts";
import { expectRefusal, type Refusal } from "./refusal.ts";
import { useStage } from "./stage.ts";

const stage = useStage(undefined, saveKnown);

const FORBIDDEN: Refusal = { code: "PermissionDenied", reason: "FORBIDDEN" };
const TOO_MUCH: Refusal = { code: "ResourceExhausted", reason: "LIMIT_EXCEEDED" };
const FRAMINGS: readonly Framing[] = ["gRPC", "gRPC-web", "Connect", "Connect JSON"];
const START = "pawl.v1.RunService/StartRun";

type Plain = {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
};

/** A plain request with whatever headers; fetch would not send all of them. */
async function plain(
  path: string,
  headers: Readonly<Record<string, string>>,
  method = "GET",
): Promise<Plain> {
  const request = httpRequest(`${stage().url}${path}`, { method, headers, agent: false });
  request.end();
  const [response] = (await once(request, "response")) as [IncomingMessage];
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: await buffer(response),
  };
}

const errorIn = ({ body }: Plain): ConnectError =>
  errorFromJsonBytes(body, undefined, new ConnectError(`answered: ${String(body)}`));

/** A start that would be taken, were it not for the headers. */
const bodyOf = (framing: Framing): Uint8Array =>
  framed(
    framing,
    Buffer.from(framing === "Connect JSON" ? '{"workflowId":"known"}' : "\n\x05known"),
  );

const PATHS = ["/", "/runs", "/readyz", "/healthz", "/metrics", "/pawl.v1.RunService/ListRuns"];

test.each([
  "evil.example",
  "evil.example:7400",
  "127.0.0.1.evil.example",
  "localhost.evil.example:1",
  "0.0.0.0",
  "user@localhost",
  "localhost:7400:1",
  "[::2]",
  "127.0.0.2",
  "x".repeat(1_000),
])(
  "H22: a Host of %j, as after DNS rebinding, is FORBIDDEN on every path and in every protocol",
  async (host) => {
    await stage().unharmed(async () => {
      for (const path of PATHS) {
        const answer = await plain(path, { host });
        expect([path, answer.status]).toEqual([path, 403]);
        expectRefusal(errorIn(answer), FORBIDDEN, host);
      }
      for (const framing of FRAMINGS) {
        // HTTP/2 has the name in its own place, and takes no user there.
        if (framing === "gRPC" && host.includes("@")) continue;
        const headers: Record<string, string> =
          framing === "gRPC" ? { ":authority": host } : { host };
        const call = { framing, method: START, body: bodyOf(framing), headers };
        const { error } = await rawCall(stage().url, call);
        if (error === undefined) throw new Error(`${framing} was answered`);
        expectRefusal(error, FORBIDDEN, host);
      }
    });
  },
);

test.each([
  "https://evil.example",
  "null",
  "http://localhost",
  "http://127.0.0.1:1",
  "file://",
  "https://127.0.0.1",
])("H22: a page of %j may not call, whatever it asks for", async (origin) => {
  const { runId } = await knownRun();
  await stage().unharmed(async () => {
    for (const path of [...PATHS, `/execute/workflows/${runId}/events`]) {
      const answer = await plain(path, { origin });
      expect([path, answer.status]).toEqual([path, 403]);
      expectRefusal(errorIn(answer), FORBIDDEN, origin);
      expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
    }
    const preflight = await plain(
      `/${START}`,
      { origin, "access-control-request-method": "POST" },
      "OPTIONS",
    );
    expect([preflight.status, preflight.headers["access-control-allow-origin"]]).toEqual([
      403,
      undefined,
    ]);
    for (const framing of FRAMINGS) {
      const call = { framing, method: START, body: bodyOf(framing), headers: { origin } };
      const { error } = await rawCall(stage().url, call);
      if (error === undefined) throw new Error(`${framing} was answered`);
      expectRefusal(error, FORBIDDEN, origin);
    }
  });
});

let run: ReturnType<typeof finishedRun> | undefined;
/** One finished run for the whole file. */
const knownRun = (): ReturnType<typeof finishedRun> => (run ??= finishedRun(stage()));

test("our own page and callers without one are let in by every name of this machine", async () => {
  const { port } = stage();
  for (const host of [
    `127.0.0.1:${port}`,
    `localhost:${port}`,
    `LOCALHOST:${port}`,
    `[::1]:${port}`,
    "localhost",
  ]) {
    expect((await plain("/readyz", { host })).status).toBe(200);
    expect((await plain("/readyz", { host, origin: `http://${host}` })).status).toBe(200);
  }
});

const big = (bytes: number): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: Math.ceil(bytes / 1_000) }, (_, index) => [`x-${index}`, "y".repeat(990)]),
  );
const many = (pairs: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: pairs }, (_, index) => [`x-${index}`, "y"]));

test("H17: 24 KB of headers are 431, over HTTP/1.1 and HTTP/2", async () => {
  await stage().unharmed(async () => {
    const headers = big(24_000);
    expect((await plain("/readyz", headers)).status).toBe(431);
    const call = { framing: "gRPC", method: START, body: bodyOf("gRPC"), headers } as const;
    const { error } = await rawCall(stage().url, call);
    if (error === undefined) throw new Error("the call was answered");
    expectRefusal(error, TOO_MUCH);
    expect(await overHttp2("/readyz", headers)).toBe(431);
  });
});

/** The status of a plain request over HTTP/2; undefined when the server would not speak with us any more. */
async function overHttp2(
  path: string,
  headers: Record<string, string>,
): Promise<number | undefined> {
  const session = http2.connect(stage().url);
  onTestFinished(() => session.destroy());
  session.on("error", () => undefined);
  const stream = session.request({ ":path": path, ...headers });
  return await new Promise((resolve) => {
    stream.on("response", (received) => resolve(received[":status"]));
    stream.on("error", () => resolve(undefined));
    stream.on("close", () => resolve(undefined));
    stream.end();
  });
}

test("H17: two hundred headers are refused, over HTTP/1.1 and HTTP/2", async () => {
  await stage().unharmed(async () => {
    const answer = await plain("/readyz", many(200));
    expect(answer.status).toBe(431);
    expectRefusal(errorIn(answer), TOO_MUCH);
    const few = await plain("/readyz", many(50));
    expect(few.status).toBe(200);
    // HTTP/2 counts them before there is a request to answer, and resets it.
    expect([431, undefined]).toContain(await overHttp2("/readyz", many(200)));
    expect(await overHttp2("/readyz", many(50))).toBe(200);
  });
});

test.each([
  "garbage",
  "00-0-0-00",
  `00-${"f".repeat(32)}-${"0".repeat(16)}-01`,
  "x".repeat(5_000),
  "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-zz",
])("H20: a traceparent of %j is ignored", async (traceparent) => {
  for (const framing of FRAMINGS) {
    const text = framing === "Connect JSON" ? "{}" : "";
    const body = framed(framing, Buffer.from(text));
    const call = { framing, method: "pawl.v1.RunService/ListRuns", body, headers: { traceparent } };
    expect((await rawCall(stage().url, call)).error).toBeUndefined();
  }
});

test("a path that leads nowhere is an error and not a file", async () => {
  await stage().unharmed(async () => {
    for (const path of [
      "/../../etc/passwd",
      "/%2e%2e/%2e%2e/etc/passwd",
      "/assets/../../package.json",
      "/.env",
      "/nowhere",
      "//evil.example/",
      "/%00",
    ]) {
      const answer = await plain(path, {});
      expect([path, answer.status]).toEqual([path, 404]);
      expectRefusal(errorIn(answer), { code: "Unimplemented", reason: "UNKNOWN_METHOD" });
    }
  });
});
