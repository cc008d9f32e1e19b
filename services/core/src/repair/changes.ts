// The difference between two definitions, node by node. It names the fields that decide the result of a node. Other fields say when and
// how often the node runs: a change of them makes no result wrong.

import { canonicalJson } from "../definition/canonical.ts";
import type { Graph } from "../definition/graph.ts";
import type { NodeDefinition } from "../definition/shape.ts";
import { bindingsOf } from "../log/node-json.ts";

/** Fields that do not decide the result of a node. */
const IGNORED: ReadonlySet<string> = new Set([
  "id",
  "label",
  "ordinal",
  "late",
  "retry",
  "timeoutMs",
  "concurrency",
  "rate",
  "priority",
  "maxIterations",
]);

/** The fields of a node that differ between two graphs. Empty if both give the same result. Both graphs have the node. */
export function changedFields(
  before: readonly [Graph, number],
  after: readonly [Graph, number],
): readonly string[] {
  const [old, fresh] = [fieldsOf(...before), fieldsOf(...after)];
  return [...new Set([...old.keys(), ...fresh.keys()])].filter(
    (name) => old.get(name) !== fresh.get(name),
  );
}

/** Each field that decides the result, as text. The incoming edges are the field `edges`. */
function fieldsOf(graph: Graph, index: number): ReadonlyMap<string, string> {
  const definition = graph.nodes[index]?.definition;
  const fields = new Map([["edges", textOf(bindingsOf(graph, index))]]);
  for (const [name, value] of Object.entries(definition ?? {}))
    if (!IGNORED.has(name)) fields.set(name, textOf(name === "scope" ? bodyOf(value) : value));
  return fields;
}

/** The parts of a map or a loop that decide the result of an item. */
function bodyOf(scope: NodeDefinition["scope"]): unknown {
  if (scope === null) return null;
  const { type, config, errorHandling } = scope.body;
  return { type, config, errorHandling, until: scope.until, hasPrevious: scope.hasPrevious };
}

const textOf = (value: unknown): string =>
  canonicalJson(value instanceof Set ? [...value].map(String).toSorted() : (value ?? null));
