// Compressed requests: gzip is taken, and unpacked no further than one message may be long. Answers are never compressed: that costs more
// than loopback and any near network save (streams of 2 KiB fell to a tenth, measured).

import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Compression } from "@connectrpc/connect/protocol";
import { EngineError } from "@pawl/core/fault/engine-error";
import type { EdgeRequest } from "../request/exchange.ts";

const unpack = promisify(gunzip);
const pack = promisify(gzip);

export const GZIP: Compression = {
  name: "gzip",
  compress: async (bytes) => new Uint8Array(await pack(bytes)),
  decompress: async (bytes, readMaxBytes) => {
    if (bytes.length === 0) return new Uint8Array(0);
    try {
      return new Uint8Array(await unpack(bytes, { maxOutputLength: readMaxBytes }));
    } catch (error) {
      const isTooLarge = (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE";
      throw isTooLarge
        ? new ConnectError(
            `the message unpacks to more than the ${readMaxBytes} bytes that are read`,
            Code.ResourceExhausted,
          )
        : new ConnectError("the message is not gzip, or is cut short", Code.InvalidArgument);
    }
  },
};

const SUPPORTED = ["identity", GZIP.name];

/** Where each protocol says how its request is packed, and where it is told what it may use. */
const HEADERS = [
  ["content-encoding", "accept-encoding"],
  ["grpc-encoding", "grpc-accept-encoding"],
  ["connect-content-encoding", "connect-accept-encoding"],
] as const;

/** What a caller is told of a request that nobody here can unpack. */
export interface UnknownEncoding {
  readonly error: EngineError;
  /** The header that names what may be used instead. */
  readonly header: readonly [name: string, value: string];
}

/** Undefined where the request can be read. */
export function unknownEncoding({ headers }: EdgeRequest): UnknownEncoding | undefined {
  for (const [asked, accepted] of HEADERS) {
    const encoding = headers[asked];
    if (encoding === undefined || SUPPORTED.includes(String(encoding))) continue;
    const supported = SUPPORTED.join(", ");
    const message = `${asked}: ${JSON.stringify(encoding)} is not supported; use one of ${supported}.`;
    const metadata = { header: asked, supported };
    const error = new EngineError("UNSUPPORTED_ENCODING", message, { metadata });
    return { error, header: [accepted, GZIP.name] };
  }
  return undefined;
}

/** Tells the framework that the caller takes answers as they are. */
export function wantPlainAnswers(header: Headers): void {
  for (const [, accepted] of HEADERS) header.set(accepted, "identity");
}
