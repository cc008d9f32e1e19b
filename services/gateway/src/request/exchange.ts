// What a handler is given, over HTTP/1.1 and HTTP/2 alike: Node's compatibility API gives both the same shape.

import type { IncomingMessage, ServerResponse } from "node:http";
import { createContextKey } from "@connectrpc/connect";
import { invalidField } from "@pawl/core/fault/engine-error";

/** A request as Node's `http` has it; HTTP/2 requests come through the compatibility API. */
export type EdgeRequest = IncomingMessage;
/** A response as Node's `http` has it; HTTP/2 responses come through the compatibility API. */
export type EdgeResponse = ServerResponse;

/** Takes a request and says whether it will answer it. */
export type EdgeHandler = (request: EdgeRequest, response: EdgeResponse) => boolean;

/** Cuts the connection, or the stream of it, that a call came by; for callers that no longer read. */
export const abandonKey = createContextKey<() => void>(() => undefined);

/** True over HTTP/2, where `connection` and its kind are forbidden. */
export const isHttp2 = (request: EdgeRequest): boolean => request.httpVersionMajor >= 2;

/** The path without its query. */
export function pathOf(request: EdgeRequest): string {
  const url = request.url ?? "/";
  const query = url.indexOf("?");
  return query < 0 ? url : url.slice(0, query);
}

/** The parameters of the query. @throws INPUT_INVALID where they are not UTF-8 in percent encoding: a reader would replace what is not */
export function queryOf(request: EdgeRequest): URLSearchParams {
  const url = request.url ?? "/";
  const query = url.indexOf("?");
  const text = query < 0 ? "" : url.slice(query + 1);
  try {
    decodeURIComponent(text);
  } catch {
    throw invalidField("query", "BAD_UNICODE", "is not UTF-8 in percent encoding");
  }
  return new URLSearchParams(text);
}

/** host:port the caller named; empty when it named none. */
export function authorityOf(request: EdgeRequest): string {
  const authority = request.headers[":authority"];
  return typeof authority === "string" ? authority : (request.headers.host ?? "");
}
