// Calls made of bytes that no client library would send, in each protocol's own framing, and the error in the answer.
import { once } from "node:events";
import { Agent, type IncomingMessage, request as httpRequest } from "node:http";
import http2 from "node:http2";
import { buffer } from "node:stream/consumers";
import { ConnectError } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { endStreamFromJson, errorFromJsonBytes } from "@connectrpc/connect/protocol-connect";
import { findTrailerError } from "@connectrpc/connect/protocol-grpc";
import { trailerParse } from "@connectrpc/connect/protocol-grpc-web";

/** How the bytes are framed and named. */
export type Framing =
  | "gRPC"
  | "gRPC-web"
  | "Connect"
  | "Connect JSON"
  | "Connect stream"
  | "Connect JSON stream";

const CONTENT_TYPES: Readonly<Record<Framing, string>> = {
  gRPC: "application/grpc+proto",
  "gRPC-web": "application/grpc-web+proto",
  Connect: "application/proto",
  "Connect JSON": "application/json",
  "Connect stream": "application/connect+proto",
  "Connect JSON stream": "application/connect+json",
};

/** A call of bytes. */
export type RawCall = {
  readonly framing: Framing;
  /** Such as pawl.v1.RunService/ListRuns. */
  readonly method: string;
  /** The whole body, envelopes included. */
  readonly body: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** Leave the body open: the answer must come without its end. */
  readonly unfinished?: boolean;
};

/** How it was answered. */
type RawAnswer = {
  readonly status: number;
  /** Undefined when the call went well. */
  readonly error: ConnectError | undefined;
};

/** Whether each message is in an envelope. */
export const isEnveloped = (framing: Framing): boolean =>
  framing !== "Connect" && framing !== "Connect JSON";

/** A message as `framing` wants it. */
export const framed = (framing: Framing, message: Uint8Array): Uint8Array =>
  isEnveloped(framing) ? encodeEnvelope(0, message) : message;

/** Sends the call to a gateway and reads the whole answer. */
export async function rawCall(url: string, call: RawCall): Promise<RawAnswer> {
  return call.framing === "gRPC" ? await overHttp2(url, call) : await overHttp1(url, call);
}

async function overHttp2(url: string, call: RawCall): Promise<RawAnswer> {
  const session = http2.connect(url);
  try {
    const stream = session.request({
      ":method": "POST",
      ":path": `/${call.method}`,
      "content-type": CONTENT_TYPES.gRPC,
      te: "trailers",
      ...call.headers,
    });
    // A server that answers before the body is over may reset the rest of it.
    stream.on("error", () => undefined);
    let headers: http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader = {};
    let trailers: http2.IncomingHttpHeaders = {};
    stream.on("response", (received) => void (headers = received));
    stream.on("trailers", (received) => void (trailers = received));
    stream.write(call.body);
    if (call.unfinished !== true) stream.end();
    const ended = once(stream, "end");
    stream.resume();
    await ended;
    const last = trailers["grpc-status"] === undefined ? headers : trailers;
    return { status: Number(headers[":status"]), error: findTrailerError(headersOf(last)) };
  } finally {
    session.destroy();
  }
}

async function overHttp1(url: string, call: RawCall): Promise<RawAnswer> {
  // As clients do; one that asks for the connection to be closed may lose an answer that comes before its body is over.
  const agent = new Agent({ keepAlive: true });
  const request = httpRequest(`${url}/${call.method}`, {
    method: "POST",
    agent,
    headers: { "content-type": CONTENT_TYPES[call.framing], ...call.headers },
  });
  // As above.
  request.on("error", () => undefined);
  const answered = once(request, "response");
  request.write(call.body);
  if (call.unfinished !== true) request.end();
  // Node's `response` event carries exactly this.
  const [response] = (await answered) as [IncomingMessage];
  const body = await buffer(response);
  agent.destroy();
  const status = response.statusCode ?? 0;
  return { status, error: errorIn(call.framing, status, response, body) };
}

function errorIn(
  framing: Framing,
  status: number,
  response: IncomingMessage,
  body: Buffer,
): ConnectError | undefined {
  if (framing === "gRPC-web") {
    const inHeaders = findTrailerError(headersOf(response.headers));
    const trailers = endOf(body, 0x80);
    return inHeaders ?? (trailers && findTrailerError(trailerParse(trailers)));
  }
  if (isEnveloped(framing)) {
    const end = endOf(body, 0x02);
    return end === undefined ? undefined : endStreamFromJson(end).error;
  }
  if (status === 200) return undefined;
  return errorFromJsonBytes(body, undefined, new ConnectError(`not an error: ${String(body)}`));
}

/** The message of the envelope that carries `flag`. */
function endOf(body: Buffer, flag: number): Uint8Array | undefined {
  for (let at = 0; at + 5 <= body.length; at += 5 + body.readUInt32BE(at + 1)) {
    const from = at + 5;
    if (((body[at] ?? 0) & flag) !== 0)
      return body.subarray(from, from + body.readUInt32BE(at + 1));
  }
  return undefined;
}

const headersOf = (plain: http2.IncomingHttpHeaders): Headers =>
  new Headers(
    Object.entries(plain).flatMap(([name, value]) =>
      name.startsWith(":") || value === undefined ? [] : [[name, String(value)]],
    ),
  );
