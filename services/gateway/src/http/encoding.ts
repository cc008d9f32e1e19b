// Compressed requests: the gateway accepts gzip and unpacks at most the size of one message. It never compresses answers, because that
// takes more time than a near network saves. Measured: streams of 2 KiB fell to a tenth.

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
      if ((error as NodeJS.ErrnoException).code !== "ERR_BUFFER_TOO_LARGE")
        throw new ConnectError("the message is not gzip, or is cut short", Code.InvalidArgument);
      const message = `the message unpacks to more than the ${readMaxBytes} bytes that are read`;
      throw new ConnectError(message, Code.ResourceExhausted);
    }
  },
};

const SUPPORTED = ["identity", GZIP.name];

/** For each protocol: the header that names the encoding of a request, and the header that names the supported ones. */
const HEADERS = [
  ["content-encoding", "accept-encoding"],
  ["grpc-encoding", "grpc-accept-encoding"],
  ["connect-content-encoding", "connect-accept-encoding"],
] as const;

/** The error for a request that the gateway cannot unpack, with the header that names the supported encoding. Undefined if it can. */
export function unknownEncoding({ headers }: EdgeRequest) {
  for (const [asked, accepted] of HEADERS) {
    const encoding = headers[asked];
    if (encoding === undefined || SUPPORTED.includes(String(encoding))) continue;
    const supported = SUPPORTED.join(", ");
    const message = `${asked}: ${JSON.stringify(encoding)} is not supported; use one of ${supported}.`;
    const metadata = { header: asked, supported };
    const error = new EngineError("UNSUPPORTED_ENCODING", message, { metadata });
    return { error, header: [accepted, GZIP.name] as const };
  }
  return undefined;
}

/** Stops the framework from compressing answers. */
export function wantPlainAnswers(header: Headers): void {
  for (const [, accepted] of HEADERS) header.set(accepted, "identity");
}
