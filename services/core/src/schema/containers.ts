// Compares two schemas about the parts of objects and lists.

import type { PathStep } from "../data/path.ts";
import type { Relate } from "./assignable.ts";
import { ITEMS, rangeOf, relateRange } from "./scalars.ts";
import { isSilent, propertiesOf, requiredOf, type Place, type Schema, schemaOf } from "./schema.ts";
import { all, ifPresent, misfit, UNSURE, type Verdict, YES } from "./verdict.ts";

type Keywords = Readonly<Record<string, unknown>>;
type At = readonly PathStep[];

/** Two schemas of one type, and their documents. */
interface Pair {
  readonly source: Keywords;
  readonly target: Keywords;
  readonly from: Schema;
  readonly to: Schema;
}

/** Compares objects. A source of another type has nothing to compare. */
export function relateObject(pair: Pair, at: At, inside: Relate): Verdict {
  if (pair.source["type"] !== "object") return YES;
  return all([
    relateRequired(pair, at),
    relateDeclared(pair, at, inside),
    relateUndeclared(pair, inside),
  ]);
}

/** Names that the target requires. A name that the source does not declare is missing, unless the source allows more names. */
function relateRequired({ source, target }: Pair, at: At): Verdict {
  const own = propertiesOf(source);
  const promised = requiredOf(source);
  const verdicts = [...requiredOf(target)].map((name) => {
    if (promised.has(name)) return YES;
    const where = [...at, name];
    if (Object.hasOwn(own, name))
      return misfit(where, "may be absent, but is required", "sometimes");
    if (isSilent(source) || source["patternProperties"] !== undefined) return UNSURE;
    const isClosed = source["additionalProperties"] === false;
    return misfit(where, "is missing, but is required", "never", isClosed);
  });
  return all(verdicts);
}

/** Properties that the source declares. */
function relateDeclared({ source, target, from, to }: Pair, at: At, inside: Relate): Verdict {
  const wanted = propertiesOf(target);
  const promised = requiredOf(source);
  const more = target["additionalProperties"] ?? true;
  const isPatterned = target["patternProperties"] !== undefined;
  const verdicts = Object.entries(propertiesOf(source)).map(([name, schema]) => {
    const isDeclared = Object.hasOwn(wanted, name);
    if (!isDeclared && isPatterned) return UNSURE;
    if (!isDeclared && more === false) {
      if (schema === false) return YES;
      const reason = "is not allowed: the target has no such property";
      return misfit([...at, name], reason, promised.has(name) ? "never" : "sometimes");
    }
    const place: Place = { schema: schemaOf(isDeclared ? wanted[name] : more), root: to };
    const verdict = inside({ schema: schemaOf(schema), root: from }, place, name);
    return promised.has(name) ? verdict : ifPresent(verdict);
  });
  return all(verdicts);
}

/** Properties that the source does not declare but may have. */
function relateUndeclared({ source, target, from, to }: Pair, inside: Relate): Verdict {
  const more = source["additionalProperties"];
  if (more === false) return YES;
  const own = propertiesOf(source);
  const patterned = target["patternProperties"] !== undefined;
  const rest = target["additionalProperties"] ?? true;
  const wanted = Object.entries(propertiesOf(target)).filter(([name]) => !Object.hasOwn(own, name));
  if (more === undefined || more === true) {
    const isFree = rest === true && !patterned && wanted.every(([, schema]) => schema === true);
    return isFree ? YES : UNSURE;
  }
  const extra: Place = { schema: schemaOf(more), root: from };
  const verdicts = [...wanted, ["*", rest] as const].map(([name, schema]) =>
    // An object without further properties is a value of both.
    ifPresent(inside(extra, { schema: schemaOf(schema), root: to }, name)),
  );
  return all(verdicts);
}

/** Compares lists. A source of another type has nothing to compare. */
export function relateArray({ source, target, from, to }: Pair, at: At, inside: Relate): Verdict {
  if (source["type"] !== "array") return YES;
  const range = rangeOf(source, ITEMS);
  const first = { source: listOf(source), target: listOf(target) };
  const item = (schema: Keywords, list: readonly unknown[], index: number): unknown =>
    index < list.length ? list[index] : (schema["items"] ?? true);
  // A list of fixed places ends at them if it has no further items.
  const fixed = Math.max(first.source.length, first.target.length);
  const verdicts = Array.from({ length: fixed + 1 }, (_, index) => {
    const isLast = index === fixed;
    const own = item(source, first.source, index);
    const wanted = item(target, first.target, index);
    if (own === false || index >= range.high) return YES;
    const verdict = inside(
      { schema: schemaOf(own), root: from },
      { schema: schemaOf(wanted), root: to },
      isLast ? "*" : index,
    );
    return index < range.low ? verdict : ifPresent(verdict);
  });
  const length = source["items"] === false ? Math.min(range.high, first.source.length) : range.high;
  const isUnique = target["uniqueItems"] !== true || source["uniqueItems"] === true || length <= 1;
  return all([
    relateRange({ low: range.low, high: length }, target, ITEMS, at),
    isUnique ? YES : UNSURE,
    ...verdicts,
  ]);
}

const listOf = ({ prefixItems }: Keywords): readonly unknown[] =>
  Array.isArray(prefixItems) ? prefixItems : [];
