// JSON at the door: everything that would hurt later is refused here, before anything is parsed or stored (J rows of the
// bad-input catalogue). JSON.parse takes any depth, drops duplicate keys, rounds large integers and passes lone surrogates
// and NUL, which the log, the digest and Postgres then choke on.

import type { JsonFault, JsonLimits } from "./json-fault.ts";
import { LIMITS } from "./limits.ts";
import { scanJson } from "./scan-json.ts";
import { exceedsUtf8 } from "./utf8.ts";

export type { JsonFault, JsonLimits } from "./json-fault.ts";

/** Limits of a value in the log: run input, node output, details. */
export const VALUE_LIMITS: JsonLimits = {
  bytes: LIMITS.valueBytes,
  depth: LIMITS.jsonDepth,
  keys: LIMITS.jsonKeys,
  keyBytes: LIMITS.jsonKeyBytes,
};

export type CheckedJson =
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false;
      readonly reason: JsonFault;
      readonly message: string;
      /** Which character, from 0, where it is one. */
      readonly offset?: number;
    };

/** Checks and parses `text`. Never throws, whatever the text. */
export function checkJson(text: string, limits: JsonLimits = VALUE_LIMITS): CheckedJson {
  if (exceedsUtf8(text, limits.bytes))
    return { ok: false, reason: "TOO_LARGE", message: `at most ${limits.bytes} bytes` };
  const fault = scanJson(text, limits);
  if (fault !== undefined) return { ok: false, ...fault };
  try {
    // The scanner and JSON.parse agree on the grammar (a property test holds them together); depth is bounded by now.
    return { ok: true, value: JSON.parse(text) };
  } catch {
    return { ok: false, reason: "JSON_SYNTAX", message: "not JSON" };
  }
}
