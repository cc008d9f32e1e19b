// A value as JSON text that the log accepts. The log refuses text that is too large, too deep, or holds a number that a double rounds. An
// integer that only a double can hold is written with an exponent, which promises no more than a double.

import { faultOf, STORED_LIMITS, VALUE_LIMITS } from "./json.ts";
import { LIMITS } from "./limits.ts";

type Encoded =
  | { readonly ok: true; readonly text: string }
  | {
      readonly ok: false;
      readonly cause: "output_too_large" | "output_invalid";
      readonly message: string;
    };

/** Encodes `value`. `what` names it in the message of a refusal. A value that is stored outside of the log may have more bytes. */
export function encodeJson(
  value: unknown,
  what: string,
  bytes: number = LIMITS.valueBytes,
): Encoded {
  const limits = bytes > LIMITS.valueBytes ? { ...STORED_LIMITS, bytes } : VALUE_LIMITS;
  let text = stringified(value);
  if (text === undefined) {
    const message = `the ${what} cannot be stored: JSON_TOO_DEEP: it is nested deeper than ${LIMITS.jsonDepth} levels`;
    return { ok: false, cause: "output_invalid", message };
  }
  let fault = faultOf(text, limits);
  if (fault?.reason === "NUMBER_PRECISION") {
    text = JSON.stringify(value, asDouble);
    fault = faultOf(text, limits);
  }
  if (fault === undefined) return { ok: true, text };
  const cause = fault.reason === "TOO_LARGE" ? "output_too_large" : "output_invalid";
  return {
    ok: false,
    cause,
    message: `the ${what} cannot be stored: ${fault.reason}: ${fault.message}`,
  };
}

/** JSON text. Undefined for a value that is nested too deeply to be written, such as a reply of an http node. */
function stringified(value: unknown): string | undefined {
  try {
    return JSON.stringify(value) ?? "null";
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

declare global {
  interface JSON {
    /** Raw JSON text. Node has it since 22. The compiler's library does not know it yet. */
    rawJSON(text: string): unknown;
  }
}

const asDouble = (_key: string, value: unknown): unknown =>
  typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value)
    ? JSON.rawJSON(value.toExponential())
    : value;
