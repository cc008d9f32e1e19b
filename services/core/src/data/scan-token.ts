// The two JSON tokens with hidden faults: strings (escapes, surrogates, NUL) and numbers (precision, range).

import { ScanError } from "./json-fault.ts";

const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
const HEX = /^[0-9a-fA-F]{4}$/;
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

/** Reads the string that opens at `start`; `end` is the position after its closing quote. */
export function scanString(
  text: string,
  start: number,
): { readonly value: string; readonly end: number } {
  if (text[start] !== '"') throw new ScanError("JSON_SYNTAX", start);
  let value = "";
  let from = start + 1;
  let at = from;
  for (;;) {
    const unit = text.charCodeAt(at);
    if (unit === 0x22) break;
    if (unit === 0) throw new ScanError("NUL_CHARACTER", at);
    if (Number.isNaN(unit) || unit < 0x20) throw new ScanError("JSON_SYNTAX", at);
    if (unit !== 0x5c) {
      at++;
      continue;
    }
    value += text.slice(from, at);
    const escape = text[at + 1] ?? "";
    if (escape === "u") {
      const hex = text.slice(at + 2, at + 6);
      if (!HEX.test(hex)) throw new ScanError("JSON_SYNTAX", at);
      if (hex === "0000") throw new ScanError("NUL_CHARACTER", at);
      value += String.fromCharCode(Number.parseInt(hex, 16));
      at += 6;
    } else {
      const plain = Object.hasOwn(ESCAPES, escape) ? ESCAPES[escape] : undefined;
      if (plain === undefined) throw new ScanError("JSON_SYNTAX", at);
      value += plain;
      at += 2;
    }
    from = at;
  }
  value += text.slice(from, at);
  if (!value.isWellFormed()) throw new ScanError("BAD_UNICODE", start);
  return { value, end: at + 1 };
}

/** Skips the number at `start` and returns the position after it. */
export function scanNumber(text: string, start: number): number {
  NUMBER.lastIndex = start;
  const match = NUMBER.exec(text);
  if (match === null) throw new ScanError("JSON_SYNTAX", start);
  const value = Number(match[0]);
  if (!Number.isFinite(value)) throw new ScanError("NUMBER_RANGE", start);
  // Only an integer without fraction and exponent claims to be exact; any other number is a double.
  const isInteger = match[1] === undefined && match[2] === undefined;
  if (isInteger && !Number.isSafeInteger(value)) throw new ScanError("NUMBER_PRECISION", start);
  return start + match[0].length;
}
