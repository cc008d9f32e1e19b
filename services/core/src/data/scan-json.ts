// One pass over a JSON text without building values. It uses its own stack instead of recursion, so no depth can overflow. It returns the
// first fault and its position.

import { isReferenceAt, REFERENCE_KEY } from "./reference.ts";
import { utf8Bytes } from "./utf8.ts";

/** Every fault of a JSON text and its message. */
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
  NUMBER_RANGE: "a number is too large or too small for a double",
  RESERVED_KEY: "a key names a prototype, or is $pawl.value, which names a stored value",
} as const;
export type JsonFault = keyof typeof JSON_FAULTS;

export interface JsonLimits {
  readonly bytes: number;
  readonly depth: number;
  /** Keys of all objects together. */
  readonly keys: number;
  readonly keyBytes: number;
  /** Whether references to stored values are accepted. Without it their key is reserved. */
  readonly references?: boolean;
  /** Whether numbers are accepted that JavaScript would round. The text was written by PostgreSQL, and no code calculates with them. */
  readonly anyNumber?: boolean;
}

/** Ends the scan at the first fault. Only `scanJson` catches it. */
class ScanError extends Error {
  readonly reason: JsonFault;
  /** The position of the character, from 0. */
  readonly offset: number;

  constructor(reason: JsonFault, offset: number) {
    super(`${JSON_FAULTS[reason]} (at character ${offset})`);
    this.reason = reason;
    this.offset = offset;
  }
}

/** The first fault of `text`, or undefined for JSON within `limits`. */
export function scanJson(text: string, limits: JsonLimits): ScanError | undefined {
  try {
    scan(text, limits);
    return undefined;
  } catch (error) {
    if (error instanceof ScanError) return error;
    throw error;
  }
}

/** An open object or array. */
interface Frame {
  readonly close: "]" | "}";
  /** The keys of an object so far. */
  readonly keys: Set<string> | undefined;
  /** The key of this value, if its parent is an object. */
  readonly ownKey: string | undefined;
  /** The key whose value is being read. */
  key: string | undefined;
}

function scan(text: string, limits: JsonLimits): void {
  const stack: Frame[] = [];
  let keyCount = 0;
  let at = 0;
  let expect: "value" | "after value" | "key" = "value";
  // A container may close after a value, and directly after it opened.
  let mayClose = false;
  for (;;) {
    at = skipSpace(text, at);
    const char = text[at];
    const frame = stack.at(-1);
    if (mayClose && frame !== undefined && char === frame.close) {
      stack.pop();
      expect = "after value";
      at++;
      continue;
    }
    mayClose = false;
    if (expect === "after value") {
      if (frame === undefined && at >= text.length) return;
      if (frame === undefined || char !== ",") throw new ScanError("JSON_SYNTAX", at);
      expect = frame.keys === undefined ? "value" : "key";
      at++;
    } else if (expect === "key" && frame !== undefined) {
      const token = scanString(text, at, true);
      if (++keyCount > limits.keys) throw new ScanError("TOO_MANY_KEYS", at);
      checkKey(token.value, frame, limits, at);
      if (token.value === REFERENCE_KEY && !mayRefer(text, at, limits))
        throw new ScanError("RESERVED_KEY", at);
      frame.key = token.value;
      at = skipSpace(text, token.end);
      if (text[at] !== ":") throw new ScanError("JSON_SYNTAX", at);
      expect = "value";
      at++;
    } else if (char === "{" || char === "[") {
      if (stack.length >= limits.depth) throw new ScanError("JSON_TOO_DEEP", at);
      const kind = char === "{" ? OBJECT : ARRAY;
      const keys = char === "{" ? new Set<string>() : undefined;
      stack.push({ close: kind.close, keys, ownKey: frame?.key, key: undefined });
      expect = kind.expect;
      mayClose = true;
      at++;
    } else {
      at = scanScalar(text, at, limits);
      expect = "after value";
      mayClose = true;
    }
  }
}

