// Request headers from users: refuses headers that could split a request, and headers that the transport sets itself.

import type { Cause } from "@pawl/core/fault/cause";

const namesOf = (text: string): ReadonlySet<string> => new Set(text.split(" "));

/** Header names that the transport sets. */
const RESERVED = namesOf(
  "host connection keep-alive content-length transfer-encoding upgrade te trailer expect " +
    "proxy-authorization proxy-connection",
);
/** The headers that are still sent after a redirect to another host. None of them can be a credential. */
const CARRIED = namesOf(
  "accept accept-encoding accept-language content-type idempotency-key user-agent",
);

const NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/;
const HEADERS_MAX = 64;
const VALUE_LENGTH_MAX = 8_192;

type HeadersVerdict =
  | { readonly ok: true; readonly headers: Readonly<Record<string, string>> }
  | {
      readonly ok: false;
      readonly cause: Extract<Cause, "header_injection" | "config_invalid">;
      readonly message: string;
    };

/** Lower-cases names and refuses headers that may not be sent. */
export function checkHeaders(headers: Readonly<Record<string, string>>): HeadersVerdict {
  const checked: Record<string, string> = {};
  const entries = Object.entries(headers);
  if (entries.length > HEADERS_MAX) return invalid(`more than ${HEADERS_MAX} headers`);
  for (const [name, value] of entries) {
    if (hasControl(name) || hasControl(value)) {
      const message = "a header holds a control character";
      return { ok: false, cause: "header_injection", message };
    }
    if (!NAME.test(name)) return invalid("a header name holds characters that are not allowed");
    const key = name.toLowerCase();
    if (RESERVED.has(key)) return invalid(`the header ${key} is set by the executor; remove it`);
    if (value.length > VALUE_LENGTH_MAX)
      return invalid(`the header ${key} is longer than ${VALUE_LENGTH_MAX} characters`);
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      return invalid(`the header ${key} holds characters that cannot be sent`);
    }
    checked[key] = value;
  }
  return { ok: true, headers: checked };
}

/** The headers that may follow a redirect to another origin. */
export const carriedHeaders = (
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => CARRIED.has(name)));

/** Any C0 control but tab, or DEL. */
const hasControl = (text: string): boolean =>
  text.split("").some((char) => (char < " " && char !== "\t") || char === "\x7f");

const invalid = (message: string): HeadersVerdict => ({
  ok: false,
  cause: "config_invalid",
  message,
});
