// Compares two schemas about types, literals, numbers and texts.

import type { PathStep } from "../data/path.ts";
import { compilePattern } from "../data/pattern.ts";
import { all, misfit, UNSURE, type Verdict, YES } from "./verdict.ts";

type Keywords = Readonly<Record<string, unknown>>;
type At = readonly PathStep[];

const EXCERPT = 40;

/** The type of a literal, as JSON Schema names it. */
function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

/** The types that a schema allows. Undefined for all. */
function typesOf({ type }: Keywords): readonly unknown[] | undefined {
  if (typeof type === "string") return [type];
  return Array.isArray(type) ? type : undefined;
}

const listed = (types: readonly unknown[]): string => types.join(" or ");

/** Compares a source of one type, or one literal that is no object and no list, with the keywords of a target. */
export function relateScalar(source: Keywords, target: Keywords, at: At): Verdict {
  const isLiteral = Object.hasOwn(source, "const");
  const type = isLiteral ? typeOf(source["const"]) : String(source["type"]);
  const typed = relateType(type, typesOf(target), at);
  if (typed.verdict === "no" && typed.disjoint) return typed;
  if (isLiteral) return all([typed, relateLiteral(source["const"], target, at)]);
  const rest = [relateValues(target, type, at)];
  if (type === "number" || type === "integer") rest.push(relateNumber(source, target, at));
  if (type === "string") rest.push(relateText(source, target, at));
  return all([typed, ...rest]);
}

function relateType(type: string, wanted: readonly unknown[] | undefined, at: At): Verdict {
  if (wanted === undefined || wanted.includes(type)) return YES;
  if (type === "integer" && wanted.includes("number")) return YES;
  if (type === "number" && wanted.includes("integer"))
    return misfit(at, "is number and may have a fraction, expected integer", "sometimes");
  return misfit(at, `is ${type}, expected ${listed(wanted)}`, "never");
}

/** The literals that a target allows. Undefined if it does not list them. */
function valuesOf(target: Keywords): readonly unknown[] | undefined {
  if (Object.hasOwn(target, "const")) return [target["const"]];
  return Array.isArray(target["enum"]) ? target["enum"] : undefined;
}

/** Compares a type with the literals of a target. */
function relateValues(target: Keywords, type: string, at: At): Verdict {
  const values = valuesOf(target);
  if (values === undefined) return YES;
  const ofType = values.filter((value) => relateType(typeOf(value), [type], at).verdict === "yes");
  const isWhole = type === "null" || (type === "boolean" && new Set(ofType).size === 2);
  if (isWhole && ofType.length > 0) return YES;
  if (ofType.length > 0 && (type === "object" || type === "array")) return UNSURE;
  const reason = `is any ${type}, expected ${values.length === 1 ? "" : "one of "}${shown(values)}`;
  return misfit(at, reason, ofType.length > 0 ? "sometimes" : "never");
}

const shown = (values: readonly unknown[]): string => {
  const text = values.map((value) => JSON.stringify(value)).join(", ");
  return text.length > EXCERPT ? `${text.slice(0, EXCERPT - 1).toWellFormed()}…` : text;
};

/** Compares one literal with every keyword for literals, numbers and texts. */
function relateLiteral(value: unknown, target: Keywords, at: At): Verdict {
  const values = valuesOf(target);
  if (values !== undefined && !values.includes(value))
    return misfit(at, `is ${shown([value])}, expected ${shown(values)}`, "never");
  if (typeof value === "number")
    return relateNumber({ minimum: value, maximum: value, const: value }, target, at);
  if (typeof value !== "string") return YES;
  const length = Array.from(value).length;
  return all([
    relateRange({ low: length, high: length }, target, LENGTHS, at),
    literalPattern(value, target["pattern"], at),
    target["format"] === undefined ? YES : UNSURE,
  ]);
}

function literalPattern(value: string, pattern: unknown, at: At): Verdict {
  if (typeof pattern !== "string") return YES;
  const compiled = compilePattern(pattern);
  if (!compiled.ok) return UNSURE;
  return compiled.pattern.test(value)
    ? YES
    : misfit(at, `is ${shown([value])}, which does not match ${pattern}`, "never");
}

interface Range {
  readonly low: number;
  readonly high: number;
}

interface RangeWords {
  readonly low: string;
  readonly high: string;
  readonly noun: string;
}

const LENGTHS: RangeWords = { low: "minLength", high: "maxLength", noun: "characters" };
/** The keywords for the length of a list. */
export const ITEMS: RangeWords = { low: "minItems", high: "maxItems", noun: "items" };