const OBJECT = { close: "}", expect: "key" } as const;
const ARRAY = { close: "]", expect: "value" } as const;

function checkKey(key: string, frame: Frame, limits: JsonLimits, at: number): void {
  if (key.length > limits.keyBytes || utf8Bytes(key) > limits.keyBytes)
    throw new ScanError("KEY_TOO_LONG", at);
  // The two keys by which merged data has reached prototypes in other products.
  if (key === "__proto__" || (key === "prototype" && frame.ownKey === "constructor"))
    throw new ScanError("RESERVED_KEY", at);
  if (frame.keys?.has(key) === true) throw new ScanError("JSON_DUPLICATE_KEY", at);
  frame.keys?.add(key);
}

const mayRefer = (text: string, at: number, { references = false }: JsonLimits): boolean =>
  references && isReferenceAt(text, at - 1);

/** Skips a string, a number or a literal, and returns the position after it. */
function scanScalar(text: string, at: number, limits: JsonLimits): number {
  const char = text[at] ?? "";
  if (char === '"') return scanString(text, at).end;
  if (char === "-" || (char >= "0" && char <= "9")) return scanNumber(text, at, limits);
  const literal = ["true", "false", "null"].find((word) => text.startsWith(word, at));
  if (literal === undefined) throw new ScanError("JSON_SYNTAX", at);
  return at + literal.length;
}

const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** Reads the string that opens at `start`. `end` is the position after its closing quote. Only the value of a key is always decoded. */
function scanString(
  text: string,
  start: number,
  isKey = false,
): { readonly value: string; readonly end: number } {
  if (text[start] !== '"') throw new ScanError("JSON_SYNTAX", start);
  let mustDecode = false;
  let at = start + 1;
  for (let unit = text.charCodeAt(at); unit !== 0x22; unit = text.charCodeAt(at)) {
    if (unit === 0) throw new ScanError("NUL_CHARACTER", at);
    if (Number.isNaN(unit) || unit < 0x20) throw new ScanError("JSON_SYNTAX", at);
    if (unit === 0x5c) {
      ESCAPE.lastIndex = at;
      const [escape] = ESCAPE.exec(text) ?? [];
      if (escape === undefined) throw new ScanError("JSON_SYNTAX", at);
      if (escape === "\\u0000") throw new ScanError("NUL_CHARACTER", at);
      // A short escape in a value cannot hide a fault.
      mustDecode ||= isKey || escape.length > 2;
      at += escape.length;
    } else at++;
  }
  const inner = text.slice(start + 1, at);
  const value = mustDecode ? String(JSON.parse(`"${inner}"`)) : inner;
  if (!value.isWellFormed()) throw new ScanError("BAD_UNICODE", start);
  return { value, end: at + 1 };
}

const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;

function scanNumber(text: string, start: number, { anyNumber = false }: JsonLimits): number {
  NUMBER.lastIndex = start;
  const match = NUMBER.exec(text);
  if (match === null) throw new ScanError("JSON_SYNTAX", start);
  if (anyNumber) return start + match[0].length;
  const value = Number(match[0]);
  const isTooSmall = value === 0 && /^[^eE]*[1-9]/.test(match[0]);
  if (!Number.isFinite(value) || isTooSmall) throw new ScanError("NUMBER_RANGE", start);
  // Only an integer without fraction and exponent must be exact. Any other number is a double.
  const isInteger = match[1] === undefined && match[2] === undefined;
  if (isInteger && !Number.isSafeInteger(value)) throw new ScanError("NUMBER_PRECISION", start);
  return start + match[0].length;
}

const SPACE: ReadonlySet<string> = new Set([" ", "\t", "\n", "\r"]);

function skipSpace(text: string, from: number): number {
  let at = from;
  while (SPACE.has(text[at] ?? "")) at++;
  return at;
}
