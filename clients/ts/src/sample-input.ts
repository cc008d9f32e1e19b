// The sample input of a workflow: the first of the `examples` in the input contract of its start node, where JSON Schema has a
// place for it. The command line, the console and `npm start` all take it from here.

import type { Json } from "./json.ts";

type Bag = Readonly<Record<string, unknown>>;

const bag = (value: unknown): Bag =>
  typeof value === "object" && value !== null ? (value as Bag) : {};

/** The sample; undefined where the definition has none, or is newer than this client. */
export function sampleInputOf(definition: unknown): Json | undefined {
  const { nodes } = bag(definition);
  const start = Array.isArray(nodes) ? nodes.map(bag).find(({ type }) => type === "start") : {};
  const { examples } = bag(bag(start?.["contracts"])["input"]);
  // A definition is JSON, so each of its parts is.
  return Array.isArray(examples) ? (examples as Json[])[0] : undefined;
}
