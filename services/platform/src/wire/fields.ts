// Parses the fields of requests into domain values: ids, names, lines, numbers, durations and the users' JSON. Gateway and scheduler use
// the same functions, so the scheduler never refuses a field that the gateway accepted. Every fault names its field and its rule.

import { toJson } from "@bufbuild/protobuf";
import { type Duration, type Value, ValueSchema } from "@bufbuild/protobuf/wkt";
import { checkJson, STORED_LIMITS, VALUE_LIMITS } from "@pawl/core/data/json";
import { LIMITS } from "@pawl/core/data/limits";
import type { JsonLimits } from "@pawl/core/data/scan-json";
import { exceedsUtf8 } from "@pawl/core/data/utf8";
import { canonicalJson } from "@pawl/core/definition/canonical";
import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import {
  approvalId,
  type ApprovalId,
  isName,
  isUuid,
  type RunId,
  runId,
} from "@pawl/core/name/ids";
import { isTypeName, TYPE_RULE } from "@pawl/core/name/type-name";

/** A UUID in canonical form. Upper case becomes lower case. @throws INPUT_INVALID */
export function uuidOf(field: string, text: string): string {
  const canonical = text.toLowerCase();
  // Some letters outside ASCII become ASCII letters when they are lowered, so the length is checked first.
  if (text.length === 36 && isUuid(canonical)) return canonical;
  throw invalidField(field, "BAD_ID", "is not a UUID");
}

/** @throws INPUT_INVALID */
export const runIdOf = (text: string): RunId => runId(uuidOf("run_id", text));
/** @throws INPUT_INVALID */
export const approvalIdOf = (text: string): ApprovalId => approvalId(uuidOf("approval_id", text));

/** @throws INPUT_INVALID */
export function nameOf(field: string, text: string): string {
  if (isName(text)) return text;
  throw invalidField(field, "BAD_ID", "is not 1-128 characters of [A-Za-z0-9._-]");
}

/** @throws INPUT_INVALID */
export function typeNameOf(text: string): string {
  if (isTypeName(text)) return text;
  throw invalidField("node_type", "BAD_ID", `is not ${TYPE_RULE}`);
}

/** A name, or the empty text. @throws INPUT_INVALID */
export const optionalName = (field: string, text: string): string =>
  text === "" ? "" : nameOf(field, text);

// A printable line has no control characters, no lone surrogates and no line separators.
const PRINTABLE = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]*$/u;

/** One printable line. @throws INPUT_INVALID */
export function lineOf(field: string, text: string, length: number = LIMITS.labelLength): string {
  if (text.length > length)
    throw invalidField(field, "TOO_LONG", `is longer than ${length} characters`);
  if (PRINTABLE.test(text)) return text;
  throw invalidField(field, "NOT_PRINTABLE", "has characters that cannot be printed");
}

const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

/**
 * The caller's request id, or null if the caller sent none. It has no spaces. The scheduler gives occurrences of schedules request ids with
 * spaces, so no caller can use one of those. @throws INPUT_INVALID
 */
export function requestIdOf(text: string): string | null {
  if (text === "") return null;
  if (text.length <= LIMITS.requestIdLength && VISIBLE_ASCII.test(text)) return text;
  const rule = `is not 1-${LIMITS.requestIdLength} visible ASCII characters without spaces`;
  throw invalidField("request_id", "BAD_ID", rule);
}

/** More types of event than exist is a mistake. Other filters of a stream have the same bound. */
const FILTER_MAX = 64;

/** The types of event that a caller wants to see. @throws INPUT_INVALID */
export const typesOf = (types: readonly string[]): ReadonlySet<string> => setOf("types", types);

/** The values of a filter. @throws INPUT_INVALID */
export function setOf<Item>(field: string, values: readonly Item[]): ReadonlySet<Item> {
  if (values.length > FILTER_MAX)
    throw invalidField(field, "TOO_MANY", `has more than ${FILTER_MAX} values`);
  return new Set(values);
}

/** The values of numbers on the wire. `what` names one of them. @throws INPUT_INVALID for an unknown number */
export const valuesOf = <Wire, Known>(
  field: string,
  what: string,
  numbers: readonly Wire[],
  valueOfOne: (wire: Wire) => Known | undefined,
): Known[] =>
  numbers.map((wire, index) => {
    const value = valueOfOne(wire);
    if (value !== undefined) return value;
    throw invalidField(`${field}[${index}]`, "UNKNOWN_ENUM", `is not ${what}`);
  });

const PAGE = { default: LIMITS.pageSize, max: LIMITS.pageSizeMax } as const;

/** 0 means the default. A size above the maximum means the maximum. @throws INPUT_INVALID for less than 0 */
export function pageSizeOf(
  size: number,
  bounds: { readonly default: number; readonly max: number } = PAGE,
): number {
  if (size < 0) throw invalidField("page_size", "OUT_OF_RANGE", "is negative");
  return size === 0 ? bounds.default : Math.min(size, bounds.max);
}

/** @throws INPUT_INVALID */
export function rangeOf(field: string, value: number, min: number, max: number): number {
  if (value >= min && value <= max) return value;
  throw invalidField(field, "OUT_OF_RANGE", `is not between ${min} and ${max}`);
}

