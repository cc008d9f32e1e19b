// Rules between a definition and the schemas that handlers publish: configs, inputs and labelled edges fit their types, and templates name
// values that outputs have. What cannot work is an error, what may fail is a warning, and what is not known is neither.

import { isRecord, parsePath, type PathStep, pathText } from "../data/path.ts";
import { nearestName } from "../name/nearest.ts";
import { assignablePlace } from "../schema/assignable.ts";
import { embed, placeAt, type Place, rootPlace, type Schema, UNKNOWN } from "../schema/schema.ts";
import { authoredSchema, closedObject } from "./authored-value.ts";
import { records } from "./graph-rules.ts";
import type { KnownTypes } from "./known-types.ts";
import { templatePaths } from "./template-paths.ts";
import { excerpt, violationPath, type Report } from "./violation.ts";

/** Comparisons of one definition, and of one of its values: a large one takes about a second. */
const STEPS_MAX = 200_000;
const STEPS_EACH_MAX = 20_000;

type Raw = Readonly<Record<string, unknown>>;

/** Takes broken rules. */
export interface Reports {
  readonly error: Report;
  readonly warning: Report;
}

/** Reports every misfit between the nodes of a raw definition and the published schemas. The definition broke no other rule. */
export function checkTypes(raw: unknown, schemas: KnownTypes["schemas"], reports: Reports): void {
  if (schemas.size === 0) return;
  const check = new TypeCheck(raw, schemas, reports);
  check.run();
}

const textAt = (raw: Raw, key: string): string => {
  const value = raw[key];
  return typeof value === "string" ? value : "";
};

interface Value {
  readonly source: Schema;
  readonly target: Schema;
  readonly nodeId: string;
  /** The place in the definition of a path into the value. */
  readonly at: (path: readonly PathStep[]) => string;
  /** Names the value, for people. */
  readonly what: string;
}

class TypeCheck {
  readonly #nodes: readonly Raw[];
  readonly #edges: readonly Raw[];
  readonly #schemas: KnownTypes["schemas"];
  readonly #reports: Reports;
  readonly #byId: ReadonlyMap<string, Raw>;
  readonly #byVariable: ReadonlyMap<string, Raw>;
  /** Nodes whose output may be an error instead. */
  readonly #fallible: ReadonlySet<string>;
  #left = STEPS_MAX;

