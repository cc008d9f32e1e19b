// The schemas inside a contract, each with its path. An object is a schema only where JSON Schema expects one: an object under `enum`
// or `default` is a value.

import { isRecord } from "../data/path.ts";
import { SCHEMA_KEYWORDS } from "./contract-keywords.ts";

export interface Subschema {
  /** Keys from the root, for people. */
  readonly steps: readonly (string | number)[];
  /** The same as a JSON pointer, for `$ref`. */
  readonly pointer: string;
  readonly schema: unknown;
  /** The keyword that holds the schema. "" for the root. */
  readonly keyword: string;
  /** Index of the schema around it, in the order of this walk; -1 for the root. */
  readonly parent: number;
}

/** The schema and all schemas inside it, parents before children. The reader of the definition has bounded the depth. */
export function subschemas(root: unknown): Subschema[] {
  const found: Subschema[] = [{ steps: [], pointer: "", schema: root, keyword: "", parent: -1 }];
  for (let at = 0; at < found.length; at++) {
    const { schema, steps, pointer } = found[at] ?? { schema: true, steps: [], pointer: "" };
    if (!isRecord(schema)) continue;
    for (const [keyword, value] of Object.entries(schema)) {
      const kind = SCHEMA_KEYWORDS.get(keyword);
      const add = (child: unknown, key?: string | number): void => {
        const more = key === undefined ? [keyword] : [keyword, key];
        found.push({
          steps: [...steps, ...more],
          pointer: pointer + more.map((step) => `/${escaped(String(step))}`).join(""),
          schema: child,
          keyword,
          parent: at,
        });
      };
      if (kind === "one") add(value);
      else if (kind === "list" && Array.isArray(value))
        value.forEach((child: unknown, index) => add(child, index));
      else if (kind === "map" && isRecord(value))
        for (const [name, child] of Object.entries(value)) add(child, name);
    }
  }
  return found;
}

/** The patterns of one schema without its children, each with its path. */
export function patternsOf(
  schema: unknown,
): { readonly at: readonly string[]; readonly pattern: string }[] {
  if (!isRecord(schema)) return [];
  const { pattern, patternProperties } = schema;
  const named = isRecord(patternProperties) ? Object.keys(patternProperties) : [];
  return [
    ...(typeof pattern === "string" ? [{ at: ["pattern"], pattern }] : []),
    ...named.map((text) => ({ at: ["patternProperties", text], pattern: text })),
  ];
}

/** The pointer of a local reference, spelled as in `subschemas`; undefined for a reference that leaves the schema. */
export function localPointer(ref: string): string | undefined {
  if (ref !== "#" && !ref.startsWith("#/")) return undefined;
  try {
    return decodeURIComponent(ref.slice(1));
  } catch {
    return undefined;
  }
}

const escaped = (step: string): string => step.replaceAll("~", "~0").replaceAll("/", "~1");
