// The text that a person has filled in so far, its value, and its faults: those found here, and those that the server found. The functions
// are pure.

import type { Json, Violation } from "@pawl/client";
import type { Field, Option } from "./field.ts";

/** The content of each field: text of inputs, positions of chosen options. An untouched field has no entry. */
export type Draft = Readonly<Record<string, string | readonly number[]>>;

/** Faults by the key of the field. */
export type Faults = Readonly<Record<string, string>>;

type ReadDraft =
  | { readonly ok: true; /** undefined: nothing was filled in. */ readonly value: Json | undefined }
  | { readonly ok: false; readonly faults: Faults };

/** The first draft of a form: the defaults of the schema. */
export function initialDraft(field: Field, given: Json | undefined = field.initial): Draft {
  if (field.kind === "group") {
    const inner = isRecord(given) ? given : {};
    const drafts = field.fields.map((one) => initialDraft(one, inner[one.name] ?? one.initial));
    return Object.assign({}, ...drafts) as Draft; // each is one
  }
  if (given === undefined || given === null || field.kind === "constant") return {};
  switch (field.kind) {
    case "choice":
      return { [field.key]: positionsOf(field.options, [given]) };
    case "choices":
      return { [field.key]: positionsOf(field.options, Array.isArray(given) ? given : []) };
    case "json":
      return { [field.key]: JSON.stringify(given, null, 2) };
    case "number":
    case "text":
      return { [field.key]: typeof given === "object" ? JSON.stringify(given) : String(given) };
  }
}

/** The value of a draft, or all of its faults. */
export function readDraft(field: Field, draft: Draft): ReadDraft {
  const faults: Record<string, string> = {};
  const value = valueOf(field, draft, faults);
  return Object.keys(faults).length === 0 ? { ok: true, value } : { ok: false, faults };
}

function valueOf(field: Field, draft: Draft, faults: Record<string, string>): Json | undefined {
  if (field.kind === "constant") return field.value;
  if (field.kind === "group") {
    // An empty optional object is left out, with its required fields.
    if (!field.isRequired && !isTouched(field, draft)) return undefined;
    const entries = field.fields.map((one) => [one.name, valueOf(one, draft, faults)] as const);
    return Object.fromEntries(entries.filter((entry) => entry[1] !== undefined)) as Json; // undefined is out
  }
  const read = leafOf(field, draft[field.key]);
  if (read.fault !== undefined) faults[field.key] = read.fault;
  return read.value;
}

interface Leaf {
  readonly value?: Json;
  readonly fault?: string;
}

type LeafField = Exclude<Field, { readonly kind: "group" | "constant" }>;

function leafOf(field: LeafField, entered: Draft[string] | undefined): Leaf {
  if (field.kind === "choices") return choices(field, Array.isArray(entered) ? entered : []);
  const isEmpty = entered === undefined || entered.length === 0;
  if (isEmpty) return empty(field);
  if (field.kind === "choice") {
    const option = field.options[Number(entered[0])];
    return option === undefined ? empty(field) : { value: option.value };
  }
  const typed = String(entered);
  if (field.kind === "number") return numeric(field, typed.trim());
  return field.kind === "json" ? json(typed) : textual(field, typed);
}

function empty(field: LeafField): Leaf {
  if (!field.isRequired) return {};
  if (field.isNullable) return { value: null };
  if (field.kind === "text" && field.minLength === 0 && field.format === "") return { value: "" };
  return { fault: field.kind === "choice" ? "Choose one." : "Fill this in." };
}

function choices(field: LeafField & { readonly kind: "choices" }, chosen: readonly number[]): Leaf {
  const { minItems, maxItems, isRequired, isNullable } = field;
  if (chosen.length === 0 && !isRequired) return {};
  if (chosen.length === 0 && isNullable && minItems > 0) return { value: null };
  if (chosen.length < minItems) return { fault: `Choose at least ${minItems}.` };
  if (maxItems !== undefined && chosen.length > maxItems)
    return { fault: `Choose at most ${maxItems}.` };
  const ordered = chosen.toSorted((one, other) => one - other);
  return { value: ordered.flatMap((index) => field.options[index]?.value ?? []) };
}

function textual(field: LeafField & { readonly kind: "text" }, typed: string): Leaf {
  const { length } = Array.from(typed); // JSON Schema counts code points
  if (length < field.minLength)
    return { fault: `Write at least ${field.minLength} characters; these are ${length}.` };
  if (field.maxLength !== undefined && length > field.maxLength)
    return { fault: `Write at most ${field.maxLength} characters; these are ${length}.` };
  if (field.format !== "date-time") return { value: typed };
  const at = Date.parse(typed);
  return Number.isNaN(at)
    ? { fault: "Give a date and a time." }
    : { value: new Date(at).toISOString() };
}

function numeric(field: LeafField & { readonly kind: "number" }, typed: string): Leaf {
  const value = Number(typed);
  if (typed === "" || !Number.isFinite(value)) return { fault: "Write a number." };
  if (field.isInteger && !Number.isInteger(value)) return { fault: "Write a whole number." };
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    return { fault: "This number is too large to be exact." };
  const { min, max, isMinOut, isMaxOut, step } = field;
  if (min !== undefined && (isMinOut ? value <= min : value < min))
    return { fault: isMinOut ? `Must be more than ${min}.` : `Must be at least ${min}.` };
  if (max !== undefined && (isMaxOut ? value >= max : value > max))
    return { fault: isMaxOut ? `Must be less than ${max}.` : `Must be at most ${max}.` };
  // The server's validator makes the same check: the quotient is a whole number.
  if (step !== undefined && !Number.isInteger(value / step))
    return { fault: `Must be a multiple of ${step}.` };
  return { value };
}

function json(typed: string): Leaf {
  try {
    return { value: JSON.parse(typed) as Json }; // JSON is what parse gives
  } catch {
    return { fault: 'Write JSON, such as {"amount": 5}.' };
  }
}

/** Whether a field of a group was filled in. */
const isTouched = (field: Field, draft: Draft): boolean =>
  field.kind === "group"
    ? field.fields.some((one) => isTouched(one, draft))
    : (draft[field.key]?.length ?? 0) > 0;

const positionsOf = (options: readonly Option[], values: readonly Json[]): number[] =>
  options.flatMap(({ value }, index) =>
    values.some((one) => JSON.stringify(one) === JSON.stringify(value)) ? [index] : [],
  );

const isRecord = (value: Json | undefined): value is { readonly [key: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The name of the whole response on the wire. */
const ROOT = "response_json";
const MISSING = /required property '([^']*)'/;

/** Places each violation at the nearest field of the form. `others` are those that belong to no field. */
export function placeViolations(field: Field, violations: readonly Violation[]) {
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

/** The server reports a missing property at its object. The form shows it at the field. */
function keyOf(path: string, message: string): string {
  const missing = MISSING.exec(message)?.[1];
  const key = path.slice(ROOT.length);
  return missing === undefined ? key : `${key}.${missing}`;
}

/** The field of a key, or the field around it. The form shows a fault of an item at its list. */
function nearest(keys: ReadonlySet<string>, key: string): string | undefined {
  for (let at = key; ; at = at.slice(0, Math.max(at.lastIndexOf("."), at.lastIndexOf("[")))) {
    if (keys.has(at)) return at;
    if (!/[.[]/.test(at)) return undefined;
  }
}

const keysOf = (field: Field): ReadonlySet<string> =>
  new Set(field.kind === "group" ? field.fields.flatMap((one) => [...keysOf(one)]) : [field.key]);
