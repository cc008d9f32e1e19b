// Compares a filter with the fields of a list. The result has only equality, order and presence, each with a value of the field's type.
// Two answers exist: a comparison with a value that is missing is false, so `!=` and NOT of it are true.

import { type Argument, type Comparison, type Filter, FilterError, orFault } from "./ast.ts";
import { nearestName } from "../name/nearest.ts";
import { durationOf, timeOf } from "./moment.ts";

/** What a field holds. `json` has keys of its own. */
export type FieldType =
  | { readonly kind: "text" | "number" | "flag" | "time" | "duration" | "json" }
  /** One of these values, under any of its names. */
  | {
      readonly kind: "choice";
      readonly values: Readonly<Record<string, readonly string[]>>;
      readonly pairs?: Readonly<Record<string, ChoicePair>>;
    };

/** A name for values of a choice that another choice narrows. */
export interface ChoicePair {
  readonly values: readonly string[];
  readonly field: string;
  readonly with: readonly string[];
}
type Fields = Readonly<Record<string, FieldType>>;

export type Order = "=" | "<" | "<=" | ">" | ">=";
export type JsonScalar = string | number | boolean | null;

/** A text with open ends: the field's text contains it there. */
export interface Pattern {
  readonly text: string;
  readonly opensStart: boolean;
  readonly opensEnd: boolean;
}

type Test =
  | { readonly is: "choice"; readonly values: readonly string[] }
  | { readonly is: "text"; readonly pattern: Pattern }
  /** The field's text contains the text, in capitals or not. */
  | { readonly is: "contains"; readonly text: string }
  | { readonly is: "number" | "time" | "duration"; readonly order: Order; readonly value: number }
  | { readonly is: "flag"; readonly value: boolean }
  | { readonly is: "present" }
  | { readonly is: "json_present"; readonly path: readonly string[] }
  | { readonly is: "json_equals"; readonly path: readonly string[]; readonly value: JsonScalar }
  /** The value, or an item of the list, is this. */
  | { readonly is: "json_has"; readonly path: readonly string[]; readonly value: JsonScalar }
  | { readonly is: "json_text"; readonly path: readonly string[]; readonly pattern: Pattern }
  | {
      readonly is: "json_order";
      readonly path: readonly string[];
      readonly order: Order;
      readonly value: number;
    };

export type FieldTest = Test & { readonly field: string };
export type TypedFilter =
  | FieldTest
  | { readonly is: "and"; readonly parts: readonly TypedFilter[] }
  | { readonly is: "or"; readonly parts: readonly TypedFilter[] }
  | { readonly is: "not"; readonly part: TypedFilter };

/** Gives each comparison of a filter the type of its field. `text` is the filter as the user wrote it. */
export const typeFilter = (text: string, filter: Filter, fields: Fields) =>
  orFault(text, () => typed(filter, fields));

function typed(filter: Filter, fields: Fields): TypedFilter {
  switch (filter.kind) {
    case "and":
    case "or":
      return { is: filter.kind, parts: filter.parts.map((part) => typed(part, fields)) };
    case "not":
      return { is: "not", part: typed(filter.part, fields) };
    case "compare":
      return comparison(filter, fields);
  }
}

function comparison(compared: Comparison, fields: Fields): TypedFilter {
  const [field = "", ...path] = compared.path;
  const type = Object.hasOwn(fields, field) ? fields[field] : undefined;
  if (type === undefined) throw new FilterError(compared.at, unknownField(field, fields));
  if (path.length > 0 && type.kind !== "json")
    throw new FilterError(compared.at, `${field} has no keys`);
  const { comparator } = compared;
  if (comparator === "!=")
    return { is: "not", part: tested(field, type, path, { ...compared, comparator: "=" }) };
  return tested(field, type, path, compared);
}

function tested(
  field: string,
  type: FieldType,
  path: readonly string[],
  compared: Comparison,
): TypedFilter {
  const pair = pairOf(type, compared);
  if (pair === undefined) return { field, ...test(type, path, compared) };
  const parts = [
    { field, is: "choice", values: pair.values },
    { field: pair.field, is: "choice", values: pair.with },
  ] as const;
  return { is: "and", parts };
}

function pairOf(type: FieldType, { comparator, argument }: Comparison): ChoicePair | undefined {
  if (type.kind !== "choice" || type.pairs === undefined) return undefined;
  if ((comparator !== "=" && comparator !== ":") || argument.opensStart || argument.opensEnd)
    return undefined;
  const name = argument.text.toLowerCase();
  return Object.hasOwn(type.pairs, name) ? type.pairs[name] : undefined;
}