/** @throws INPUT_INVALID */
export const priorityOf = (field: string, value: number): number =>
  rangeOf(field, value, -LIMITS.priorityMax, LIMITS.priorityMax);

/** A cursor of the contract. No log is longer than 2^53. @throws INPUT_INVALID */
export function cursorOf(field: string, cursor: bigint): number {
  if (cursor <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(cursor);
  throw invalidField(field, "BAD_CURSOR", "is larger than any event id");
}

/** A cursor written in digits. @throws INPUT_INVALID */
export function cursorOfText(field: string, text: string): number {
  if (/^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text);
  throw invalidField(field, "BAD_CURSOR", "is not an event id");
}

/** The author's text of a definition. @throws INPUT_INVALID, LIMIT_EXCEEDED */
export function definitionTextOf(text: string | undefined): string {
  if (text === undefined || text === "")
    throw invalidField("definition.text", "REQUIRED", "is empty");
  if (Buffer.byteLength(text) <= LIMITS.definitionBytes) return text;
  const message = `A definition has at most ${LIMITS.definitionBytes} bytes.`;
  throw new EngineError("LIMIT_EXCEEDED", message, { metadata: { limit: "definitionBytes" } });
}

/** Milliseconds, if the caller gave a duration. @throws INPUT_INVALID */
export function durationMsOf(
  field: string,
  duration: Duration | undefined,
  maxMs: number,
): number | undefined {
  if (duration === undefined) return undefined;
  const { seconds, nanos } = duration;
  const maxSeconds = BigInt(maxMs / 1_000);
  const isPositive = seconds >= 0n && nanos >= 0 && nanos < 1e9 && (seconds > 0n || nanos >= 1e6);
  if (isPositive && (seconds < maxSeconds || (seconds === maxSeconds && nanos === 0)))
    return Number(seconds) * 1_000 + Math.floor(nanos / 1e6);
  throw invalidField(field, "OUT_OF_RANGE", `is not between 1 ms and ${maxSeconds} s`);
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const JSON_LIMITS: JsonLimits = { ...VALUE_LIMITS, bytes: LIMITS.inputBytes };
/** The input of a run that starts: the scheduler stores a large one outside of the log. */
export const START_LIMITS: JsonLimits = { ...STORED_LIMITS, bytes: LIMITS.startInputBytes };

/** The answer to an approval. */
export const RESPONSE_LIMITS: JsonLimits = {
  ...VALUE_LIMITS,
  bytes: LIMITS.approvalResponseBytes,
};

/** A message with JSON: exact, or as a Value. */
interface Given {
  readonly inputJson: Uint8Array;
  readonly input?: Value | undefined;
}

/** The input as JSON text: the exact one if given, otherwise the Value, otherwise null. @throws INPUT_INVALID, LIMIT_EXCEEDED */
export function inputOf({ inputJson, input }: Given, limits = JSON_LIMITS): string {
  if (inputJson.length > 0) return jsonOf("input_json", inputJson, limits);
  return input === undefined ? "null" : valueOf("input", input, limits);
}

/**
 * The input of a message that has both fields when a client reads it. A client that changed only one of them gets an error.
 * @throws INPUT_INVALID, LIMIT_EXCEEDED
 */
export function sameInputOf(given: Given): string {
  const text = inputOf(given);
  if (given.inputJson.length === 0 || given.input === undefined) return text;
  if (canonical(text) === canonical(valueOf("input", given.input))) return text;
  throw invalidField("input", "AMBIGUOUS", "differs from input_json; send one of them");
}

/** Numbers become doubles, as in a Value. */
const canonical = (text: string): string => canonicalJson(JSON.parse(text));

/** JSON bytes as text. @throws INPUT_INVALID, LIMIT_EXCEEDED */
export function jsonOf(field: string, bytes: Uint8Array, limits = JSON_LIMITS): string {
  if (bytes.length > limits.bytes) throw tooLarge(field, limits);
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw invalidField(field, "BAD_UNICODE", "is not UTF-8");
  }
  return checkedJson(field, text, limits);
}

/** A Value as JSON text. @throws INPUT_INVALID, LIMIT_EXCEEDED */
export function valueOf(field: string, value: Value, limits = JSON_LIMITS): string {
  let text: string;
  try {
    text = JSON.stringify(toJson(ValueSchema, value));
  } catch {
    // A Value can hold NaN, the infinities, or nothing at all.
    throw invalidField(field, "NUMBER_RANGE", "holds something JSON has no word for, such as NaN");
  }
  return checkedJson(field, text, limits);
}

function checkedJson(field: string, text: string, limits: JsonLimits): string {
  // What fits into the log obeys the limits of the log.
  const isSmall = limits === START_LIMITS && !exceedsUtf8(text, LIMITS.inputBytes);
  const checked = checkJson(text, isSmall ? JSON_LIMITS : limits);
  if (checked.ok) return text;
  if (checked.reason === "TOO_LARGE") throw tooLarge(field, limits);
  throw invalidField(field, checked.reason, checked.message);
}

const tooLarge = (field: string, limits: JsonLimits): EngineError =>
  new EngineError("LIMIT_EXCEEDED", `${field}: at most ${limits.bytes} bytes`, {
    metadata: {
      field,
      limit: limits === RESPONSE_LIMITS ? "approvalResponseBytes" : "inputBytes",
    },
  });
