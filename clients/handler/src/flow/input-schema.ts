// The schema of a run's input, as a definition may hold it. The scheduler runs its patterns in linear time and takes only keywords of JSON
// Schema. A pattern or a keyword that it would refuse is left out: handlers still check their own inputs.

import { compilePattern, patternFault } from "@pawl/core/data/pattern";
import { SCHEMA_KEYWORDS, VALUE_KEYWORDS } from "@pawl/core/definition/contract-keywords";
import { publishedFault } from "@pawl/core/definition/contract-rules";
import { subschemas } from "@pawl/core/definition/contract-tree";
import { schemaText, type StandardSchema } from "@pawl/core/handler/standard-schema";

/** The JSON Schema; undefined if the library writes none, or none that the scheduler takes. */
export function inputSchemaOf(schema: StandardSchema | undefined): unknown {
  const { text } = schemaText(schema, "input");
  if (text === "") return undefined;
  const root: unknown = JSON.parse(text);
  for (const { schema: part } of subschemas(root)) if (isObject(part)) prune(part);
  return publishedFault(root) === undefined ? root : undefined;
}

function prune(part: Record<string, unknown>): void {
  for (const [keyword, value] of Object.entries(part)) {
    const isKnown = Object.hasOwn(VALUE_KEYWORDS, keyword) || SCHEMA_KEYWORDS.has(keyword);
    if (!isKnown || keyword === "$schema") delete part[keyword];
    if (keyword === "pattern" && !isTaken(String(value))) delete part[keyword];
    if (keyword === "patternProperties" && isObject(value))
      for (const pattern of Object.keys(value)) if (!isTaken(pattern)) delete value[pattern];
  }
}

const isTaken = (pattern: string): boolean =>
  compilePattern(pattern).ok && patternFault(pattern) === undefined;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
