// A definition as callers hold it, and as the server reads it.

import type { Json } from "./json.ts";

/** JSON or YAML text, or the definition as a value. */
export type DefinitionInput = string | { readonly [key: string]: Json };

/** The text the server parses. */
export const definitionText = (definition: DefinitionInput): string =>
  typeof definition === "string" ? definition : JSON.stringify(definition);
