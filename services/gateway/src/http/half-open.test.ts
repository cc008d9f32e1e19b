import { once } from "node:events";
import http2 from "node:http2";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { toConnectError } from "@pawl/platform/rpc/status";
import { expect, onTestFinished, test } from "vitest";
import type { EdgeHandler } from "../request/exchange.ts";
import { refuse } from "./refuse.ts";
import { EdgeServer } from "./server.ts";

const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/** So long that a busy machine sends what it sends in time. */
const ARRIVAL_MS = 500;

/** A server that gives requests a moment to arrive and passes them to `handler`. */
async function setup(handler: EdgeHandler): Promise<number> {
  const server = new EdgeServer({
    guard: { allowedHosts: new Set(), allowedOrigins: new Set() },
    handlers: [handler],
    refuse: (request, response, error, httpStatus) =>
      refuse(
        request,
        response,
        toConnectError(error, () => undefined),
        httpStatus,
      ),
    arrival: { headersMs: ARRIVAL_MS, bodyMs: ARRIVAL_MS },
  });
  const port = await server.listen("127.0.0.1", 0);
  onTestFinished(() => server.close(0));
  return port;
}

function session(port: number): http2.ClientHttp2Session {
  const opened = http2.connect(`http://127.0.0.1:${port}`);
  opened.on("error", () => undefined);
  onTestFinished(() => opened.destroy());
  return opened;
}

/** A request whose body is not ended. */
function open(port: number, type: string, path = "/x"): http2.ClientHttp2Stream {
  const stream = session(port).request(
    { ":method": "POST", ":path": path, "content-type": type },
    { endStream: false },
  );
  stream.on("error", () => undefined);
  return stream;
}

async function statusOf(stream: http2.ClientHttp2Stream): Promise<number | undefined> {
  const [headers] = (await once(stream, "response")) as [http2.IncomingHttpStatusHeader];
  return headers[":status"];
}

const never: EdgeHandler = () => true;

test("a connection that sends only the preface of HTTP/2 is ended, and one that sends SETTINGS is not", async () => {
  const port = await setup(never);
  const speaks = session(port);
  await once(speaks, "connect");
  const silent: Socket = connect(port, "127.0.0.1", () => void silent.write(PREFACE));
  silent.on("error", () => undefined);
  onTestFinished(() => void silent.destroy());
  await once(silent.resume(), "close");
  expect(speaks.closed).toBe(false);
});

test("a request over HTTP/2 whose body does not come is answered 408 and its stream closed, in the caller's protocol", async () => {
  const port = await setup(never);
  const plain = open(port, "application/json");
  expect(await statusOf(plain)).toBe(408);
  await once(plain.resume(), "close");

  const grpc = open(port, "application/grpc");
  const trailers = once(grpc.resume(), "trailers") as Promise<[http2.IncomingHttpHeaders]>;
  expect((await trailers)[0]).toMatchObject({
    "grpc-status": "4",
    "grpc-message": expect.stringContaining("arrive"),
    "grpc-status-details-bin": expect.any(String),
  });
  await once(grpc, "close");
});

test("a body that comes byte by byte is refused like one that does not come", async () => {
  const port = await setup((request) => {
    request.resume();
    return true;
  });
  const stream = open(port, "application/json");
  const drip = (): void => {
    if (!stream.destroyed) stream.write("x", drip);
  };
  drip();
  expect(await statusOf(stream)).toBe(408);
});

test("a request that has arrived may be answered later, and one that is answered early stays open", async () => {
  const answers = new Map<string, () => void>();
  const port = await setup((request, response) => {
    const path = request.url ?? "";
    if (path === "/x") return true;
    if (path === "/early") response.writeHead(200).write("first ");
    else request.resume();
    answers.set(path, () => void response.end("last"));
    return true;
  });
  const late = open(port, "application/json", "/late");
  late.end("{}");
  const early = open(port, "application/grpc", "/early");
  await once(early, "response");
  // A later request has been refused by now, so the time of the earlier ones is over too.
  expect(await statusOf(open(port, "application/json"))).toBe(408);
  for (const answer of answers.values()) answer();
  expect(await Promise.all([text(late), text(early)])).toEqual(["last", "first last"]);
});
