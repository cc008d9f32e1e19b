// The faults of a JSON text, with their messages, and the limits of a JSON text.

/** Every fault and its message. */
export const JSON_FAULTS = {
  TOO_LARGE: "too large",
  JSON_SYNTAX: "not JSON",
  JSON_TOO_DEEP: "nested too deep",
  JSON_DUPLICATE_KEY: "a key occurs twice in one object",
  TOO_MANY_KEYS: "too many keys",
  KEY_TOO_LONG: "a key is too long",
  BAD_UNICODE: "half a surrogate pair",
  NUL_CHARACTER: "a NUL character cannot be stored",
  NUMBER_PRECISION: "an integer beyond 2^53 would be rounded; send it as a string",
  NUMBER_RANGE: "a number is too large for a double",
  RESERVED_KEY: "a key names a prototype",
} as const;
export type JsonFault = keyof typeof JSON_FAULTS;

export interface JsonLimits {
  readonly bytes: number;
  readonly depth: number;
  /** Keys of all objects together. */
  readonly keys: number;
  readonly keyBytes: number;
}

/** Leaves the scanner at the first fault; only `scanJson` catches it. */
export class ScanError extends Error {
  readonly reason: JsonFault;
  readonly offset: number;

  constructor(reason: JsonFault, offset: number) {
    super(reason);
    this.reason = reason;
    this.offset = offset;
  }
}
