// Rules between a definition and the schemas that handlers publish: configs, inputs and labelled edges fit their types, and templates name
// values that outputs have. What cannot work is an error, what may fail is a warning, and what is not known is neither.

import { isRecord, parsePath, type PathStep, pathText } from "../data/path.ts";
import { assignablePlace } from "../schema/assignable.ts";
import {
  embed,
  placeAt,
  type Place,
  rootPlace,
  type Schema,
  schemaOf,
  UNKNOWN,
} from "../schema/schema.ts";
import { toolsIn } from "./agent-tools.ts";
import { authoredSchema, closedObject, type TypeOfPath } from "./authored-value.ts";
import { records } from "./graph-rules.ts";
import { missing, outputWords } from "./missing-output.ts";
import { bodyIn, bodyTypes, itemsOf, listOf, ownPath } from "./item-types.ts";
import type { KnownTypes } from "./known-types.ts";
import { templatePaths, type TemplatePath } from "./template-paths.ts";
import type { IndexedEdge, Inputs, Owner, Raw, Reports, Value } from "./type-check-parts.ts";
import { ValueTypes } from "./value-types.ts";
import { excerpt, violationPath } from "./violation.ts";

/** Comparisons of one definition, and of one of its values: a large one takes about a second. */
const STEPS_MAX = 200_000;
const STEPS_EACH_MAX = 20_000;
/** A body is read again for each literal item, which counts too. */
const CHARACTERS_PER_STEP = 64;

/** Reports every misfit between the nodes of a raw definition and the published schemas. The definition broke no other rule. */
export function checkTypes(raw: unknown, schemas: KnownTypes["schemas"], reports: Reports): void {
  if (schemas.size === 0 && !(isRecord(raw) && "input_schema" in raw)) return;
  const check = new TypeCheck(raw, schemas, reports);
  check.run();
}

const textAt = (raw: Raw, key: string): string => {
  const value = raw[key];
  return typeof value === "string" ? value : "";
};

const isLoop = ({ edge }: IndexedEdge): boolean => edge["loop"] === true;

/** The input of a compensation that names none. */
const OWN_OUTPUT = "{{ ctx.output }}";

class TypeCheck {
  readonly #nodes: readonly Raw[];
  readonly #edges: readonly Raw[];
  readonly #schemas: KnownTypes["schemas"];
  readonly #reports: Reports;
  readonly #values: ValueTypes;
  #left = STEPS_MAX;

  constructor(raw: unknown, schemas: KnownTypes["schemas"], reports: Reports) {
    this.#nodes = records(raw, "nodes");
    this.#edges = records(raw, "edges");
    this.#schemas = schemas;
    this.#reports = reports;
    this.#values = new ValueTypes(raw, schemas);
  }

