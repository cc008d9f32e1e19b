// Merges a change into a JSON object, as RFC 7396 says: objects merge key by key, null deletes a key, any other value replaces.

import { isRecord } from "./path.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

/** The object after the change. Neither of the two is changed. */
export function mergePatch(target: JsonObject, patch: JsonObject): JsonObject {
  const merged = new Map(Object.entries(target));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else if (isRecord(value)) merged.set(key, mergePatch(recordAt(merged.get(key)), value));
    else merged.set(key, value);
  }
  // Object.fromEntries makes own properties, also of a key such as __proto__.
  return Object.fromEntries(merged);
}

const recordAt = (value: unknown): JsonObject => (isRecord(value) ? value : {});
