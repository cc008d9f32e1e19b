// The graphs the benches run, of nodes that do nothing.

interface Shape {
  readonly nodes: readonly {
    readonly id: string;
    readonly type: string;
    readonly config?: object;
  }[];
  readonly edges: readonly { readonly source: string; readonly target: string }[];
}

const START = { id: "start", type: "start" };
const noop = (id: string) => ({ id, type: "noop" });

/** `length` nodes in a row. */
export function chainOf(length: number): Shape {
  const nodes = [START, ...Array.from({ length: length - 1 }, (_, index) => noop(`n${index + 1}`))];
  const edges = nodes.slice(1).map((node, index) => ({
    source: nodes[index]?.id ?? "",
    target: node.id,
  }));
  return { nodes, edges };
}

/** One node, `width` beside each other, one that joins them. */
export function fanOf(width: number): Shape {
  const middle = Array.from({ length: width }, (_, index) => noop(`m${index + 1}`));
  return {
    nodes: [START, ...middle, noop("join")],
    edges: middle.flatMap(({ id }) => [
      { source: "start", target: id },
      { source: id, target: "join" },
    ]),
  };
}

/** A map over `width` numbers. */
export function mapOf(width: number, parallelism: number): Shape {
  const items = Array.from({ length: width }, (_, index) => index);
  const config = { items, parallelism, body: { type: "noop" } };
  return {
    nodes: [START, { id: "each", type: "map", config }],
    edges: [{ source: "start", target: "each" }],
  };
}