function unknownField(field: string, fields: Fields): string {
  const names = Object.keys(fields);
  const close = nearestName(field, names);
  const meant = close === undefined ? "" : `; did you mean ${close}?`;
  return `there is no field ${field}${meant === "" ? `; use one of ${names.join(", ")}` : meant}`;
}

function test(type: FieldType, path: readonly string[], compared: Comparison): Test {
  const { comparator, argument } = compared;
  if (type.kind === "json") return jsonTest(path, compared);
  if (comparator === ":" && isAny(argument)) return { is: "present" };
  switch (type.kind) {
    case "text":
      if (comparator === ":") return { is: "contains", text: textOf(argument) };
      refuseOrder(compared);
      return { is: "text", pattern: argument };
    case "choice":
      refuseOrder(compared);
      return { is: "choice", values: choicesOf(type, argument) };
    case "flag":
      refuseOrder(compared);
      return { is: "flag", value: flagOf(argument) };
    case "number":
      return { is: "number", order: orderOf(comparator), value: numberOf(argument) };
    case "time":
      return { is: "time", order: orderOf(comparator), value: momentOf(argument) };
    case "duration":
      return { is: "duration", order: orderOf(comparator), value: spanOf(argument) };
  }
}

function jsonTest(path: readonly string[], { comparator, argument, at }: Comparison): Test {
  if (path.length === 0 && comparator === ":") {
    // `metadata:key` asks for the key.
    if (isAny(argument)) return { is: "present" };
    return { is: "json_present", path: [textOf(argument)] };
  }
  if (path.length === 0) throw new FilterError(at, "name a key after a dot, such as metadata.team");
  if (comparator === ":") {
    if (isAny(argument)) return { is: "json_present", path };
    refuseWildcard(argument);
    return { is: "json_has", path, value: scalarOf(argument) };
  }
  if (comparator !== "=" && comparator !== "!=")
    return { is: "json_order", path, order: comparator, value: numberOf(argument) };
  if (argument.opensStart || argument.opensEnd) return { is: "json_text", path, pattern: argument };
  return { is: "json_equals", path, value: scalarOf(argument) };
}

const isAny = ({ text, isQuoted, opensStart }: Argument): boolean =>
  text === "" && !isQuoted && opensStart;

function refuseOrder({ comparator, argument }: Comparison): void {
  if (comparator === "=" || comparator === ":") return;
  throw new FilterError(argument.at, `${comparator} compares numbers, times and durations only`);
}

function refuseWildcard({ opensStart, opensEnd, at }: Argument): void {
  if (opensStart || opensEnd)
    throw new FilterError(at, "a * is not possible here; use = for a text with a *");
}

/** A text without wildcards. */
function textOf(argument: Argument): string {
  refuseWildcard(argument);
  return argument.text;
}

const orderOf = (comparator: Comparison["comparator"]): Order =>
  comparator === ":" || comparator === "!=" ? "=" : comparator;

function choicesOf({ values, pairs }: FieldType & { kind: "choice" }, argument: Argument) {
  const wanted = textOf(argument).toLowerCase();
  const found = Object.hasOwn(values, wanted) ? values[wanted] : undefined;
  if (found !== undefined) return found;
  const names = Object.keys({ ...values, ...pairs });
  throw new FilterError(argument.at, `${wanted} is not one of ${names.join(", ")}`);
}

function flagOf(argument: Argument): boolean {
  if (argument.text === "true") return true;
  if (argument.text === "false") return false;
  throw new FilterError(argument.at, "expected true or false");
}

const NUMBER = /^-?\d{1,15}(\.\d{1,15})?$/;

function numberOf(argument: Argument): number {
  if (NUMBER.test(argument.text) && !argument.opensStart && !argument.opensEnd)
    return Number(argument.text);
  throw new FilterError(argument.at, "expected a number such as 7 or -0.5");
}

function momentOf(argument: Argument): number {
  const time = timeOf(textOf(argument));
  if (time !== undefined) return time;
  throw new FilterError(argument.at, "expected a time such as 2026-11-18T20:00:00Z or 2026-11-18");
}

function spanOf(argument: Argument): number {
  const span = durationOf(textOf(argument));
  if (span !== undefined) return span;
  throw new FilterError(argument.at, "expected a duration such as 500ms, 30s, 5m, 2h or 7d");
}

/** A quoted argument is a text. A word is a number, true, false or null if it looks like one. */
function scalarOf(argument: Argument): JsonScalar {
  const text = textOf(argument);
  if (argument.isQuoted) return text;
  if (text === "null") return null;
  if (text === "true" || text === "false") return text === "true";
  return NUMBER.test(text) ? Number(text) : text;
}
