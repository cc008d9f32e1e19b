// Tells browsers that an allowed origin may call us. Only origins named in the configuration ever get these headers; our own
// console needs none.

import { cors } from "@connectrpc/connect";
import type { EdgeRequest, EdgeResponse } from "../request/exchange.ts";
import { type GuardOptions, isForeignOrigin } from "./guard.ts";
import { JSON_FORM_HEADER } from "./json-form.ts";

const ALLOWED_HEADERS = [
  ...cors.allowedHeaders,
  "Last-Event-ID",
  "traceparent",
  JSON_FORM_HEADER,
].join(", ");
const EXPOSED_HEADERS = [...cors.exposedHeaders].join(", ");

/** Adds the headers an allowed foreign origin needs; true when the request was a preflight and is answered. */
export function answerCors(
  request: EdgeRequest,
  response: EdgeResponse,
  options: GuardOptions,
): boolean {
  const { origin } = request.headers;
  if (origin === undefined || !isForeignOrigin(request, options)) return false;
  response.setHeader("access-control-allow-origin", origin);
  response.setHeader("access-control-expose-headers", EXPOSED_HEADERS);
  response.setHeader("vary", "Origin");
  if (request.method !== "OPTIONS") return false;
  response.writeHead(204, {
    "access-control-allow-methods": "GET, POST",
    "access-control-allow-headers": ALLOWED_HEADERS,
    "access-control-max-age": "600",
  });
  response.end();
  return true;
}
