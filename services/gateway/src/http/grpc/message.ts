// gRPC's frame of a message: one byte of flags, four bytes of length, then the message.

import { type DescMessage, fromBinary, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { LIMITS } from "@pawl/core/data/limits";
import type { EdgeRequest } from "../../request/exchange.ts";

const PREFIX = 5;
const COMPRESSED = 1;

/** A message in its frame. */
export function toFrame<Schema extends DescMessage>(
  schema: Schema,
  message: MessageShape<Schema>,
): Buffer {
  const bytes = toBinary(schema, message);
  const frame = Buffer.allocUnsafe(PREFIX + bytes.length);
  frame[0] = 0;
  frame.writeUInt32BE(bytes.length, 1);
  frame.set(bytes, PREFIX);
  return frame;
}

/**
 * Reads the one message of a request. It checks the size before it keeps the bytes. Rejects with gRPC's error for a body that is not one
 * message.
 */
export function readMessage<Schema extends DescMessage>(
  request: EdgeRequest,
  schema: Schema,
): Promise<MessageShape<Schema>> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let held = 0;
    request.on("data", (chunk: Buffer) => {
      const isPrefixNew = held < PREFIX && held + chunk.length >= PREFIX;
      held += chunk.length;
      chunks.push(chunk);
      // Refuse a length above the limit at once, because the rest of the body may never arrive.
      const promised = isPrefixNew ? Buffer.concat(chunks).readUInt32BE(1) : 0;
      if (promised <= LIMITS.messageBytes && held <= PREFIX + LIMITS.messageBytes) return;
      chunks.length = 0;
      reject(tooLarge());
    });
    request.once("end", () => {
      const [first = Buffer.alloc(0)] = chunks;
      const body = chunks.length > 1 ? Buffer.concat(chunks) : first;
      try {
        resolve(parseFrame(body, schema));
      } catch (error) {
        reject(error);
      }
    });
    const onGone = (): void => reject(new ConnectError("the caller went away", Code.Canceled));
    request.once("error", onGone);
    request.once("aborted", onGone);
  });
}

/** The messages of a request stream, in order. @throws ConnectError for a frame that is too large, incomplete or no message */
export async function* readMessages<Schema extends DescMessage>(
  request: EdgeRequest,
  schema: Schema,
): AsyncGenerator<MessageShape<Schema>, void, undefined> {
  let chunks: Buffer[] = [];
  let held = 0;
  // The bytes from the beginning of `chunks` to the end of the next frame, if they are known.
  let needed = PREFIX;
  // The answer may end before the request does, and is written to the same stream.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk as Buffer);
    held += (chunk as Buffer).length;
    while (held >= needed) {
      const [first = Buffer.alloc(0)] = chunks;
      const body = chunks.length > 1 ? Buffer.concat(chunks, held) : first;
      chunks = [body];
      const end = PREFIX + body.readUInt32BE(1);
      if (end > PREFIX + LIMITS.messageBytes) throw tooLarge();
      needed = end;
      if (held < end) break;
      yield parseFrame(body.subarray(0, end), schema);
      chunks = held > end ? [body.subarray(end)] : [];
      held -= end;
      needed = PREFIX;
    }
  }
  if (held > 0) throw new ConnectError("protocol error: incomplete envelope", Code.InvalidArgument);
}

/** @throws ConnectError */
function parseFrame<Schema extends DescMessage>(
  body: Buffer,
  schema: Schema,
): MessageShape<Schema> {
  if (body.length === 0) {
    throw new ConnectError("protocol error: missing input message", Code.Unimplemented);
  }
  if (body.length < PREFIX) {
    throw new ConnectError("protocol error: incomplete envelope", Code.InvalidArgument);
  }
  const end = PREFIX + body.readUInt32BE(1);
  if (((body[0] ?? 0) & COMPRESSED) !== 0) {
    throw new ConnectError(
      "received compressed envelope, but do not know how to decompress",
      Code.Internal,
    );
  }
  if (end > body.length) {
    const got = `promised ${end - PREFIX} bytes, received ${body.length - PREFIX}`;
    throw new ConnectError(`protocol error: ${got}`, Code.InvalidArgument);
  }
  if (end < body.length) {
    throw new ConnectError("protocol error: received extra input message", Code.Unimplemented);
  }
  const bytes = new Uint8Array(body.buffer, body.byteOffset + PREFIX, end - PREFIX);
  try {
    // The parser would keep any number of unknown fields, and the gateway reads none of them.
    return fromBinary(schema, bytes, { readUnknownFields: false });
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    throw new ConnectError(`parse binary: ${what}`, Code.Internal);
  }
}

const tooLarge = (): ConnectError =>
  new ConnectError(
    `message is larger than the ${LIMITS.messageBytes} bytes that are read`,
    Code.ResourceExhausted,
  );
