// A JSON Schema (2020-12) with the document that its references name.

import { isRecord, type PathStep } from "../data/path.ts";

/** A schema as published: true, false or an object. */
export type Schema = boolean | Readonly<Record<string, unknown>>;
type Keywords = Readonly<Record<string, unknown>>;

/** A schema and the document around it. */
export interface Place {
  readonly schema: Schema;
  readonly root: Schema;
}

/** Keywords that allow every value. A keyword that JSON Schema does not have counts as one of them. */
const CONSTRAINTS: ReadonlySet<string> = new Set([
  ...["type", "enum", "const", "allOf", "anyOf", "oneOf", "not", "if", "$ref", "$dynamicRef"],
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  ...["minLength", "maxLength", "pattern", "format"],
  ...["items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"],
  ...["properties", "required", "additionalProperties", "patternProperties", "propertyNames"],
  ...["minProperties", "maxProperties", "dependentRequired", "dependentSchemas"],
  ...["unevaluatedItems", "unevaluatedProperties"],
]);

/** A place without a known schema. All comparisons with it are unknown. */
export const UNKNOWN: Place = { schema: { "x-unknown": true }, root: true };

/** The place at the top of a document. */
export const rootPlace = (schema: Schema): Place => ({ schema, root: schema });

/** References followed in one place. A longer chain counts as unknown. */
const REFS_MAX = 16;

/** A part of a composed schema that comes from another document, and keeps that document for its references. */
const EMBEDDED = Symbol("embedded");

/** A place as a part of a schema that the caller composes. */
export const embed = (place: Place): Schema => {
  const holder: Record<PropertyKey, unknown> = { "x-embedded": true };
  holder[EMBEDDED] = place;
  return holder;
};

/** The schema behind references, embedded documents and lists of one schema. `UNKNOWN` if a reference cannot be followed. */
export function resolve(start: Place): Place {
  let place = start;
  for (let steps = 0; steps < REFS_MAX; steps++) {
    const next = followed(place);
    if (next === place) return place;
    place = next;
  }
  return UNKNOWN;
}

function followed(place: Place): Place {
  const { schema, root } = place;
  if (typeof schema === "boolean") return place;
  const embedded = (schema as Readonly<Record<PropertyKey, unknown>>)[EMBEDDED];
  if (embedded !== undefined) return embedded as Place;
  const only = soleConstraint(schema);
  if (only === "$ref") return referenced(schema["$ref"], root);
  if (only === "allOf" || only === "anyOf" || only === "oneOf") {
    const list = schema[only];
    if (Array.isArray(list) && list.length === 1) return { schema: schemaOf(list[0]), root };
  }
  return place;
}

/** The only keyword of a schema that constrains values. */
function soleConstraint(schema: Keywords): string | undefined {
  const used = constraintsOf(schema);
  return used.length === 1 ? used[0] : undefined;
}

/** The keywords of a schema that constrain values. */
export const constraintsOf = (schema: Keywords): string[] =>
  Object.keys(schema).filter((key) => CONSTRAINTS.has(key) && !isTrivial(key, schema[key]));

/** A rule that allows every property name, because every name is a text. */
const isTrivial = (key: string, value: unknown): boolean =>
  key === "propertyNames" && isRecord(value) && soleConstraint(value) === "type"
    ? value["type"] === "string"
    : false;

function referenced(ref: unknown, root: Schema): Place {
  if (ref === "#") return rootPlace(root);
  if (typeof ref !== "string" || !ref.startsWith("#/")) return UNKNOWN;
  let at: unknown = root;
  for (const raw of ref.slice(2).split("/")) {
    const step = unescaped(raw);
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, step)) return UNKNOWN;
    at = (at as Keywords)[step];
  }
  return typeof at === "boolean" || isRecord(at) ? { schema: at, root } : UNKNOWN;
}

function unescaped(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return step;
  }
}

/** The value as a schema. A value that is no schema counts as unknown. */
export const schemaOf = (value: unknown): Schema =>
  typeof value === "boolean" || isRecord(value) ? value : UNKNOWN.schema;

/** True for a place of which nothing is known. */
export const isUnknown = ({ schema }: Place): boolean => schema === UNKNOWN.schema;

/** True for a schema that allows every value. */
export const allowsAll = (place: Place): boolean =>
  !isUnknown(place) &&
  (place.schema === true ||
    (typeof place.schema !== "boolean" && constraintsOf(place.schema).length === 0));

/** The properties of an object schema. */
export function propertiesOf(schema: Keywords): Readonly<Record<string, unknown>> {
  const { properties } = schema;
  return isRecord(properties) ? properties : {};
}

/** The names that an object must have. */
export const requiredOf = (schema: Keywords): ReadonlySet<string> =>
  new Set(
    Array.isArray(schema["required"])
      ? schema["required"].filter((name): name is string => typeof name === "string")
      : [],
  );

type Found =
  | { readonly found: "yes" | "unknown"; readonly place: Place }
  /** The schema declares other properties there and not this one. */
  | { readonly found: "no"; readonly step: string; readonly known: readonly string[] };

/** The place that a path into a value leads to. */
export function placeAt(start: Place, path: readonly PathStep[]): Found {
  let place = resolve(start);
  for (const step of path) {
    const next = stepInto(place, step);
    if (next.found !== "yes") return next;
    place = resolve(next.place);
  }
  return { found: isUnknown(place) ? "unknown" : "yes", place };
}

function stepInto({ schema, root }: Place, step: PathStep): Found {
  const unknown: Found = { found: "unknown", place: UNKNOWN };
  if (typeof schema === "boolean") return unknown;
  const name = String(step);
  if (schema["type"] === "object") {
    const properties = propertiesOf(schema);
    if (Object.hasOwn(properties, name))
      return { found: "yes", place: { schema: schemaOf(properties[name]), root } };
    return isSilent(schema) || schema["patternProperties"] !== undefined
      ? unknown
      : { found: "no", step: name, known: Object.keys(properties) };
  }
  if (schema["type"] === "array" && /^\d{1,9}$/.test(name)) {
    const { prefixItems, items } = schema;
    const first: unknown = Array.isArray(prefixItems) ? prefixItems[Number(name)] : undefined;
    return first === undefined && items === undefined
      ? unknown
      : { found: "yes", place: { schema: schemaOf(first ?? items), root } };
  }
  return unknown;
}

/** Whether an object may have properties besides the declared ones, because its author did not exclude them. */
export function isSilent(schema: Keywords): boolean {
  const { additionalProperties: more, properties } = schema;
  return more === undefined ? properties === undefined : more !== false;
}
