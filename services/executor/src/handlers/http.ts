// `http`: one outbound request through the egress guard. The receiver gets the effect key as Idempotency-Key, the same for every
// attempt, so it can recognise a repeat. A request that is not GET or HEAD goes through the effect ledger, so a later attempt gets the
// response that an earlier one recorded. 429 is rate_limit, 5xx is provider_error, and any other 4xx fails for good. A retry waits as
// long as the server asks for with Retry-After.

import { LIMITS } from "@pawl/core/data/limits";
import { NODE_CONFIGS, type NodeConfig } from "@pawl/core/definition/node-types";
import { z } from "zod";
import {
  egressFetch,
  type Egress,
  type EgressFailure,
  type EgressResponse,
} from "../egress/fetch.ts";
import { checkHeaders } from "../egress/headers.ts";
import { retryAfterMs } from "../egress/retry-after.ts";
import { once } from "./effects.ts";
import {
  defineHandler,
  failure,
  failureUntil,
  permanentFailure,
  timeoutFailure,
  type Handler,
  type HandlerContext,
  type HandlerResult,
} from "./handler.ts";

const DETAIL_LENGTH_MAX = 4_096;
const RETRYABLE_4XX: ReadonlySet<number> = new Set([408, 425]);

/** The author's schema after rendering: texts may have become numbers, and the guard checks the URL and the headers. */
const configSchema = NODE_CONFIGS.http.extend({
  url: z.string(),
  headers: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]).transform(String))
    .optional(),
});
type Config = Omit<NodeConfig<"http">, "headers"> & {
  readonly headers?: Record<string, string> | undefined;
};

/** Makes the handler with its egress. */
export const httpHandler = (egress: Egress): Handler =>
  defineHandler({
    type: "http",
    config: configSchema,
    execute: async (config, ctx) => {
      const checked = checkHeaders(headersOf(config, ctx));
      if (!checked.ok) return permanentFailure(checked.cause, checked.message);
      const body = bodyText(config);
      if (body !== undefined && Buffer.byteLength(body) > LIMITS.httpRequestBytes) {
        return permanentFailure("request_too_large", "the request body is too large");
      }
      const timeoutMs = Math.min(config.timeout_ms ?? LIMITS.httpTimeoutMs, ctx.timeoutMs);
      const ask = async (): Promise<HandlerResult> => {
        const answer = await egressFetch(egress, {
          method: config.method,
          url: withQuery(config),
          headers: checked.headers,
          signal: AbortSignal.any([ctx.signal, AbortSignal.timeout(timeoutMs)]),
          idleMs: timeoutMs,
          ...(body === undefined ? {} : { body }),
        });
        return answer.ok ? resultOf(answer) : failureOf(answer, timeoutMs);
      };
      const effectClass = config.effect ?? (isReading(config) ? "none" : "idempotent");
      if (effectClass === "none") return await ask();
      const check = `the receiver, under the idempotency key ${ctx.effectKey}`;
      return await once(ctx, { name: "http", class: effectClass, check }, ask);
    },
  });

const isReading = ({ method }: Config): boolean => method === "GET" || method === "HEAD";

function headersOf(config: Config, ctx: HandlerContext): Record<string, string> {
  const key = (config.idempotency_key_header ?? "idempotency-key").toLowerCase();
  const given = config.headers ?? {};
  const names = new Set(Object.keys(given).map((name) => name.toLowerCase()));
  const headers: Record<string, string> = { ...given };
  const add = (name: string, value: string): void => {
    if (!names.has(name)) headers[name] = value;
  };
  add(key, ctx.effectKey);
  add("accept-encoding", "gzip, deflate, br");
  add("user-agent", "pawl");
  if (config.body !== undefined && typeof config.body !== "string") {
    add("content-type", "application/json");
  }
  return headers;
}

function bodyText(config: Config): string | undefined {
  if (config.body === undefined || isReading(config)) return undefined;
  return typeof config.body === "string" ? config.body : JSON.stringify(config.body);
}

/** Adds query parameters by the rules of URL; a URL that does not parse stays as it is, and the guard refuses it. */
function withQuery(config: Config): string {
  const url = URL.parse(config.url);
  if (url === null || config.query === undefined) return config.url;
  for (const [name, value] of Object.entries(config.query)) {
    url.searchParams.append(name, String(value));
  }
  return url.href;
}

function resultOf(response: EgressResponse): HandlerResult {
  const { status } = response;
  const output = { status, headers: response.headers, body: parsedBody(response) };
  if (status < 400) return { output };
  const message = `the server answered ${status}`;
  const details = { status, body: response.body.toString("utf8", 0, DETAIL_LENGTH_MAX) };
  const waitMs = retryAfterMs(response.headers, Date.now());
  if (status === 429) return failureUntil(waitMs, failure("rate_limit", message, details));
  if (status >= 500 || RETRYABLE_4XX.has(status))
    return failureUntil(waitMs, failure("provider_error", message, details));
  return permanentFailure("http_status", message, details);
}

/** Parsed if the response claims to be JSON and is; text otherwise. */
function parsedBody(response: EgressResponse): unknown {
  const text = response.body.toString("utf8");
  if (!/\bjson\b/i.test(response.headers["content-type"] ?? "")) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function failureOf(answer: EgressFailure, limitMs: number): HandlerResult {
  const { cause, message, timeoutMs } = answer;
  if (cause === "timeout" && timeoutMs !== undefined) return timeoutFailure(timeoutMs, message);
  if (cause === "timeout") return timeoutFailure(limitMs, `no answer within ${limitMs} ms`);
  return cause === "url_blocked" || cause === "response_too_large"
    ? permanentFailure(cause, message)
    : failure(cause, message);
}
