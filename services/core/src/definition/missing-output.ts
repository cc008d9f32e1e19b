// The words for a path into an output, or into an item, that leads nowhere.

import { nearestName } from "../name/nearest.ts";
import { excerpt } from "./violation.ts";

/** A step of a path that leads nowhere, and the names that are there. */
interface Missing {
  readonly step: string;
  readonly known: readonly string[];
}

/** Names the output of a node. */
export function outputWords(node: Readonly<Record<string, unknown>> | undefined): string {
  const [id, type] = [excerpt(String(node?.["id"])), excerpt(String(node?.["type"]))];
  return `the output of ${id} (${type})`;
}

/** The missing name, and the name that the author may have meant. */
export function missing({ step, known }: Missing): string {
  const meant = nearestName(step, known);
  const has = known.length === 0 ? "it is empty" : `it has ${excerpt(known.join(", "))}`;
  return `${excerpt(step)}; ${meant === undefined ? has : `did you mean ${excerpt(meant)}?`}`;
}
