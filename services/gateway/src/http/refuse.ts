// Answers a request with an error before a handler gets it, in the caller's protocol. A caller of gRPC gets a status in the trailers: Node
// sends empty trailers after a status in the headers, and grpc-js refuses that. A caller of gRPC-web gets it in the headers, a caller of
// Connect as JSON or as the end of a stream. Every other caller gets JSON with the same fields.

import type { ConnectError } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import {
  codeToHttpStatus,
  endStreamFlag,
  endStreamToJson,
  errorToJson,
} from "@connectrpc/connect/protocol-connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import type { EdgeRequest, EdgeResponse } from "../request/exchange.ts";

const GRPC = /^application\/grpc(\+\w+)?(;|$)/;
const GRPC_WEB = /^application\/grpc-web/;
const CONNECT_STREAM = /^application\/connect\+(json|proto)/;

/** Refuses the request. `httpStatus` is for callers that speak plain HTTP or Connect. By default it follows from the error's code. */
export function refuse(
  request: EdgeRequest,
  response: EdgeResponse,
  error: ConnectError,
  httpStatus: number = codeToHttpStatus(error.code),
): void {
  if (response.headersSent || response.destroyed) return;
  // Reads and drops the rest of the body, so that the connection stays usable.
  request.resume();
  const type = request.headers["content-type"] ?? "";
  if (GRPC.test(type)) {
    response.writeHead(200, { "content-type": type });
    response.addTrailers(Object.fromEntries(setTrailerStatus(new Headers(), error)));
    response.end();
    return;
  }
  if (GRPC_WEB.test(type)) {
    const status = setTrailerStatus(new Headers(), error);
    response.writeHead(200, { "content-type": type, ...Object.fromEntries(status) });
    response.end();
    return;
  }
  if (CONNECT_STREAM.test(type)) {
    const end = JSON.stringify(endStreamToJson(new Headers(), error, undefined));
    response.writeHead(200, { "content-type": type });
    response.end(encodeEnvelope(endStreamFlag, Buffer.from(end, "utf8")));
    return;
  }
  const body = JSON.stringify(errorToJson(error, undefined));
  response.writeHead(httpStatus, {
    "content-type": "application/json",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
  response.end(request.method === "HEAD" ? undefined : body);
}
