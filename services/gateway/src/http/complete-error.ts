// Errors that connect-node makes by itself, before any handler of ours runs, have a code and a text but no details. This gives them
// the ErrorInfo that every error of ours has, in gRPC's trailers and in Connect's JSON.

import { ConnectError } from "@connectrpc/connect";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { errorFromJsonBytes, errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import { findTrailerError, setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { create } from "@bufbuild/protobuf";
import { ErrorInfoSchema } from "@pawl/proto/google/rpc/error_details_pb";
import { fromConnectError } from "@pawl/platform/rpc/status";
import { ERROR_DOMAIN } from "@pawl/platform/rpc/error-details";

/** The same response, its error completed if it has one without details. */
export async function completeError(
  response: UniversalServerResponse,
): Promise<UniversalServerResponse> {
  const { trailer, body } = response;
  if (trailer !== undefined && body !== undefined) {
    return { ...response, body: completeTrailer(body, trailer) };
  }
  if (response.status < 400 || body === undefined) return response;
  if (response.header?.get("content-type") !== "application/json") return response;
  const bytes = await collect(body);
  const error = errorFromJsonBytes(bytes, undefined, new ConnectError("not an error of Connect"));
  const completed = error.details.length > 0 ? bytes : errorToJsonBytes(complete(error), undefined);
  response.header.set("content-length", String(completed.byteLength));
  return { ...response, body: once(completed) };
}

/** Trailers are only known, and only sent, when the body is over. */
async function* completeTrailer(
  body: AsyncIterable<Uint8Array>,
  trailer: Headers,
): AsyncGenerator<Uint8Array> {
  yield* body;
  const error = findTrailerError(trailer);
  if (error !== undefined && error.details.length === 0) setTrailerStatus(trailer, complete(error));
}

/** The code is the framework's: it is part of its protocol, and clients know it. */
function complete(error: ConnectError): ConnectError {
  const { reason } = fromConnectError(error);
  const info = create(ErrorInfoSchema, {
    reason,
    domain: ERROR_DOMAIN,
    metadata: { wire_error: "true" },
  });
  return new ConnectError(error.rawMessage, error.code, undefined, [
    { desc: ErrorInfoSchema, value: info },
  ]);
}

async function collect(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
