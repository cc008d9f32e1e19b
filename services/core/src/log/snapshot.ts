// Writes a run's state as text and reads it back: a cache of the fold up to a seq. The log stays the truth. If a reader does not understand
// a snapshot completely, it ignores the snapshot and folds the log from its beginning.
//
// The text is one line of JSON. After the line break come all longer strings in one piece. Outputs are JSON texts themselves: escaping them
// into JSON made the text 1.3 times as long and reading 3 times as slow. An execution is written as the fields that differ from a new one.
// Most of ten thousand iterations differ in eight of seventeen. The names of all fields are written too. A snapshot of a build with other
// fields has another shape, and the reader ignores it.

import type { Graph } from "../definition/graph.ts";
import type { RunId } from "../name/ids.ts";
import { newScopeState } from "./scope-state.ts";
import { newExecutionState, newNodeState, newRunState, type RunState } from "./state.ts";

/** Raise it when the fold gives a field another meaning. The reader finds new and lost fields by their names. */
export const SNAPSHOT_FORMAT = 4;

/** A longer string is written after the line break. */
const INLINE_MAX = 24;

type Fields = Record<string, unknown>;
/** The index of a field, its value, the next index, and so on. */
type Row = unknown[];

interface Header {
  readonly shape: string;
  readonly nodeCount: number;
  readonly run: Row;
  readonly nodes: readonly Row[];
  /** The scopes by index of the node. */
  readonly scopes: readonly (readonly [number, Row, readonly Row[]])[];
}

/** These are not among the fields: the graph comes from the definition, the id from the run's row, and executions have their own rows. */
const APART = new Set(["runId", "graph", "nodes"]);
const NODE_APART = new Set(["scope"]);
const SCOPE_APART = new Set(["items"]);

const EXECUTION: Fields = newExecutionState();
const NODE: Fields = newNodeState();
const SCOPE: Fields = newScopeState(0, false, "[]");
const EXECUTION_KEYS = Object.keys(EXECUTION);
const NODE_KEYS = Object.keys(NODE);
const SCOPE_KEYS = Object.keys(SCOPE);

/** `state` as text. */
export function writeSnapshot(state: RunState): string {
  const writer = new Writer();
  const fresh: Fields = newRunState(state.runId, state.graph);
  const scopes = state.nodes.flatMap(({ scope }, index) =>
    scope === undefined
      ? []
      : [
          [
            index,
            writer.row(scope, SCOPE, SCOPE_KEYS, SCOPE_APART),
            scope.items.map((item) => writer.row(item, EXECUTION, EXECUTION_KEYS)),
          ] as const,
        ],
  );
  const header: Header = {
    shape: shapeOf(fresh),
    nodeCount: state.nodes.length,
    run: writer.row(state, fresh, Object.keys(fresh), APART),
    nodes: state.nodes.map((node) => writer.row(node, NODE, NODE_KEYS, NODE_APART)),
    scopes,
  };
  return `${JSON.stringify(header)}\n${writer.text()}`;
}

/** The state of a snapshot. Undefined if the text has another format, shape or graph, or is no snapshot. */
export function readSnapshot(
  runId: RunId,
  graph: Graph,
  { format, body }: { readonly format: number; readonly body: string },
): RunState | undefined {
  if (format !== SNAPSHOT_FORMAT) return undefined;
  try {
    const state = newRunState(runId, graph);
    const end = body.indexOf("\n");
    // The code compares the shape before it uses any field. A fault inside a field ends in the catch below.
    const header = JSON.parse(body.slice(0, end)) as Header;
    const runKeys = Object.keys(state);
    if (header.shape !== shapeOf(state) || header.nodeCount !== state.nodes.length)
      return undefined;
    const reader = new Reader(body, end + 1);
    Object.assign(state, reader.fields(header.run, runKeys));
    header.nodes.forEach((row, index) => {
      Object.assign(state.nodes[index] ?? {}, reader.fields(row, NODE_KEYS));
    });
    for (const [index, row, rows] of header.scopes) {
      const scope = Object.assign(newScopeState(0, false, "[]"), reader.fields(row, SCOPE_KEYS));
      for (const item of rows)
        scope.items.push(Object.assign(newExecutionState(), reader.fields(item, EXECUTION_KEYS)));
      const node = state.nodes[index];
      if (node !== undefined) node.scope = scope;
    }
    return state;
  } catch {
    return undefined;
  }
}

const shapeOf = (run: Fields): string =>
  [Object.keys(run), NODE_KEYS, SCOPE_KEYS, EXECUTION_KEYS].map((keys) => keys.join()).join(";");

class Writer {
  readonly #texts: string[] = [];
  #length = 0;

  text(): string {
    return this.#texts.join("");
  }

  row(value: Fields, fresh: Fields, keys: readonly string[], apart?: ReadonlySet<string>): Row {
    const row: Row = [];
    keys.forEach((key, index) => {
      const own = value[key];
      const isFresh = own === fresh[key] || (isEmpty(own) && isEmpty(fresh[key]));
      if (isFresh || apart?.has(key) === true) return;
      row.push(index, this.value(own));
    });
    return row;
  }

  /** A string after the line break is [offset, length]. A value that JSON cannot express is an object with one letter as its key. */
  value(value: unknown): unknown {
    if (typeof value === "string") return value.length > INLINE_MAX ? this.#put(value) : value;
    if (value === undefined) return { u: 0 };
    if (typeof value !== "object" || value === null) return plain(value);
    if (Array.isArray(value)) return { a: value.map((each) => this.value(each)) };
    if (value instanceof Map)
      return { m: [...value].map(([key, each]) => [key, this.value(each)]) };
    if (value instanceof Set) return { s: [...value].map((each) => this.value(each)) };
    return { o: Object.entries(value).map(([key, each]) => [key, this.value(each)]) };
  }

  #put(text: string): readonly [number, number] {
    const at = this.#length;
    this.#texts.push(text);
    this.#length += text.length;
    return [at, text.length];
  }
}

function plain(value: unknown): unknown {
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw new TypeError(`a ${typeof value} cannot be in a snapshot`);
}

const isEmpty = (value: unknown): boolean =>
  ((value instanceof Set || value instanceof Map) && value.size === 0) ||
  (Array.isArray(value) && value.length === 0);

interface Worded {
  readonly a?: readonly unknown[];
  readonly s?: readonly unknown[];
  readonly o?: readonly (readonly [string, unknown])[];
  readonly m?: readonly (readonly [string, unknown])[];
}

class Reader {
  readonly #body: string;
  readonly #from: number;

  constructor(body: string, from: number) {
    this.#body = body;
    this.#from = from;
  }

  fields(row: Row, keys: readonly string[]): Fields {
    const fields: Fields = {};
    for (let at = 0; at < row.length; at += 2) {
      const key = keys[Number(row[at])];
      if (key === undefined) throw new TypeError("a field without a name");
      fields[key] = this.value(row[at + 1]);
    }
    return fields;
  }

  value(value: unknown): unknown {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return this.#take(Number(value[0]), Number(value[1]));
    const { a, s, o, m }: Worded = value;
    if (a !== undefined) return a.map((each) => this.value(each));
    if (s !== undefined) return new Set(s.map((each) => this.value(each)));
    if (o !== undefined) return Object.fromEntries(o.map(([key, each]) => [key, this.value(each)]));
    if (m !== undefined) return new Map(m.map(([key, each]) => [key, this.value(each)]));
    return undefined;
  }

  #take(at: number, length: number): string {
    const text = this.#body.slice(this.#from + at, this.#from + at + length);
    if (text.length !== length) throw new RangeError("the text is cut short");
    return text;
  }
}
