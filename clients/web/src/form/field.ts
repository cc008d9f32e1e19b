// Reads a JSON Schema as fields that people can fill in. It is pure. A shape that no field fits becomes a text area for JSON, so a person
// can answer every schema. The server checks the answer against the whole schema.

import type { Json } from "@pawl/client";

interface Base {
  /** The path from the response, as the server writes it in violations: `.amount`, `.address.street`, "" for the whole. */
  readonly key: string;
  /** The name in its object. "" for the whole. */
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  readonly isRequired: boolean;
  /** Whether an empty required field means null. */
  readonly isNullable: boolean;
  readonly initial: Json | undefined;
}

export interface Option {
  readonly value: Json;
  readonly label: string;
}

export type Field = Base &
  (
    | {
        readonly kind: "text";
        readonly format: string;
        readonly minLength: number;
        readonly maxLength: number | undefined;
      }
    | {
        readonly kind: "number";
        readonly isInteger: boolean;
        readonly min: number | undefined;
        readonly max: number | undefined;
        /** Whether the values of `min` and `max` themselves are excluded. */
        readonly isMinOut: boolean;
        readonly isMaxOut: boolean;
        readonly step: number | undefined;
      }
    | { readonly kind: "choice"; readonly options: readonly Option[] }
    | {
        readonly kind: "choices";
        readonly options: readonly Option[];
        readonly minItems: number;
        readonly maxItems: number | undefined;
      }
    | { readonly kind: "constant"; readonly value: Json }
    | { readonly kind: "group"; readonly fields: readonly Field[] }
    | { readonly kind: "json" }
  );

type Schema = Readonly<Record<string, unknown>>;

/** Deeper groups and longer chains of references become JSON. */
const DEPTH_MAX = 6;
const OPTIONS_MAX = 100;
const FIELDS_MAX = 60;

const isObject = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const text = (value: unknown): string => (typeof value === "string" ? value : "");
const number = (value: unknown): number | undefined =>
  typeof value === "number" ? value : undefined;
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The field, or group of fields, for a whole response. `schema` is undefined when every response is valid. */
export function readField(schema: unknown): Field {
  const isWanted = schema !== undefined && schema !== true;
  return fieldOf({ root: schema, schema, key: "", name: "", isRequired: isWanted, depth: 0 });
}

interface Place {
  readonly root: unknown;
  readonly schema: unknown;
  readonly key: string;
  readonly name: string;
  readonly isRequired: boolean;
  readonly depth: number;
}

function fieldOf(place: Place): Field {
  const schema = resolved(place.root, place.schema);
  const { key, name, isRequired } = place;
  const types = typesOf(schema);
  const base: Base = {
    key,
    name,
    label: text(schema["title"]) || (name === "" ? "Response" : labelOf(name)),
    hint: text(schema["description"]),
    isRequired,
    isNullable: types.includes("null"),
    initial: schema["default"] as Json | undefined, // a schema is JSON
  };
  if ("const" in schema) return { ...base, kind: "constant", value: schema["const"] as Json }; // as above
  const options = optionsOf(place.root, schema);
  if (options !== undefined) return { ...base, kind: "choice", options };
  const [type, ...more] = types.filter((each) => each !== "null");
  const shape = type === undefined || more.length > 0 ? undefined : SHAPES[type];
  return shape?.(base, schema, place) ?? { ...base, kind: "json" };
}

type Shape = (base: Base, schema: Schema, place: Place) => Field | undefined;

const SHAPES: Readonly<Record<string, Shape>> = {
  string: (base, schema) => ({
    ...base,
    kind: "text",
    format: text(schema["format"]),
    minLength: number(schema["minLength"]) ?? 0,
    maxLength: number(schema["maxLength"]),
  }),
  number: numberField,
  integer: numberField,
  boolean: (base) => ({ ...base, kind: "choice", options: YES_NO }),
  array: (base, schema, { root }) => {
    const options = optionsOf(root, resolved(root, schema["items"]));
    if (options === undefined) return undefined;
    const minItems = number(schema["minItems"]) ?? 0;
    return { ...base, kind: "choices", options, minItems, maxItems: number(schema["maxItems"]) };
  },
  object: (base, schema, place) => {
    const properties = Object.entries(isObject(schema["properties"]) ? schema["properties"] : {});
    const isFlat = properties.length > 0 && properties.length <= FIELDS_MAX;
    if (!isFlat || place.depth >= DEPTH_MAX) return undefined;
    const required = list(schema["required"]);
    const fields = properties.map(([name, inner]) =>
      fieldOf({
        root: place.root,
        schema: inner,
        key: `${place.key}.${name}`,
        name,
        isRequired: required.includes(name),
        depth: place.depth + 1,
      }),
    );
    return { ...base, kind: "group", fields };
  },
};

const YES_NO: readonly Option[] = [
  { value: true, label: "Yes" },
  { value: false, label: "No" },
];

function numberField(base: Base, schema: Schema): Field {
  const above = number(schema["exclusiveMinimum"]);
  const below = number(schema["exclusiveMaximum"]);
  const isInteger = schema["type"] === "integer" || list(schema["type"]).includes("integer");
  return {
    ...base,
    kind: "number",
    isInteger,
    min: above ?? number(schema["minimum"]),
    max: below ?? number(schema["maximum"]),
    isMinOut: above !== undefined,
    isMaxOut: below !== undefined,
    step: number(schema["multipleOf"]),
  };
}

/** The options of an enum or of a list of constants with titles. Undefined for any other schema. */
function optionsOf(root: unknown, schema: Schema): readonly Option[] | undefined {
  const values = list(schema["enum"]).map((value) => optionOf(value, ""));
  const titled = [...list(schema["oneOf"]), ...list(schema["anyOf"])].map((one) =>
    resolved(root, one),
  );
  const isTitled = titled.length > 0 && titled.every((one) => "const" in one);
  const options = isTitled
    ? titled.map((one) => optionOf(one["const"], text(one["title"])))
    : values;
  return options.length > 0 && options.length <= OPTIONS_MAX ? options : undefined;
}

const optionOf = (value: unknown, title: string): Option => ({
  value: value as Json, // a schema is JSON
  label: title || (typeof value === "string" ? value : JSON.stringify(value)),
});

function typesOf(schema: Schema): readonly string[] {
  const { type } = schema;
  if (typeof type === "string") return [type];
  if (Array.isArray(type)) return type.map(text);
  return isObject(schema["properties"]) ? ["object"] : [];
}

/** A schema with its references within the document resolved. An empty schema, which means JSON, when they are broken. */
function resolved(root: unknown, schema: unknown): Schema {
  let at = schema;
  for (let depth = 0; depth < DEPTH_MAX; depth++) {
    if (!isObject(at)) return {};
    const reference = at["$ref"];
    if (typeof reference !== "string") return at;
    at = pointed(root, reference);
  }
  return {};
}

function pointed(root: unknown, reference: string): unknown {
  if (!reference.startsWith("#")) return undefined;
  const parts = reference
    .slice(1)
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  return parts.reduce<unknown>((at, part) => (isObject(at) ? at[part] : undefined), root);
}

/** `unit_price` and `unitPrice` become `Unit price`. */
function labelOf(name: string): string {
  const words = name.replaceAll(/[_-]+/g, " ").replaceAll(/([a-z])([A-Z])/g, "$1 $2");
  return words.charAt(0).toUpperCase() + words.slice(1).toLowerCase();
}
