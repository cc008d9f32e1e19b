// How long to wait before the next request to a busy server: `Retry-After` in seconds or as a date, or the milliseconds that some model
// providers send. A date is compared with the server's own clock if the server sends it, so clock skew is harmless.

import { LIMITS } from "@pawl/core/data/limits";

const SECONDS = /^\d{1,9}(\.\d{1,9})?$/;
/** The three forms of RFC 9110 name a day and a time. `Date.parse` accepts other texts too, and those are not HTTP dates. */
const DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*\d\d:\d\d:\d\d/;
/** The C library's form, `Sun Nov  6 08:49:37 1994`, means GMT but does not name it. */
const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/;

/** Milliseconds to wait, at most an hour. Undefined if the headers name no wait. */
export function retryAfterMs(
  headers: Readonly<Record<string, string>>,
  nowMs: number,
): number | undefined {
  const asked = askedMs(headers, nowMs);
  if (asked === undefined || asked <= 0) return undefined;
  return Math.min(Math.ceil(asked), LIMITS.retryAfterMsMax);
}

function askedMs(headers: Readonly<Record<string, string>>, nowMs: number): number | undefined {
  const exact = headers["retry-after-ms"]?.trim() ?? "";
  if (SECONDS.test(exact)) return Number(exact);
  const text = headers["retry-after"]?.trim() ?? "";
  if (SECONDS.test(text)) return Number(text) * 1_000;
  const at = dateMs(text);
  return at === undefined ? undefined : at - (dateMs(headers["date"]?.trim() ?? "") ?? nowMs);
}

function dateMs(text: string): number | undefined {
  if (!DATE.test(text)) return undefined;
  const at = Date.parse(ASCTIME.test(text) ? `${text} GMT` : text);
  return Number.isNaN(at) ? undefined : at;
}