  constructor(raw: unknown, schemas: KnownTypes["schemas"], reports: Reports) {
    this.#nodes = records(raw, "nodes");
    this.#edges = records(raw, "edges");
    this.#schemas = schemas;
    this.#reports = reports;
    this.#byId = new Map(this.#nodes.map((node) => [textAt(node, "id"), node]));
    this.#byVariable = new Map(
      this.#nodes.map((node) => [textAt(node, "output_variable"), node] as const),
    );
    this.#fallible = new Set([
      ...this.#nodes.flatMap((node) =>
        node["error_handling"] === "continue" ? [textAt(node, "id")] : [],
      ),
      ...this.#edges.flatMap((edge) =>
        edge["source_handle"] === "error" ? [textAt(edge, "source")] : [],
      ),
    ]);
  }

  run(): void {
    const incoming = Map.groupBy(
      this.#edges.map((edge, index) => ({ edge, index })),
      ({ edge }) => textAt(edge, "target"),
    );
    this.#nodes.forEach((node, index) => {
      const path = `nodes[${index}]`;
      this.#checkReferences(node, path);
      this.#checkConfig(node, textAt(node, "id"), node, path);
      const { config } = node;
      const body = isRecord(config) && isScope(node) ? config["body"] : undefined;
      if (isRecord(body)) this.#checkConfig(body, textAt(node, "id"), node, `${path}.config.body`);
      this.#checkInput(node, path, incoming.get(textAt(node, "id")) ?? []);
    });
  }

  /** The output of a node, if its type publishes one and the node cannot end in another way. */
  #outputOf(node: Raw | undefined): Place {
    if (node === undefined || this.#fallible.has(textAt(node, "id"))) return UNKNOWN;
    const output = this.#schemas.get(textAt(node, "type"))?.output ?? null;
    return output === null ? UNKNOWN : rootPlace(output);
  }

  /** The node whose output a path of a template begins with, and the path into that output. */
  #sourceOf(path: readonly PathStep[]): { readonly node: Raw | undefined; readonly rest: number } {
    if (path[0] !== "ctx") return { node: undefined, rest: 0 };
    if (path[1] === "nodes") return { node: this.#byId.get(String(path[2])), rest: 3 };
    return path[1] === "vars"
      ? { node: this.#byVariable.get(String(path[2])), rest: 3 }
      : { node: this.#byVariable.get(String(path[1])), rest: 2 };
  }

  readonly #typeOf = (path: readonly PathStep[]): Place => {
    const { node, rest } = this.#sourceOf(path);
    const found = placeAt(this.#outputOf(node), path.slice(rest));
    return found.found === "no" ? UNKNOWN : found.place;
  };

  /** A template that names a value that an output never has. */
  #checkReferences(node: Raw, path: string): void {
    // Such a node runs with an empty text where there is no value.
    if (node["on_parent_failure"] === "substitute_default") return;
    const nodeId = textAt(node, "id");
    for (const { at, named } of templatePaths(node, path)) {
      const { node: source, rest } = this.#sourceOf(named);
      const found = placeAt(this.#outputOf(source), named.slice(rest));
      if (found.found !== "no" || source === undefined) continue;
      this.#reports.error(at, "NO_SUCH_OUTPUT", noOutput(source, found), nodeId);
    }
  }

  #checkConfig(owner: Raw, nodeId: string, node: Raw, path: string): void {
    const type = textAt(owner, "type");
    const target = this.#schemas.get(type)?.config ?? null;
    if (target === null) return;
    const source = authoredSchema(owner["config"] ?? {}, this.#typesFor(node));
    const at = (misfit: readonly PathStep[]): string => violationPath(misfit, `${path}.config`);
    this.#compare({ source, target, nodeId, at, what: `the config of ${excerpt(type)}` });
  }

  #typesFor(node: Raw): (path: readonly PathStep[]) => Place {
    return node["on_parent_failure"] === "substitute_default" ? () => UNKNOWN : this.#typeOf;
  }

  /** The input of a node: what it writes, and the parameters that edges bind. */
  #checkInput(
    node: Raw,
    path: string,
    incoming: readonly { readonly edge: Raw; readonly index: number }[],
  ): void {
    const type = textAt(node, "type");
    const target = this.#schemas.get(type)?.input ?? null;
    const { input } = node;
    const bound = new Map<string, { readonly index: number; readonly place: Place }>();
    for (const { edge, index } of incoming) {
      const label = textAt(edge, "target_param_label");
      if (label === "") continue;
      const place = this.#edgeType(edge, index, node);
      // Several values of one parameter are merged, into a type that the strategy decides.
      bound.set(label, { index, place: bound.has(label) ? UNKNOWN : place });
    }
    // Without parents and without an input of its own, the node gets the input of the run.
    if (target === null || (input === undefined && incoming.length === 0)) return;
    const own = input ?? {};
    const written = authoredSchema(own, this.#typesFor(node));
    const properties = typeof written === "boolean" ? {} : written["properties"];
    const params = [...bound].map(([label, { place }]) => [label, embed(place)] as const);
    const source = isRecord(own)
      ? closedObject({
          ...(properties as Readonly<Record<string, Schema>>),
          ...Object.fromEntries(params),
        })
      : written;
    const at = (misfit: readonly PathStep[]): string => {
      const edge = bound.get(String(misfit[0]));
      if (edge !== undefined) return `edges[${edge.index}].target_param_label`;
      return input === undefined ? path : violationPath(misfit, `${path}.input`);
    };
    const nodeId = textAt(node, "id");
    this.#compare({ source, target, nodeId, at, what: `the input of ${excerpt(type)}` });
  }

  /** The type of the value that an edge brings. */
  #edgeType(edge: Raw, index: number, node: Raw): Place {
    const source = this.#byId.get(textAt(edge, "source"));
    if (source === undefined || node["on_parent_failure"] === "substitute_default") return UNKNOWN;
    const key = textAt(edge, "source_output_key");
    if (key === "" || key === "output") return this.#outputOf(source);
    const parsed = parsePath(key);
    const found = placeAt(this.#outputOf(source), parsed.ok ? parsed.path : []);
    if (found.found !== "no") return found.place;
    const message = noOutput(source, found);
    const at = `edges[${index}].source_output_key`;
    this.#reports.error(at, "NO_SUCH_OUTPUT", message, textAt(node, "id"));
    return UNKNOWN;
  }

  #compare({ source, target, nodeId, at, what }: Value): void {
    const steps = { left: Math.min(STEPS_EACH_MAX, this.#left) };
    const before = steps.left;
    const answer = assignablePlace(rootPlace(source), rootPlace(target), { steps });
    this.#left -= before - Math.max(0, steps.left);
    if (answer.verdict !== "no") return;
    for (const { path, reason, fit } of answer.misfits) {
      const place = path.length === 0 ? "it" : excerpt(pathText(path));
      const report = fit === "never" ? this.#reports.error : this.#reports.warning;
      report(at(path), "TYPE_MISMATCH", `does not fit ${what}: ${place} ${reason}`, nodeId);
    }
  }
}

const isScope = ({ type }: Raw): boolean => type === "map" || type === "loop";

function noOutput(
  source: Raw,
  { step, known }: { readonly step: string; readonly known: readonly string[] },
): string {
  const meant = nearestName(step, known);
  const hint =
    meant === undefined ? `it has ${excerpt(known.join(", "))}` : `did you mean ${excerpt(meant)}?`;
  const [id, type] = [excerpt(textAt(source, "id")), excerpt(textAt(source, "type"))];
  return `the output of ${id} (${type}) has no ${excerpt(step)}; ${hint}`;
}
