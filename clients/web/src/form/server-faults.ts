// What the server finds wrong with a response, at the fields it speaks of. Pure.

import type { Violation } from "@pawl/client";
import type { Field } from "./field.ts";
import type { Faults } from "./draft.ts";

/** How the server calls the whole response. */
const ROOT = "response_json";
const MISSING = /required property '([^']*)'/;

export interface PlacedFaults {
  readonly faults: Faults;
  /** What belongs to no field that is shown. */
  readonly others: readonly string[];
}

/** Places each violation at the nearest field that is shown. */
export function placeViolations(field: Field, violations: readonly Violation[]): PlacedFaults {
  const keys = keysOf(field);
  const faults: Record<string, string> = {};
  const others: string[] = [];
  for (const { path, message } of violations) {
    const key = path.startsWith(ROOT) ? nearest(keys, keyOf(path, message)) : undefined;
    if (key === undefined) others.push(path === "" ? message : `${path}: ${message}`);
    else faults[key] ??= `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
  }
  return { faults, others };
}

/** A missing property is said of its object; it is shown at the field itself. */
function keyOf(path: string, message: string): string {
  const missing = MISSING.exec(message)?.[1];
  const key = path.slice(ROOT.length);
  return missing === undefined ? key : `${key}.${missing}`;
}

/** The field of a key, or the one around it: an item of a list is shown at the list. */
function nearest(keys: ReadonlySet<string>, key: string): string | undefined {
  for (let at = key; ; at = at.slice(0, Math.max(at.lastIndexOf("."), at.lastIndexOf("[")))) {
    if (keys.has(at)) return at;
    if (!/[.[]/.test(at)) return undefined;
  }
}

const keysOf = (field: Field): ReadonlySet<string> =>
  new Set(field.kind === "group" ? field.fields.flatMap((one) => [...keysOf(one)]) : [field.key]);
