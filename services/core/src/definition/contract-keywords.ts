// The keywords of JSON Schema 2020-12 that a contract may use: the values each accepts, and the schemas inside it.

import { z } from "zod";

const count = z.int().min(0);
const names = z.array(z.string());
const simpleType = z.enum(["array", "boolean", "integer", "null", "number", "object", "string"]);

/** Keywords that hold plain values. */
export const VALUE_KEYWORDS: Readonly<Record<string, z.ZodType>> = {
  type: z.union([simpleType, z.array(simpleType).min(1)]),
  enum: z.array(z.unknown()).min(1),
  const: z.unknown(),
  multipleOf: z.number().gt(0),
  maximum: z.number(),
  exclusiveMaximum: z.number(),
  minimum: z.number(),
  exclusiveMinimum: z.number(),
  maxLength: count,
  minLength: count,
  pattern: z.string(),
  maxItems: count,
  minItems: count,
  uniqueItems: z.boolean(),
  maxContains: count,
  minContains: count,
  maxProperties: count,
  minProperties: count,
  required: names,
  dependentRequired: z.record(z.string(), names),
  format: z.string(),
  $ref: z.string(),
  $schema: z.string(),
  $id: z.string(),
  $comment: z.string(),
  title: z.string(),
  description: z.string(),
  default: z.unknown(),
  examples: z.array(z.unknown()),
  deprecated: z.boolean(),
  readOnly: z.boolean(),
  writeOnly: z.boolean(),
  contentEncoding: z.string(),
  contentMediaType: z.string(),
};

type Lead = "one" | "list" | "map";
const lead = (kind: Lead, ...keywords: readonly string[]): [string, Lead][] =>
  keywords.map((keyword) => [keyword, kind]);

/** The value of a keyword: one schema, a list of schemas, or schemas by name. */
export const SCHEMA_KEYWORDS: ReadonlyMap<string, Lead> = new Map([
  ...lead("one", "additionalProperties", "items", "contains", "propertyNames"),
  ...lead("one", "unevaluatedItems", "unevaluatedProperties", "contentSchema"),
  ...lead("one", "not", "if", "then", "else"),
  ...lead("list", "allOf", "anyOf", "oneOf", "prefixItems"),
  ...lead("map", "properties", "patternProperties", "dependentSchemas", "$defs", "definitions"),
]);

/** Keywords whose schemas apply to the same value as the schema around them: a cycle of these would never end. */
export const IN_PLACE: ReadonlySet<string> = new Set([
  "not",
  "if",
  "then",
  "else",
  "allOf",
  "anyOf",
  "oneOf",
  "dependentSchemas",
]);
