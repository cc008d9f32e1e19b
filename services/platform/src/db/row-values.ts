// Turns values of PostgreSQL into JSON, and JSON into parameters. Nothing is rounded: an int8 is a number if a double holds it exactly,
// otherwise text. A numeric is always text. Times are ISO 8601 (the session's zone is UTC), bytea is base64, json is its value. Every other
// type (uuid, interval, inet, enums, ranges, …) is the text that PostgreSQL prints.

import { types } from "pg";

type Decode = (text: string) => unknown;

const number: Decode = (text) => {
  const value = Number(text);
  // NaN and Infinity are not JSON.
  return Number.isFinite(value) ? value : text;
};

const int8: Decode = (text) => (Number.isSafeInteger(Number(text)) ? Number(text) : text);

const TIME = /^(\d{4,}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)(\+00)?$/;
/** `infinity` and years before Christ stay as they are. */
const time: Decode = (text) =>
  text.replace(
    TIME,
    (_, day: string, hour: string, zone?: string) =>
      `${day}T${hour}${zone === undefined ? "" : "Z"}`,
  );

const bytes: Decode = (text) =>
  text.startsWith("\\x") ? Buffer.from(text.slice(2), "hex").toString("base64") : text;

const plain: Decode = (text) => text;
const json: Decode = (text) => JSON.parse(text) as unknown;
const truth: Decode = (text) => text === "t";

/** oid of the type, oid of its array type, decoder. */
const DECODERS: readonly (readonly [number, number, Decode])[] = [
  [types.builtins.BOOL, 1000, truth],
  [types.builtins.INT2, 1005, number],
  [types.builtins.INT4, 1007, number],
  [types.builtins.OID, 1028, number],
  [types.builtins.INT8, 1016, int8],
  [types.builtins.FLOAT4, 1021, number],
  [types.builtins.FLOAT8, 1022, number],
  [types.builtins.NUMERIC, 1231, plain],
  [types.builtins.TIMESTAMP, 1115, time],
  [types.builtins.TIMESTAMPTZ, 1185, time],
  [types.builtins.DATE, 1182, plain],
  [types.builtins.BYTEA, 1001, bytes],
  [types.builtins.JSON, 199, json],
  [types.builtins.JSONB, 3807, json],
  [types.builtins.TEXT, 1009, plain],
  [types.builtins.VARCHAR, 1015, plain],
  [types.builtins.BPCHAR, 1014, plain],
  [types.builtins.UUID, 2951, plain],
];

const TEXT_ARRAY_OID = 1009;
/** The driver's readers by oid. The types of the driver do not list array types. */
const readerOf: (oid: number) => Decode = types.getTypeParser;
/** Lists of text and null, at any depth. */
const splitArray = readerOf(TEXT_ARRAY_OID);

const decodeItems = (item: unknown, decode: Decode): unknown => {
  if (Array.isArray(item)) return item.map((inner) => decodeItems(inner, decode));
  return typeof item === "string" ? decode(item) : null;
};

const BY_OID: ReadonlyMap<number, Decode> = new Map(
  DECODERS.flatMap(([oid, arrayOid, decode]): [number, Decode][] => [
    [oid, decode],
    [arrayOid, (text) => decodeItems(splitArray(text), decode)],
  ]),
);

/** The decoder of a type. */
export const decoderOf = (oid: number): Decode => BY_OID.get(oid) ?? plain;

/**
 * A JSON value as the text of a parameter. A list of plain values becomes a PostgreSQL array, as `= any($1)` needs. An object, or a list
 * with an object in it, becomes JSON.
 */
export function parameterText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === "string") return value;
  return Array.isArray(value) && isPlainList(value) ? arrayText(value) : JSON.stringify(value);
}

const isPlainList = (list: readonly unknown[]): boolean =>
  list.every((item) =>
    Array.isArray(item) ? isPlainList(item) : typeof item !== "object" || item === null,
  );

function arrayText(list: readonly unknown[]): string {
  const items = list.map((item) => {
    if (Array.isArray(item)) return arrayText(item);
    const text = parameterText(item);
    return text === null ? "NULL" : `"${text.replaceAll(/["\\]/g, "\\$&")}"`;
  });
  return `{${items.join(",")}}`;
}
