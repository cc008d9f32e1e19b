// The details of a question as short facts, if they are few and flat. The functions are pure.

import type { Json } from "@pawl/client";

interface DetailFact {
  readonly name: string;
  readonly value: string;
}

const FACTS_MAX = 12;
const VALUE_LENGTH_MAX = 120;

/** The facts of an object, with inner names joined by `›`. Undefined if JSON is easier to read. */
export function detailFacts(details: Json | undefined): readonly DetailFact[] | undefined {
  const facts: DetailFact[] = [];
  const isFlat = gather(details, [], facts);
  return isFlat && facts.length > 0 && facts.length <= FACTS_MAX ? facts : undefined;
}

function gather(value: Json | undefined, path: readonly string[], into: DetailFact[]): boolean {
  if (typeof value === "object" && value !== null) {
    if (Array.isArray(value) || path.length > 2) return false;
    // The values of an object are JSON.
    const entries = Object.entries(value as Readonly<Record<string, Json>>);
    return (
      entries.length <= FACTS_MAX &&
      entries.every(([key, inner]) => gather(inner, [...path, key], into))
    );
  }
  if (path.length === 0 || value === undefined) return false;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  into.push({ name: path.join(" › "), value: text });
  return text.length <= VALUE_LENGTH_MAX;
}
