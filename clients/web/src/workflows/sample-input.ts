// The sample input of a workflow: the first of the `examples` in the input contract of its start node. A definition newer than
// this console, or one without a sample, gives none.

type Bag = Readonly<Record<string, unknown>>;

const bag = (value: unknown): Bag =>
  typeof value === "object" && value !== null ? (value as Bag) : {};

/** The sample as JSON text set out on lines; empty when there is none. */
export function sampleInput(definition: unknown): string {
  const { nodes } = bag(definition);
  const start = Array.isArray(nodes) ? nodes.map(bag).find(({ type }) => type === "start") : {};
  const { examples } = bag(bag(start?.["contracts"])["input"]);
  return Array.isArray(examples) && examples.length > 0 ? JSON.stringify(examples[0], null, 2) : "";
}
