// Checks JSON texts of users before they are parsed or stored. JSON.parse accepts any depth, drops duplicate keys, rounds large integers
// and passes lone surrogates and NUL. The log, the digest and PostgreSQL would then fail on them.

import { refused, type Refused } from "../fault/refused.ts";
import { LIMITS } from "./limits.ts";
import { scanJson, type JsonFault, type JsonLimits } from "./scan-json.ts";
import { exceedsUtf8 } from "./utf8.ts";

/** Limits of a value in the log: run input, node output, details. */
export const VALUE_LIMITS: JsonLimits = {
  bytes: LIMITS.valueBytes,
  depth: LIMITS.jsonDepth,
  keys: LIMITS.jsonKeys,
  keyBytes: LIMITS.jsonKeyBytes,
};

/** The same for a value of the log in which stored values are references. */
export const REFERRING_LIMITS: JsonLimits = { ...VALUE_LIMITS, references: true };

/** Limits of a value that may be stored outside of the log. */
export const STORED_LIMITS: JsonLimits = {
  ...VALUE_LIMITS,
  bytes: LIMITS.storedBytes,
  keys: LIMITS.storedKeys,
};

type CheckedJson =
  | { readonly ok: true; readonly value: unknown }
  /** `offset` is the position of the fault in characters, from 0, if it has one. */
  | (Refused<JsonFault> & { readonly offset?: number });

/** The reason why the log refuses `text`, or undefined. It does not parse the text. */
export function faultOf(
  text: string,
  limits: JsonLimits = VALUE_LIMITS,
): Extract<CheckedJson, { ok: false }> | undefined {
  if (exceedsUtf8(text, limits.bytes)) return refused("TOO_LARGE", `at most ${limits.bytes} bytes`);
  const fault = scanJson(text, limits);
  return fault && { ...refused(fault.reason, fault.message), offset: fault.offset };
}

/** Checks and parses `text`. Never throws, for any text. */
export function checkJson(text: string, limits: JsonLimits = VALUE_LIMITS): CheckedJson {
  const fault = faultOf(text, limits);
  if (fault !== undefined) return fault;
  try {
    // The scanner and JSON.parse accept the same grammar (a property test compares them), and the depth is bounded by now.
    return { ok: true, value: JSON.parse(text) };
  } catch {
    return refused("JSON_SYNTAX", "not JSON");
  }
}
