// Reads the graph and the sample input of a canonical definition, without its schema. So it also draws a definition that is newer than this
// client.

import type { Json } from "./json.ts";

/** A node as drawn. */
export interface DrawnNode {
  readonly id: string;
  readonly type: string;
  readonly label: string;
  /** The handler's configuration as JSON text on several lines. */
  readonly config: string;
}

/** An edge as drawn. `handle` is "" for an edge that every handle takes. */
export interface DrawnEdge {
  readonly id: string;
  readonly source: string;
  readonly target: string;
  readonly handle: string;
  /** Present on an edge that leads back. */
  readonly loop?: true;
}

export interface DrawnGraph {
  readonly title: string;
  readonly nodes: readonly DrawnNode[];
  readonly edges: readonly DrawnEdge[];
}

type Bag = Readonly<Record<string, unknown>>;

const bag = (value: unknown): Bag =>
  typeof value === "object" && value !== null ? (value as Bag) : {};
const list = (value: unknown): readonly Bag[] => (Array.isArray(value) ? value.map(bag) : []);
const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** The graph of a definition. An empty graph when there is none. */
export function readGraph(definition: unknown): DrawnGraph {
  const root = bag(definition);
  const nodes = list(root["nodes"]).map((node) => ({
    id: text(node["id"]),
    type: text(node["type"]),
    label: text(node["label"]),
    config: JSON.stringify(bag(node["config"]), null, 2),
  }));
  const edges = list(root["edges"]).map((edge, index) => ({
    id: text(edge["id"]) || `edge-${index}`,
    source: text(edge["source"]),
    target: text(edge["target"]),
    handle: text(edge["source_handle"] ?? edge["sourceHandle"]),
    ...(edge["loop"] === true ? { loop: true as const } : {}),
  }));
  return { title: text(root["title"]), nodes, edges };
}

/** The sample input: the first of the `examples` in the input contract of the start node. Undefined if there is none. */
export function sampleInputOf(definition: unknown): Json | undefined {
  const start = list(bag(definition)["nodes"]).find(({ type }) => type === "start");
  const { examples } = bag(bag(start?.["contracts"])["input"]);
  // A definition is JSON, so each of its parts is.
  return Array.isArray(examples) ? (examples as Json[])[0] : undefined;
}