  run(): void {
    const incoming = Map.groupBy(
      this.#edges.map((edge, index) => ({ edge, index })),
      ({ edge }) => textAt(edge, "target"),
    );
    this.#nodes.forEach((node, index) => {
      const path = `nodes[${index}]`;
      const nodeId = textAt(node, "id");
      this.#checkReferences(node, path);
      const edges = incoming.get(nodeId) ?? [];
      const inputs = { bound: this.#boundParams(node, edges), isRoot: edges.every(isLoop) };
      const typeOf = this.#values.typesFor(node);
      this.#checkOwner({ raw: node, nodeId, path, typeOf }, inputs);
      this.#checkBody(node, path, inputs);
      this.#checkTools(node, path);
      this.#checkCompensation(node, path);
    });
  }

  /** A compensation reads the output of its node, or of an iteration, as `ctx.output`. */
  #checkCompensation(node: Raw, path: string): void {
    const { compensation: raw } = node;
    if (!isRecord(raw)) return;
    const done = bodyIn(node) ?? node;
    const nodeId = textAt(node, "id");
    const output = this.#values.outputOf(done);
    const typeOf: TypeOfPath = (named) => {
      if (named[1] !== "output") return this.#values.typesFor({})(named);
      const found = placeAt(output, named.slice(2));
      return found.found === "no" ? UNKNOWN : found.place;
    };
    const owner = { raw: { input: OWN_OUTPUT, ...raw }, nodeId, path: `${path}.compensation` };
    this.#checkOwner({ ...owner, typeOf }, { bound: new Map(), isRoot: false });
    for (const { at, named } of templatePaths(raw, owner.path)) {
      if (named[1] !== "output") continue;
      const found = placeAt(output, named.slice(2));
      if (found.found !== "no") continue;
      const message = `${outputWords({ ...done, id: nodeId })} has no ${missing(found)}`;
      this.#reports.error(at, "NO_SUCH_OUTPUT", message, nodeId);
    }
  }

  #checkOwner(owner: Owner, inputs: Inputs): void {
    this.#checkConfig(owner);
    this.#checkInput(owner, inputs);
  }

  /** The body of a map or a loop: first without its items, then with each of them. A misfit is reported once. */
  #checkBody(node: Raw, path: string, inputs: Inputs): void {
    const body = bodyIn(node);
    const { config } = node;
    if (body === undefined || !isRecord(config)) return;
    const nodeId = textAt(node, "id");
    const typeOf = this.#values.typesFor(node);
    if (config["items"] !== undefined)
      this.#compare({
        source: embed(listOf(config["items"], typeOf)),
        target: { type: "array" },
        nodeId,
        at: () => `${path}.config.items`,
        what: `the items of a ${textAt(node, "type")}`,
      });
    const owner = { raw: body, nodeId, path: `${path}.config.body` };
    const known = new Set<string>();
    this.#checkOwner({ ...owner, typeOf: bodyTypes(UNKNOWN, typeOf), known }, inputs);
    const named = templatePaths(body, owner.path).filter(
      (each) => ownPath(each.named) !== undefined,
    );
    if (named.length === 0) return;
    const cost = Math.ceil(JSON.stringify(body).length / CHARACTERS_PER_STEP);
    for (const { place, at } of itemsOf(config, `${path}.config`, typeOf)) {
      this.#left -= cost;
      if (this.#left <= 0) return;
      this.#checkItem(node, place, named, at);
      const types = { typeOf: bodyTypes(place, typeOf), known };
      this.#checkOwner({ ...owner, ...types, ...(at === undefined ? {} : { item: at }) }, inputs);
    }
  }

  /** The tools of an agent: the arguments of a call are the item. */
  #checkTools(node: Raw, path: string): void {
    if (node["type"] !== "agent") return;
    const nodeId = textAt(node, "id");
    const typeOf = this.#values.typesFor(node);
    for (const tool of toolsIn(node["config"], `${path}.config`)) {
      const { raw, path: at } = tool;
      const { input_schema: schema } = raw;
      const item = schema === undefined ? UNKNOWN : rootPlace(schemaOf(schema));
      const named = templatePaths({ ...tool }, at).filter(
        (each) => ownPath(each.named) !== undefined,
      );
      this.#checkItem(node, item, named);
      const owner = { raw: { ...tool }, nodeId, path: at, typeOf: bodyTypes(item, typeOf) };
      this.#checkOwner(owner, { bound: new Map(), isRoot: false });
    }
  }

  /** Templates of a body that name a value that the item never has. */
  #checkItem(node: Raw, item: Place, named: readonly TemplatePath[], place?: string): void {
    if (node["on_parent_failure"] === "substitute_default") return;
    for (const { at, named: path } of named) {
      const own = ownPath(path);
      if (own?.[0] !== "item") continue;
      const found = placeAt(item, own.slice(1));
      if (found.found !== "no") continue;
      const message = `${place === undefined ? "an item" : "this item"} has no ${missing(found)}`;
      this.#reports.error(place ?? at, "NO_SUCH_OUTPUT", message, textAt(node, "id"));
    }
  }

  /** A template that names a value that an output never has. */
  #checkReferences(node: Raw, path: string): void {
    // Such a node runs with an empty text where there is no value.
    if (node["on_parent_failure"] === "substitute_default") return;
    const nodeId = textAt(node, "id");
    const isScope = bodyIn(node) !== undefined || node["type"] === "agent";
    for (const { at, named } of templatePaths(node, path)) {
      if (isScope && ownPath(named) !== undefined) continue;
      const { place, rest, whose } = this.#values.sourceOf(named);
      const found = placeAt(place, named.slice(rest));
      if (found.found !== "no") continue;
      this.#reports.error(at, "NO_SUCH_OUTPUT", `${whose} has no ${missing(found)}`, nodeId);
    }
  }

  #checkConfig(owner: Owner): void {
    const type = textAt(owner.raw, "type");
    const target = this.#schemas.get(type)?.config ?? null;
    if (target === null) return;
    const source = authoredSchema(owner.raw["config"] ?? {}, owner.typeOf);
    const at = (misfit: readonly PathStep[]): string =>
      violationPath(misfit, `${owner.path}.config`);
    this.#compare({ ...owner, source, target, at, what: `the config of ${excerpt(type)}` });
  }

  /** The parameters that the edges of a node bind. */
  #boundParams(node: Raw, incoming: readonly IndexedEdge[]): Inputs["bound"] {
    const bound = new Map<string, { readonly index: number; readonly place: Place }>();
    for (const { edge, index } of incoming) {
      const label = textAt(edge, "target_param_label");
      if (label === "") continue;
      const place = this.#edgeType(edge, index, node);
      // Several values of one parameter are merged, into a type that the strategy decides.
      bound.set(label, { index, place: bound.has(label) ? UNKNOWN : place });
    }
    return bound;
  }

  /** The input of a handler: what the author wrote, and the parameters that edges bind. */
  #checkInput(owner: Owner, { bound, isRoot }: Inputs): void {
    const { raw, path, typeOf } = owner;
    const type = textAt(raw, "type");
    const target = this.#schemas.get(type)?.input ?? null;
    const { input } = raw;
    if (target === null) return;
    const what = `the input of ${excerpt(type)}`;
    // Without parents and without an input of its own, the node gets the input of the run.
    if (input === undefined && isRoot) {
      const source = embed(this.#values.runInput);
      return this.#compare({ ...owner, source, target, at: () => path, what });
    }
    const own = input ?? {};
    const written = authoredSchema(own, typeOf);
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
    this.#compare({ ...owner, source, target, at, what });
  }

  /** The type of the value that an edge brings. */
  #edgeType(edge: Raw, index: number, node: Raw): Place {
    const source = this.#values.node(textAt(edge, "source"));
    if (source === undefined || node["on_parent_failure"] === "substitute_default") return UNKNOWN;
    const key = textAt(edge, "source_output_key");
    if (key === "" || key === "output") return this.#values.outputOf(source);
    const parsed = parsePath(key);
    const found = placeAt(this.#values.outputOf(source), parsed.ok ? parsed.path : []);
    if (found.found !== "no") return found.place;
    const message = `${outputWords(source)} has no ${missing(found)}`;
    const at = `edges[${index}].source_output_key`;
    this.#reports.error(at, "NO_SUCH_OUTPUT", message, textAt(node, "id"));
    return UNKNOWN;
  }

  #compare({ source, target, nodeId, at, what, known, item }: Value): void {
    const steps = { left: Math.min(STEPS_EACH_MAX, this.#left) };
    const before = steps.left;
    const answer = assignablePlace(rootPlace(source), rootPlace(target), { steps });
    this.#left -= before - Math.max(0, steps.left);
    if (answer.verdict !== "no") return;
    for (const { path, reason, fit } of answer.misfits) {
      const place = path.length === 0 ? "it" : excerpt(pathText(path));
      const report = fit === "never" ? this.#reports.error : this.#reports.warning;
      const message = `does not fit ${what}: ${place} ${reason}`;
      const fault = `${at(path)} ${reason}`;
      if (known?.has(fault) === true) continue;
      // Another item may have the same fault, at a place of its own.
      if (item === undefined) known?.add(fault);
      report(item ?? at(path), "TYPE_MISMATCH", message, nodeId);
    }
  }
}
