// One stream of SubmitRuns on its own HTTP/2 connection, framed by hand. A message costs one write: the general client of connect-node
// takes five promises and three copies for it.
//
// States: open → closed. A stream closes once: with the error of the gateway, of the connection, or of a peer that is no gateway.

import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from "node:http2";
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { findTrailerError } from "@connectrpc/connect/protocol-grpc";
import {
  SubmitRunsRequestSchema,
  type SubmitRunsResponse,
  SubmitRunsResponseSchema,
} from "@pawl/proto/pawl/v1/run_service_pb";
import { PawlError, pawlErrorFrom } from "../errors.ts";

export interface SubmitListener {
  onMessage(message: SubmitRunsResponse): void;
  /** Called once, unless the client closes the stream itself. */
  onClose(error: PawlError): void;
}

export interface SubmitStream {
  write(message: MessageInitShape<typeof SubmitRunsRequestSchema>): void;
  /** Whether the stream keeps the process alive; at first it does. */
  hold(isHeld: boolean): void;
  close(): void;
}

export type OpenSubmitStream = (address: string, listener: SubmitListener) => SubmitStream;

const PATH = "/pawl.v1.RunService/SubmitRuns";
const PREFIX = 5;
/** The gateway's limit of a message, with room for readers of newer gateways. */
const MESSAGE_BYTES_MAX = 8 * 1024 * 1024;
/** Ends of 256 KiB do not wait for a window of 64 KiB. */
const WINDOW_BYTES = 1024 * 1024;

/** Opens a connection and a stream on it. */
export const openSubmitStream: OpenSubmitStream = (address, listener) => {
  let isClosed = false;
  let session: ClientHttp2Session | undefined;
  const close = (thrown?: unknown): void => {
    if (isClosed) return;
    isClosed = true;
    session?.destroy();
    if (thrown !== undefined) listener.onClose(pawlErrorFrom(thrown));
  };
  try {
    session = connect(address, {
      settings: { enablePush: false, initialWindowSize: WINDOW_BYTES },
    });
  } catch (thrown) {
    const error = new PawlError("INPUT_INVALID", `${address} is no address of a gateway`, {
      code: Code.InvalidArgument,
      cause: thrown,
    });
    queueMicrotask(() => close(error));
    return { write: () => undefined, hold: () => undefined, close: () => close() };
  }
  session.once("connect", (connected) => connected.setLocalWindowSize(4 * WINDOW_BYTES));
  session.on("error", (error) => close(unreachable(error.message, error)));
  session.on("close", () => close(unreachable("the connection was closed")));
  const stream = session.request({
    ":method": "POST",
    ":path": PATH,
    "content-type": "application/grpc+proto",
    te: "trailers",
    "pawl-json": "bytes",
  });
  stream.on("response", (headers) => {
    const { ":status": status } = headers;
    if (status === 200) return;
    const why = `the peer answered with HTTP status ${status}`;
    // gRPC reads this status of a proxy so.
    close(status === 404 ? new ConnectError(why, Code.Unimplemented) : unreachable(why));
  });
  stream.on("trailers", (trailers) => close(errorOf(trailers)));
  stream.on("error", (error) => close(unreachable(error.message, error)));
  stream.on("close", () => close(unreachable("the gateway closed the stream")));
  const take = frames((bytes) => {
    if (!isClosed) listener.onMessage(fromBinary(SubmitRunsResponseSchema, bytes));
  });
  stream.on("data", (chunk: Buffer) => {
    try {
      take(chunk);
    } catch (error) {
      close(error);
    }
  });
  return {
    write: (message) => {
      if (isClosed) return;
      stream.write(
        frameOf(toBinary(SubmitRunsRequestSchema, create(SubmitRunsRequestSchema, message))),
      );
    },
    hold: (isHeld) => {
      if (isClosed) return;
      if (isHeld) session.ref();
      else session.unref();
    },
    close: () => close(),
  };
};

function frameOf(bytes: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(PREFIX + bytes.length);
  frame[0] = 0;
  frame.writeUInt32BE(bytes.length, 1);
  frame.set(bytes, PREFIX);
  return frame;
}

/** Cuts chunks into messages. The result throws for a frame that is too large or compressed. */
function frames(onMessage: (bytes: Uint8Array) => void): (chunk: Buffer) => void {
  let chunks: Buffer[] = [];
  let held = 0;
  let needed = PREFIX;
  return (chunk) => {
    chunks.push(chunk);
    held += chunk.length;
    while (held >= needed) {
      const body = chunks.length > 1 ? Buffer.concat(chunks, held) : (chunks[0] ?? chunk);
      chunks = [body];
      const length = body.readUInt32BE(1);
      if (body[0] !== 0 || length > MESSAGE_BYTES_MAX)
        throw unreachable("the peer sent a message that this client cannot read");
      needed = PREFIX + length;
      if (held < needed) return;
      onMessage(body.subarray(PREFIX, needed));
      chunks = held > needed ? [body.subarray(needed)] : [];
      held -= needed;
      needed = PREFIX;
    }
  };
}

/** The error of a stream that ended. A stream of this kind never ends without an error. */
function errorOf(trailers: IncomingHttpHeaders): unknown {
  const headers = new Headers();
  for (const [name, value] of Object.entries(trailers))
    if (name.startsWith("grpc-")) headers.set(name, String(value));
  const error = findTrailerError(headers);
  if (error instanceof ConnectError) return error;
  return unreachable("the gateway ended the stream");
}

const unreachable = (message: string, cause?: unknown): PawlError =>
  new PawlError("UNREACHABLE", message, { code: Code.Unavailable, cause });
