// `http`: one outbound request through the egress guard. The receiver gets the effect key as Idempotency-Key, the same for every attempt,
// so it can recognise a repeat. A request that is not GET or HEAD uses the effect ledger, so a later attempt gets the response that an
// earlier one recorded. The status 429 is rate_limit, 5xx is provider_error, and any other 4xx fails permanently. A retry waits as long as
// the server asks for with Retry-After.

import { LIMITS } from "@pawl/core/data/limits";
import { NODE_CONFIGS } from "@pawl/core/definition/node-types";
import { Failed } from "@pawl/core/handler/failure";
import { z } from "zod";
import {
  egressFetch,
  type Egress,
  type EgressFailure,
  type EgressResponse,
} from "../egress/fetch.ts";
import { checkHeaders } from "@pawl/platform/egress/headers";
import { retryAfterMs } from "../egress/retry-after.ts";
import { defineHandler, failedForGood, type Handler } from "./handler.ts";

const DETAIL_LENGTH_MAX = 4_096;
const RETRYABLE_4XX: ReadonlySet<number> = new Set([408, 425]);

/** The author's schema after rendering: texts may have become numbers, and the guard checks the URL and the headers. */
const configSchema = NODE_CONFIGS.http.extend({
  url: z.string(),
  headers: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]).transform(String))
    .optional(),
});
type Config = z.output<typeof configSchema>;

/** Makes the handler with its egress. */
export const httpHandler = (egress: Egress): Handler =>
  defineHandler({
    type: "http",
    config: configSchema,
    run: async (_input, { config, ...ctx }) => {
      const checked = checkHeaders(headersOf(config, ctx.effectKey));
      if (!checked.ok) throw failedForGood(checked.cause, checked.message);
      const body = bodyText(config);
      if (body !== undefined && Buffer.byteLength(body) > LIMITS.httpRequestBytes) {
        throw failedForGood("request_too_large", "the request body is too large");
      }
      const timeoutMs = Math.min(config.timeout_ms ?? LIMITS.httpTimeoutMs, ctx.timeoutMs);
      const ask = async () => {
        const answer = await egressFetch(egress, {
          method: config.method,
          url: withQuery(config),
          headers: checked.headers,
          signal: AbortSignal.any([ctx.signal, AbortSignal.timeout(timeoutMs)]),
          idleMs: timeoutMs,
          ...(body === undefined ? {} : { body }),
        });
        if (!answer.ok) throw failureOf(answer, timeoutMs);
        return outputOf(answer);
      };
      const effectClass = config.effect ?? (isReading(config) ? "none" : "idempotent");
      if (effectClass === "none") return await ask();
      const check = `the receiver, under the idempotency key ${ctx.effectKey}`;
      return await ctx.once("http", effectClass, ask, { check });
    },
  });

const isReading = ({ method }: Config): boolean => method === "GET" || method === "HEAD";

function headersOf(config: Config, effectKey: string): Record<string, string> {
  const key = (config.idempotency_key_header ?? "idempotency-key").toLowerCase();
  const given = config.headers ?? {};
  const names = new Set(Object.keys(given).map((name) => name.toLowerCase()));
  const headers: Record<string, string> = { ...given };
  const add = (name: string, value: string): void => {
    if (!names.has(name)) headers[name] = value;
  };
  add(key, effectKey);
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

/** Adds query parameters by the rules of URL. A URL that does not parse stays unchanged, and the guard refuses it. */
function withQuery(config: Config): string {
  const url = URL.parse(config.url);
  if (url === null || config.query === undefined) return config.url;
  for (const [name, value] of Object.entries(config.query)) {
    url.searchParams.append(name, String(value));
  }
  return url.href;
}

/** The output of a response. @throws Failed for a status of failure */
function outputOf(response: EgressResponse) {
  const { status, headers } = response;
  if (status < 400) return { status, headers, body: parsedBody(response) };
  const message = `the server answered ${status}`;
  const details = { status, body: response.body.toString("utf8", 0, DETAIL_LENGTH_MAX) };
  const facts = { details, retryAfterMs: retryAfterMs(headers, Date.now()) };
  if (status === 429) throw new Failed("rate_limit", message, facts);
  if (status >= 500 || RETRYABLE_4XX.has(status))
    throw new Failed("provider_error", message, facts);
  throw failedForGood("http_status", message, { details });
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

function failureOf(answer: EgressFailure, limitMs: number): Failed {
  const { cause, message, timeoutMs } = answer;
  if (cause === "timeout" && timeoutMs !== undefined)
    return new Failed(cause, message, { timeoutMs });
  if (cause === "timeout")
    return new Failed(cause, `no answer within ${limitMs} ms`, { timeoutMs: limitMs });
  return cause === "url_blocked" || cause === "response_too_large"
    ? failedForGood(cause, message)
    : new Failed(cause, message);
}