const bound = (schema: Keywords, key: string): number | undefined => {
  const value = schema[key];
  return typeof value === "number" ? value : undefined;
};

/** Compares a range of lengths with the bounds of a target. */
export function relateRange(source: Range, target: Keywords, words: RangeWords, at: At): Verdict {
  const low = bound(target, words.low) ?? 0;
  const high = bound(target, words.high) ?? Infinity;
  if (source.low >= low && source.high <= high) return YES;
  const isNever = source.high < low || source.low > high;
  const wanted = source.low < low ? `at least ${low}` : `at most ${high}`;
  const reason = `${isNever ? "has" : "may have"} other than ${wanted} ${words.noun}`;
  return misfit(at, reason, isNever ? "never" : "sometimes");
}

/** The range of lengths that a schema allows. */
export const rangeOf = (schema: Keywords, words: RangeWords): Range => ({
  low: bound(schema, words.low) ?? 0,
  high: bound(schema, words.high) ?? Infinity,
});

function relateText(source: Keywords, target: Keywords, at: At): Verdict {
  const isSame = (key: string): Verdict =>
    target[key] === undefined || source[key] === target[key] ? YES : UNSURE;
  return all([
    relateRange(rangeOf(source, LENGTHS), target, LENGTHS, at),
    isSame("pattern"),
    isSame("format"),
  ]);
}

/** A bound, and whether a value may not equal it. */
interface Bound {
  readonly at: number;
  readonly isOpen: boolean;
}

/** Beyond the integers that a JSON number keeps exactly, a bound has no effect. */
const isReal = (value: number): boolean => Math.abs(value) < Number.MAX_SAFE_INTEGER;

function boundOf(schema: Keywords, closed: string, open: string, sign: 1 | -1): Bound | undefined {
  const bounds = [
    { at: bound(schema, closed), isOpen: false },
    { at: bound(schema, open), isOpen: true },
  ].flatMap(({ at, isOpen }) => (at === undefined || !isReal(at) ? [] : [{ at, isOpen }]));
  // The narrowest bound counts.
  return bounds.toSorted((a, b) => sign * (b.at - a.at) || Number(b.isOpen) - Number(a.isOpen))[0];
}

const lowOf = (schema: Keywords) => boundOf(schema, "minimum", "exclusiveMinimum", 1);
const highOf = (schema: Keywords) => boundOf(schema, "maximum", "exclusiveMaximum", -1);

function relateNumber(source: Keywords, target: Keywords, at: At): Verdict {
  const [low, high] = [lowOf(source), highOf(source)];
  const [least, most] = [lowOf(target), highOf(target)];
  return all([
    least === undefined ? YES : relateBound({ near: low, far: high, wanted: least }, 1, at),
    most === undefined ? YES : relateBound({ near: high, far: low, wanted: most }, -1, at),
    relateStep(source, target, at),
  ]);
}

interface BoundPair {
  /** The bound of the source on the side of the wanted one, and the opposite one. */
  readonly near: Bound | undefined;
  readonly far: Bound | undefined;
  readonly wanted: Bound;
}

/** `sign` is 1 for a lower bound and -1 for an upper one. */
function relateBound({ near, far, wanted }: BoundPair, sign: 1 | -1, at: At): Verdict {
  const isInside = (one: Bound): boolean =>
    sign * one.at > sign * wanted.at || (one.at === wanted.at && (one.isOpen || !wanted.isOpen));
  if (near !== undefined && isInside(near)) return YES;
  const isBeyond =
    far !== undefined &&
    (sign * far.at < sign * wanted.at || (far.at === wanted.at && (far.isOpen || wanted.isOpen)));
  const word =
    sign === 1
      ? wanted.isOpen
        ? "more than"
        : "at least"
      : wanted.isOpen
        ? "less than"
        : "at most";
  const reason = `${isBeyond ? "is" : "may be"} outside of ${word} ${wanted.at}`;
  return misfit(at, reason, isBeyond ? "never" : "sometimes");
}

function relateStep(source: Keywords, target: Keywords, at: At): Verdict {
  const step = bound(target, "multipleOf");
  if (step === undefined) return YES;
  const own = bound(source, "const") ?? bound(source, "multipleOf");
  const given = own ?? (source["type"] === "integer" ? 1 : undefined);
  // Fractions have no exact remainder, so only whole steps are compared.
  if (!Number.isInteger(step) || (given !== undefined && !Number.isInteger(given))) return UNSURE;
  if (given !== undefined && given % step === 0) return YES;
  const isNever = Object.hasOwn(source, "const");
  return misfit(
    at,
    `${isNever ? "is" : "may be"} no multiple of ${step}`,
    isNever ? "never" : "sometimes",
  );
}
