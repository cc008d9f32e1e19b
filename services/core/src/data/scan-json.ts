// One pass over a JSON text without building values. It uses an explicit stack instead of recursion, so no depth can overflow. It
// returns the first fault and its position.

import { JSON_FAULTS, ScanError, type JsonFault, type JsonLimits } from "./json-fault.ts";
import { scanNumber, scanString } from "./scan-token.ts";
import { utf8Bytes } from "./utf8.ts";

export interface ScanFault {
  readonly reason: JsonFault;
  readonly message: string;
  /** Which character, from 0. */
  readonly offset: number;
}

interface Frame {
  /** Keys seen, for an object; undefined for an array. */
  readonly keys: Set<string> | undefined;
  /** The key of this value, if its parent is an object. */
  readonly ownKey: string | undefined;
  /** The key whose value is being read. */
  key: string | undefined;
}

const SPACE: ReadonlySet<string> = new Set([" ", "\t", "\n", "\r"]);
const LITERALS = ["true", "false", "null"] as const;

/** The first fault of `text`, or undefined for JSON within `limits`. */
export function scanJson(text: string, limits: JsonLimits): ScanFault | undefined {
  try {
    scan(text, limits);
    return undefined;
  } catch (error) {
    if (!(error instanceof ScanError)) throw error;
    return {
      reason: error.reason,
      message: `${JSON_FAULTS[error.reason]} (at character ${error.offset})`,
      offset: error.offset,
    };
  }
}

function scan(text: string, limits: JsonLimits): void {
  const stack: Frame[] = [];
  let keyCount = 0;
  let at = skipSpace(text, 0);
  // The state: before a value, after a value, or before a key.
  let expect: "value" | "after" | "key" = "value";
  let firstOfContainer = false;

  const open = (isObject: boolean): void => {
    if (stack.length >= limits.depth) throw new ScanError("JSON_TOO_DEEP", at);
    const ownKey = stack.at(-1)?.key;
    stack.push({ keys: isObject ? new Set() : undefined, ownKey, key: undefined });
    firstOfContainer = true;
    expect = isObject ? "key" : "value";
    at++;
  };
  const readKey = (frame: Frame): void => {
    const token = scanString(text, at);
    if (++keyCount > limits.keys) throw new ScanError("TOO_MANY_KEYS", at);
    checkKey(token.value, frame, limits, at);
    frame.key = token.value;
    at = skipSpace(text, token.end);
    if (text[at] !== ":") throw new ScanError("JSON_SYNTAX", at);
    at++;
    expect = "value";
  };

  for (;;) {
    at = skipSpace(text, at);
    const char = text[at];
    const frame = stack.at(-1);
    if (expect === "after") {
      if (frame === undefined) {
        if (at < text.length) throw new ScanError("JSON_SYNTAX", at);
        return;
      }
      if (char === ",") {
        expect = frame.keys === undefined ? "value" : "key";
        at++;
      } else if (char === (frame.keys === undefined ? "]" : "}")) {
        stack.pop();
        at++;
      } else throw new ScanError("JSON_SYNTAX", at);
      continue;
    }
    const closes =
      firstOfContainer && frame !== undefined && char === (frame.keys === undefined ? "]" : "}");
    firstOfContainer = false;
    if (closes) {
      stack.pop();
      at++;
      expect = "after";
    } else if (expect === "key") {
      if (frame === undefined) throw new ScanError("JSON_SYNTAX", at);
      readKey(frame);
    } else if (char === "{" || char === "[") open(char === "{");
    else {
      at = scanScalar(text, at);
      expect = "after";
    }
  }
}

function checkKey(key: string, frame: Frame, limits: JsonLimits, at: number): void {
  if (key.length > limits.keyBytes || utf8Bytes(key) > limits.keyBytes)
    throw new ScanError("KEY_TOO_LONG", at);
  // The two keys by which merged data has reached prototypes.
  if (key === "__proto__" || (key === "prototype" && frame.ownKey === "constructor"))
    throw new ScanError("RESERVED_KEY", at);
  if (frame.keys?.has(key) === true) throw new ScanError("JSON_DUPLICATE_KEY", at);
  frame.keys?.add(key);
}

function scanScalar(text: string, at: number): number {
  const char = text[at];
  if (char === '"') return scanString(text, at).end;
  if (char === "-" || (char !== undefined && char >= "0" && char <= "9"))
    return scanNumber(text, at);
  const literal = LITERALS.find((word) => text.startsWith(word, at));
  if (literal === undefined) throw new ScanError("JSON_SYNTAX", at);
  return at + literal.length;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (SPACE.has(text[at] ?? "")) at++;
  return at;
}
