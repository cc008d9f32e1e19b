// The facts about node types for the check of a definition: the types that executors serve or have registered, and the schemas that their
// handlers published.

import { isRecord } from "../data/path.ts";
import type { Schema } from "../schema/schema.ts";

/** The schemas of a type. Null if its handler published none. */
export interface TypeSchemas {
  readonly input: Schema | null;
  readonly output: Schema | null;
  readonly config: Schema | null;
}

export interface KnownTypes {
  /** Types that connected executors serve now. */
  readonly served: ReadonlySet<string>;
  /** Types that an executor has ever registered. */
  readonly registered: ReadonlySet<string>;
  /** The schemas by type, for the types that the definition names. */
  readonly schemas: ReadonlyMap<string, TypeSchemas>;
}

/** Schemas as JSON text. Empty for none. */
interface SchemaTexts {
  readonly inputSchema: string;
  readonly outputSchema: string;
  readonly configSchema: string;
}

/** Schemas that were checked before they were stored. */
export const schemasIn = (texts: SchemaTexts): TypeSchemas => ({
  input: parsed(texts.inputSchema),
  output: parsed(texts.outputSchema),
  config: parsed(texts.configSchema),
});

function parsed(text: string): Schema | null {
  if (text === "") return null;
  const value: unknown = JSON.parse(text);
  return typeof value === "boolean" || isRecord(value) ? value : null;
}
