// Completes the errors of connect-node. It makes some errors before a handler of ours runs, and they have a code and a text but no details.
// This file adds the ErrorInfo that every error of ours has: in gRPC's trailers, in the last envelope of gRPC-web, and in Connect's JSON.

import { Code, ConnectError } from "@connectrpc/connect";
import { encodeEnvelope, type UniversalServerResponse } from "@connectrpc/connect/protocol";
import {
  codeToHttpStatus,
  errorFromJsonBytes,
  errorToJsonBytes,
} from "@connectrpc/connect/protocol-connect";
import { findTrailerError, setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { trailerFlag, trailerParse, trailerSerialize } from "@connectrpc/connect/protocol-grpc-web";
import { create } from "@bufbuild/protobuf";
import { ErrorInfoSchema } from "@pawl/proto/google/rpc/error_details_pb";
import { clipMessage } from "@pawl/platform/rpc/clip";
import { fromConnectError } from "@pawl/platform/rpc/status";
import { ERROR_DOMAIN } from "@pawl/platform/rpc/error-details";

const GRPC_WEB = "application/grpc-web";
/** The flags and the length in front of a message. */
const ENVELOPE_HEADER_BYTES = 5;

/** The same response. An error without details gets them. */
export async function completeError(
  response: UniversalServerResponse,
): Promise<UniversalServerResponse> {
  const { trailer, body, header } = response;
  if (body === undefined) return response;
  if (trailer !== undefined) return { ...response, body: completeTrailer(body, trailer) };
  const type = header?.get("content-type") ?? "";
  if (type.startsWith(GRPC_WEB)) return { ...response, body: completeLastEnvelope(body) };
  if (response.status < 400 || type !== "application/json") return response;
  const bytes = await collect(body);
  const error = errorFromJsonBytes(bytes, undefined, new ConnectError("not an error of Connect"));
  if (error.details.length > 0) return { ...response, body: once(bytes) };
  const completed = withErrorInfo(error);
  const json = errorToJsonBytes(completed, undefined);
  header?.set("content-length", String(json.byteLength));
  return { ...response, status: codeToHttpStatus(completed.code), body: once(json) };
}

/** Trailers are known and sent only after the body. */
async function* completeTrailer(
  body: AsyncIterable<Uint8Array>,
  trailer: Headers,
): AsyncGenerator<Uint8Array> {
  yield* body;
  completeStatus(trailer);
}

/** gRPC-web sends its trailers as the last envelope of the body. `body` yields one envelope at a time. */
async function* completeLastEnvelope(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const envelope of body) {
    if (envelope[0] === trailerFlag) {
      const trailer = trailerParse(envelope.subarray(ENVELOPE_HEADER_BYTES));
      completeStatus(trailer);
      yield encodeEnvelope(trailerFlag, trailerSerialize(trailer));
    } else yield envelope;
  }
}

function completeStatus(trailer: Headers): void {
  const error = findTrailerError(trailer);
  if (error !== undefined && error.details.length === 0)
    setTrailerStatus(trailer, withErrorInfo(error));
}

/**
 * An error of the protocol with its reason. It keeps its code. Exception: a request that does not parse gets the code for a fault of the
 * caller.
 */
export function withErrorInfo(error: ConnectError): ConnectError {
  const { reason } = fromConnectError(error);
  const code = reason === "INPUT_INVALID" ? Code.InvalidArgument : error.code;
  const info = create(ErrorInfoSchema, {
    reason,
    domain: ERROR_DOMAIN,
    metadata: { wire_error: "true" },
  });
  return new ConnectError(clipMessage(error.rawMessage), code, undefined, [
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
