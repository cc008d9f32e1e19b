// Applies a filter to a value in memory. PostgreSQL applies it to rows; a test compares the two. Archived runs are found by it.

import { isRecord } from "../data/path.ts";
import type { FieldTest, Order, Pattern, TypedFilter } from "./typed.ts";

/** A run by the names of its fields. Times and durations are in milliseconds. */
export type FilterableRun = Readonly<Record<string, unknown>>;

/** Whether a filter finds a run. */
export function matches(filter: TypedFilter, run: FilterableRun): boolean {
  if (filter.is === "and") return filter.parts.every((part) => matches(part, run));
  if (filter.is === "or") return filter.parts.some((part) => matches(part, run));
  if (filter.is === "not") return !matches(filter.part, run);
  return passes(filter, run[filter.field] ?? null);
}

function passes(test: FieldTest, value: unknown): boolean {
  switch (test.is) {
    case "choice":
      return typeof value === "string" && test.values.includes(value);
    case "text":
      return typeof value === "string" && fits(test.pattern, value);
    case "contains":
      return typeof value === "string" && value.toLowerCase().includes(test.text.toLowerCase());
    case "number":
    case "time":
    case "duration":
      return typeof value === "number" && compare(value, test.order, test.value);
    case "flag":
      return value === test.value;
    case "present":
      return value !== null;
    case "json_present":
      return at(value, test.path) !== undefined;
    case "json_equals":
      return at(value, test.path) === test.value;
    case "json_has": {
      const found = at(value, test.path);
      return Array.isArray(found) ? found.includes(test.value) : found === test.value;
    }
    case "json_text": {
      const found = at(value, test.path);
      return typeof found === "string" && fits(test.pattern, found);
    }
    case "json_order": {
      const found = at(value, test.path);
      return typeof found === "number" && compare(found, test.order, test.value);
    }
  }
}

/** The value behind keys of objects. A number is also a place in a list, as `#>` has it. */
function at(value: unknown, [key, ...rest]: readonly string[]): unknown {
  if (key === undefined) return value;
  if (Array.isArray(value))
    return /^-?\d+$/.test(key) ? at(value.at(Number(key)), rest) : undefined;
  return isRecord(value) && Object.hasOwn(value, key) ? at(value[key], rest) : undefined;
}

function fits({ text, opensStart, opensEnd }: Pattern, value: string): boolean {
  if (opensStart && opensEnd) return value.includes(text);
  if (opensStart) return value.endsWith(text);
  return opensEnd ? value.startsWith(text) : value === text;
}

function compare(left: number, order: Order, right: number): boolean {
  if (order === "=") return left === right;
  if (order === "<") return left < right;
  if (order === "<=") return left <= right;
  return order === ">" ? left > right : left >= right;
}
