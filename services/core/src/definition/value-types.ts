// The types of the values that templates and edges of a definition name. The schemas of node types give the types of outputs. The
// definition's own schema gives the type of the run's input.

import { isRecord, type PathStep } from "../data/path.ts";
import { placeAt, type Place, rootPlace, schemaOf, UNKNOWN } from "../schema/schema.ts";
import type { TypeOfPath } from "./authored-value.ts";
import { records } from "./graph-rules.ts";
import type { KnownTypes } from "./known-types.ts";
import { outputWords } from "./missing-output.ts";

type Raw = Readonly<Record<string, unknown>>;

/** The value that a path of a template begins with. */
interface Source {
  readonly place: Place;
  /** Where the path into the value begins. */
  readonly rest: number;
  /** Names the value, for people. */
  readonly whose: string;
}

const RUN_INPUT = "the input of the run";

export class ValueTypes {
  /** The input of a run. */
  readonly runInput: Place;
  readonly #schemas: KnownTypes["schemas"];
  readonly #byId: ReadonlyMap<unknown, Raw>;
  readonly #byVariable: ReadonlyMap<unknown, Raw>;
  /** Nodes whose output may be an error instead. */
  readonly #fallible: ReadonlySet<unknown>;

  constructor(raw: unknown, schemas: KnownTypes["schemas"]) {
    const nodes = records(raw, "nodes");
    const inputSchema = isRecord(raw) ? raw["input_schema"] : undefined;
    this.runInput = inputSchema === undefined ? UNKNOWN : rootPlace(schemaOf(inputSchema));
    this.#schemas = schemas;
    this.#byId = new Map(nodes.map((node) => [node["id"], node]));
    this.#byVariable = new Map(nodes.map((node) => [node["output_variable"], node]));
    this.#fallible = new Set([
      ...nodes.flatMap((node) => (node["error_handling"] === "continue" ? [node["id"]] : [])),
      ...records(raw, "edges").flatMap((edge) =>
        edge["source_handle"] === "error" ? [edge["source"]] : [],
      ),
    ]);
  }

  node(id: string): Raw | undefined {
    return this.#byId.get(id);
  }

  /** The output of a node, if its type publishes one and the node cannot end in another way. */
  outputOf(node: Raw | undefined): Place {
    if (node === undefined || this.#fallible.has(node["id"])) return UNKNOWN;
    const output = this.#schemas.get(String(node["type"]))?.output ?? null;
    return output === null ? UNKNOWN : rootPlace(output);
  }

  /** The value that a path of a template begins with: an output, or the input of the run. `rest` is where the path into it begins. */
  sourceOf(path: readonly PathStep[]): Source {
    if (path[0] !== "ctx") return { place: UNKNOWN, rest: 0, whose: "" };
    if (path[1] === "input") return { place: this.runInput, rest: 2, whose: RUN_INPUT };
    const rest = path[1] === "nodes" || path[1] === "vars" ? 3 : 2;
    const name = String(path[rest - 1]);
    const node = path[1] === "nodes" ? this.#byId.get(name) : this.#byVariable.get(name);
    return { place: this.outputOf(node), rest, whose: outputWords(node) };
  }

  readonly #typeOf: TypeOfPath = (path) => {
    const { place, rest } = this.sourceOf(path);
    const found = placeAt(place, path.slice(rest));
    return found.found === "no" ? UNKNOWN : found.place;
  };

  /** The types of what a node reads. If a parent may be replaced by an empty text, no type is known. */
  typesFor(node: Raw): TypeOfPath {
    return node["on_parent_failure"] === "substitute_default" ? () => UNKNOWN : this.#typeOf;
  }
}
