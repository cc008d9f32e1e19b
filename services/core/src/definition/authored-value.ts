// The schema of a value that an author writes. A literal is itself. A template that is the whole text has the type of the value that it
// names. A text that contains templates is a text.

import { isRecord, type PathStep } from "../data/path.ts";
import { LOOP_ROOTS } from "../data/scope.ts";
import { compileTemplate } from "../data/template.ts";
import { embed, type Place, type Schema, UNKNOWN } from "../schema/schema.ts";

/** The type of the value that a template names. */
export type TypeOfPath = (path: readonly PathStep[]) => Place;

/** The schema of an authored value; the reader of the definition has bounded its depth. */
export function authoredSchema(value: unknown, typeOf: TypeOfPath): Schema {
  if (typeof value === "string") return textSchema(value, typeOf);
  if (Array.isArray(value)) {
    const prefixItems = value.map((item: unknown) => authoredSchema(item, typeOf));
    const { length } = value;
    return { type: "array", prefixItems, items: false, minItems: length, maxItems: length };
  }
  if (!isRecord(value)) return { const: value };
  const parts = Object.entries(value).map(([key, item]) => [key, authoredSchema(item, typeOf)]);
  return closedObject(Object.fromEntries(parts));
}

/** An object that has exactly these properties. */
export const closedObject = (properties: Readonly<Record<string, Schema>>): Schema => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

function textSchema(text: string, typeOf: TypeOfPath): Schema {
  const compiled = compileTemplate(text, LOOP_ROOTS);
  if (!compiled.ok) return embed(UNKNOWN);
  const [first = ""] = compiled.parts;
  if (compiled.parts.length <= 1)
    return typeof first === "string" ? { const: first } : embed(typeOf(first));
  return { type: "string" };
}
