// What is checked at the door, before a command is forwarded or a row is read: ids, names, numbers and the shape of the users'
// JSON. Every fault names its field and its rule; a message never repeats more than the caller can recognise.

import { toJson } from "@bufbuild/protobuf";
import { type Duration, type Value, ValueSchema } from "@bufbuild/protobuf/wkt";
import { checkJson } from "@pawl/core/data/json";
import { LIMITS } from "@pawl/core/data/limits";
import { canonicalJson } from "@pawl/core/definition/canonical";
import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import { isName, isUuid, type RunId, runId } from "@pawl/core/name/ids";
import { requestIdOf } from "@pawl/platform/wire/request-id";

/** A run id in canonical form; upper case is taken and lowered. @throws INPUT_INVALID */
export function checkRunId(text: string): RunId {
  const canonical = text.toLowerCase();
  if (text.length !== 36 || !isUuid(canonical)) {
    throw invalidField("run_id", "BAD_ID", "is not a UUID");
  }
  return runId(canonical);
}

/** @throws INPUT_INVALID */
export function checkName(field: string, text: string): string {
  if (!isName(text)) {
    throw invalidField(field, "BAD_ID", "is not 1-128 characters of [A-Za-z0-9._-]");
  }
  return text;
}

// A printable line has no control characters, no lone surrogates and no line separators.
const PRINTABLE = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]*$/u;

/** One printable line of at most `length` characters. @throws INPUT_INVALID */
export function checkLine(field: string, text: string, length: number): string {
  if (text.length > length) {
    throw invalidField(field, "TOO_LONG", `is longer than ${length} characters`);
  }
  if (!PRINTABLE.test(text)) {
    throw invalidField(field, "NOT_PRINTABLE", "has characters that cannot be printed");
  }
  return text;
}

/** The length of `by` and of `reason`. */
const NOTE_LENGTH = 200;

/** Checks by, reason and request id of a pause or a resumption. @throws INPUT_INVALID */
export function checkPauseRequest<T extends { by: string; reason: string; requestId: string }>(
  request: T,
): T {
  checkLine("by", request.by, NOTE_LENGTH);
  checkLine("reason", request.reason, NOTE_LENGTH);
  request.requestId = checkRequestId(request.requestId);
  return request;
}

/** The caller's request id, or a new one: the gateway may send a command twice. @throws INPUT_INVALID */
export const checkRequestId = (text: string): string => requestIdOf(text) ?? crypto.randomUUID();

/** More types of event than there are is a mistake. */
const TYPES_MAX = 64;

/** Which types of event a caller wants to see. @throws INPUT_INVALID */
export function checkTypes(types: readonly string[]): ReadonlySet<string> {
  if (types.length > TYPES_MAX) throw invalidField("types", "TOO_MANY", "has too many types");
  return new Set(types);
}

/** 0 means the default, too many means the most there are. @throws INPUT_INVALID for less than 0 */
export function checkPageSize(
  size: number,
  bounds: { readonly default: number; readonly max: number },
): number {
  if (size < 0) throw invalidField("page_size", "OUT_OF_RANGE", "is negative");
  return size === 0 ? bounds.default : Math.min(size, bounds.max);
}

/** @throws INPUT_INVALID */
export function checkRange(field: string, value: number, min: number, max: number): number {
  if (value >= min && value <= max) return value;
  throw invalidField(field, "OUT_OF_RANGE", `is not between ${min} and ${max}`);
}

/** A cursor of the contract; no log is longer than 2^53. @throws INPUT_INVALID */
export function checkCursor(field: string, cursor: bigint): number {
  if (cursor > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw invalidField(field, "BAD_CURSOR", "is larger than any event id");
  }
  return Number(cursor);
}

/** A cursor written in digits. @throws INPUT_INVALID */
export function checkCursorText(field: string, text: string): number {
  if (!/^\d{1,16}$/.test(text) || !Number.isSafeInteger(Number(text))) {
    throw invalidField(field, "BAD_CURSOR", "is not an event id");
  }
  return Number(text);
}

/** The author's text of a definition. @throws INPUT_INVALID, LIMIT_EXCEEDED */
export function checkDefinitionText(text: string | undefined): string {
  if (text === undefined || text === "") {
    throw invalidField("definition.text", "REQUIRED", "is empty");
  }
  if (Buffer.byteLength(text) <= LIMITS.definitionBytes) return text;
  const message = `A definition has at most ${LIMITS.definitionBytes} bytes.`;
  throw new EngineError("LIMIT_EXCEEDED", message, { metadata: { limit: "definitionBytes" } });
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const NULL_JSON: Uint8Array = Buffer.from("null");

/** The run's input as checked JSON: the exact one if given, else the Value, else null. @throws INPUT_INVALID, LIMIT_EXCEEDED */
export function checkInput(json: Uint8Array, value: Value | undefined): Uint8Array {
  if (json.length > 0) {
    checkJsonText("input_json", decodeUtf8("input_json", json));
    return json;
  }
  return value === undefined ? NULL_JSON : checkValue("input", value);
}

/** A Value as checked JSON. @throws INPUT_INVALID, LIMIT_EXCEEDED */
export function checkValue(field: string, value: Value): Uint8Array {
  const text = valueText(field, value);
  checkJsonText(field, text);
  return Buffer.from(text, "utf8");
}

/** The input of a message that has both when it is read: who changes one of them must not be answered by the other. @throws INPUT_INVALID */
export function checkSameInput(json: Uint8Array, value: Value | undefined): Uint8Array {
  const checked = checkInput(json, value);
  if (json.length === 0 || value === undefined) return checked;
  const isSame = canonicalOf(checked) === canonicalOf(checkValue("input", value));
  if (isSame) return checked;
  throw invalidField("input", "AMBIGUOUS", "differs from input_json; send one of them");
}

/** Numbers as doubles, as a Value has them. */
const canonicalOf = (json: Uint8Array): string => canonicalJson(JSON.parse(utf8.decode(json)));

function decodeUtf8(field: string, bytes: Uint8Array): string {
  if (bytes.length > LIMITS.inputBytes) throw tooLarge(field);
  try {
    return utf8.decode(bytes);
  } catch {
    throw invalidField(field, "BAD_UNICODE", "is not UTF-8");
  }
}

function valueText(field: string, value: Value): string {
  try {
    return JSON.stringify(toJson(ValueSchema, value));
  } catch {
    // What a Value can hold and JSON cannot: NaN and the infinities, or no kind at all.
    throw invalidField(field, "NUMBER_RANGE", "holds something JSON has no word for, such as NaN");
  }
}

function checkJsonText(field: string, text: string): void {
  const checked = checkJson(text);
  if (checked.ok) return;
  if (checked.reason === "TOO_LARGE") throw tooLarge(field);
  throw invalidField(field, checked.reason, checked.message);
}

const tooLarge = (field: string): EngineError =>
  new EngineError("LIMIT_EXCEEDED", `${field}: at most ${LIMITS.inputBytes} bytes`, {
    metadata: { field, limit: "inputBytes" },
  });

/** How long something may take, in milliseconds, if the caller said so. @throws INPUT_INVALID */
export function checkDuration(
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
