// When a server that is too busy may be asked again: `Retry-After` as seconds or as a date, and the milliseconds some model
// providers send beside it. A date is read against the server's own clock when it tells it, so that a skewed clock gains nothing.

import { LIMITS } from "@pawl/core/data/limits";

const SECONDS = /^\d{1,9}(\.\d{1,9})?$/;
/** The three forms of RFC 9110 have the name of a day and a time; anything else `Date.parse` would take is no HTTP date. */
const DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*\d\d:\d\d:\d\d/;
/** The C library's form, `Sun Nov  6 08:49:37 1994`, means GMT without saying so. */
const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/;

/** Milliseconds to wait, at most an hour; undefined when the headers ask for no wait that can be understood. */
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
