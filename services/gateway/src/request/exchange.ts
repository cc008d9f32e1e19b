// Requests, responses and handlers, in one shape for HTTP/1.1 and HTTP/2: Node's compatibility API makes HTTP/2 look like HTTP/1.1.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { DescService } from "@bufbuild/protobuf";
import { type ConnectRouter, createContextKey, type ServiceImpl } from "@connectrpc/connect";
import { invalidField } from "@pawl/core/fault/engine-error";

export type EdgeRequest = IncomingMessage;
export type EdgeResponse = ServerResponse;

/** Returns whether it answers the request. */
export type EdgeHandler = (request: EdgeRequest, response: EdgeResponse) => boolean;

/** Answers with an error, while no headers are sent. `httpStatus` is for callers that speak plain HTTP or Connect. */
export type Refuse = (
  request: EdgeRequest,
  response: EdgeResponse,
  error: unknown,
  httpStatus?: number,
) => void;

/** A service and its methods. */
export interface Served {
  readonly service: DescService;
  readonly methods: Readonly<Record<string, unknown>>;
  readonly addTo: (router: ConnectRouter) => void;
}

/** Pairs a service with its implementation, which the compiler checks. */
export const served = <Service extends DescService>(
  service: Service,
  methods: ServiceImpl<Service>,
): Served => ({ service, methods, addTo: (router) => void router.service(service, methods) });

/** Closes the connection or the HTTP/2 stream of a call, for callers that no longer read. */
export const abandonKey = createContextKey<() => void>(() => undefined);

/** True over HTTP/2, which forbids `connection` and similar headers. */
export const isHttp2 = (request: EdgeRequest): boolean => request.httpVersionMajor >= 2;

/** The path without its query. */
export function pathOf(request: EdgeRequest): string {
  const url = request.url ?? "/";
  const query = url.indexOf("?");
  return query < 0 ? url : url.slice(0, query);
}

/** The parameters of the query. @throws INPUT_INVALID if they are not UTF-8 in percent encoding, because URLSearchParams would alter them */
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

/** The host:port that the caller named. Empty if it named none. */
export function authorityOf(request: EdgeRequest): string {
  const authority = request.headers[":authority"];
  return typeof authority === "string" ? authority : (request.headers.host ?? "");
}

/** Waits until the socket accepts more data, or is closed. */
export const drained = (response: EdgeResponse): Promise<void> =>
  new Promise((resolve) => {
    const settle = (): void => {
      response.off("drain", settle);
      response.off("close", settle);
      resolve();
    };
    response.on("drain", settle);
    response.on("close", settle);
    if (response.destroyed) settle();
  });
