// The parts of a context that a body reads. Paths in templates name them exactly. A script is searched for them. A type of a user may read
// anything. A map of ten thousand items must not send its parents' outputs ten thousand times. The labels of a value follow the same reads.

import { conditionPaths } from "../data/expression.ts";
import { isRecord, type PathStep } from "../data/path.ts";
import { LOOP_ROOTS } from "../data/scope.ts";
import { compileTemplate } from "../data/template.ts";
import type { ContextReads, MemoryReads, NodeDefinition } from "./shape.ts";

const EVERYTHING: ContextReads = {
  input: true,
  params: true,
  nodes: "all",
  vars: "all",
  memory: "all",
};

/** Built-in bodies that read their context only through templates. */
const TEMPLATED: ReadonlySet<string> = new Set([
  "http",
  "delay",
  "noop",
  "text_stream",
  "subworkflow",
  "llm",
  "dataQuery",
  "sanitize",
  "await_signal",
]);
const OWN = /\bctx\s*\.\s*(?:item|index|previous|remember)\b/g;
const FOREIGN = /\b(?:ctx|input|arguments|eval|Function)\b/;

/** The parts of the context that a node reads: in its config, in the expression that ends its loop, and in the keys of its limits. */
export function readsOf({
  type,
  config,
  input,
  until,
  keys,
}: {
  readonly type: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly input: unknown;
  readonly until: string | null;
  readonly keys: readonly string[];
}): ContextReads {
  if (until !== null && FOREIGN.test(until)) return EVERYTHING;
  if (type === "javascript") {
    const { code } = config;
    const isOwn = typeof code === "string" && !FOREIGN.test(code.replace(OWN, ""));
    if (!isOwn || input !== undefined) return EVERYTHING;
    const reads = nothing();
    collect(keys, reads);
    return reads;
  }
  if (!TEMPLATED.has(type)) return EVERYTHING;
  const reads = nothing();
  // A child run gets the node's own parameters unless its config names an input. An input of the node contains its parameters.
  if (input !== undefined || (type === "subworkflow" && config["input"] === undefined))
    reads.params = true;
  collect(config, reads);
  collect(input, reads);
  collect(keys, reads);
  return reads;
}

/**
 * The parts of the context that a tool call of an agent reads. It has no parameters: edges lead to the agent, and the arguments of the
 * call are its item.
 */
export function toolReadsOf(tool: {
  readonly type: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly input?: unknown;
}): ContextReads {
  const { type, config } = tool;
  if (!TEMPLATED_NODES.has(type)) {
    const reads = readsOf({ type, config, input: undefined, until: null, keys: [] });
    return { ...reads, params: false };
  }
  const reads = nothing();
  collect([config, tool.input], reads);
  return reads;
}

/** Types of whole nodes that read the memory only through templates, besides the bodies above. */
const TEMPLATED_NODES: ReadonlySet<string> = new Set([
  ...TEMPLATED,
  "start",
  "end",
  "map",
  "remember",
  "approval",
]);

/** The keys of the run's memory that a whole node may read. */
export function memoryReadsOf({
  type,
  config,
  input,
  keys,
}: {
  readonly type: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly input?: unknown;
  readonly keys: readonly string[];
}): MemoryReads {
  if (!TEMPLATED_NODES.has(type)) return "all";
  const reads = nothing();
  // The body's own templates are among them: the node gets what its iterations get.
  collect(config, reads);
  collect(input, reads);
  collect(keys, reads);
  return reads.memory === "all" || type !== "map" ? reads.memory : bodyReads(config, reads.memory);
}

/** A map gives its iterations what their body reads: the keys that templates name, unless the body may read anything. */
function bodyReads(config: Readonly<Record<string, unknown>>, named: Set<string>): MemoryReads {
  const { body } = config;
  const type = isRecord(body) ? body["type"] : undefined;
  return typeof type === "string" && TEMPLATED.has(type) ? named : "all";
}

type Config = Readonly<Record<string, unknown>>;

/** Built-in types of whole nodes that read in their own way. The others read as a body of their type does. */
const NODE_READS: Readonly<Record<string, (config: Config, reads: Draft) => void>> = {
  start: (_config, reads) => Object.assign(reads, { input: true }),
  end: ({ output_parameters: output }, reads) => {
    if (output === undefined) Object.assign(reads, { params: true, nodes: "all" });
    else collect(output, reads);
  },
  condition: ({ branches }, reads) => {
    for (const branch of Array.isArray(branches) ? branches : []) {
      const when: unknown = isRecord(branch) ? branch["when"] : undefined;
      const paths = typeof when === "string" ? conditionPaths(when) : undefined;
      if (paths === undefined) Object.assign(reads, EVERYTHING);
      else for (const path of paths) note(path, reads);
    }
  },
  map: ({ items }, reads) => collect(items, reads),
  agent: (config, reads) => collect(config, reads),
  loop: ({ items, times }, reads) => collect([items, times], reads),
  remember: ({ values }, reads) => collect(values, reads),
  approval: (config, reads) => collect(config, reads),
};

type WholeNode = Pick<NodeDefinition, "type" | "config" | "input">;
const nodeReadsKnown = new WeakMap<WholeNode, ContextReads>();

/** The parts of the context from which a whole node makes its output. A map or a loop makes its items from them. */
export function nodeReads(node: WholeNode): ContextReads {
  let reads = nodeReadsKnown.get(node);
  if (reads === undefined) nodeReadsKnown.set(node, (reads = nodeReadsOf(node)));
  return reads;
}

function nodeReadsOf(node: WholeNode): ContextReads {
  const { type, config } = node;
  const own = Object.hasOwn(NODE_READS, type) ? NODE_READS[type] : undefined;
  if (own === undefined) return readsOf({ type, config, input: node.input, until: null, keys: [] });
  const reads = nothing();
  own(config, reads);
  return reads;
}

interface Draft {
  input: boolean;
  params: boolean;
  nodes: Set<string> | "all";
  vars: Set<string> | "all";
  memory: Set<string> | "all";
}

function nothing(): Draft {
  return {
    ...{ input: false, params: false },
    ...{ nodes: new Set(), vars: new Set(), memory: new Set() },
  };
}

function collect(value: unknown, reads: Draft): void {
  if (typeof value === "string") {
    const compiled = compileTemplate(value, LOOP_ROOTS);
    if (!compiled.ok) return;
    for (const part of compiled.parts) if (typeof part !== "string") note(part, reads);
  } else if (Array.isArray(value)) for (const item of value) collect(item, reads);
  else if (isRecord(value)) for (const item of Object.values(value)) collect(item, reads);
}

function note([root, part, name]: readonly PathStep[], reads: Draft): void {
  if (root === "input") reads.params = true;
  if (root !== "ctx") return;
  if (part === undefined) Object.assign(reads, EVERYTHING);
  else if (part === "input") reads.input = true;
  else if (part === "nodes") reads.nodes = added(reads.nodes, name);
  else reads.vars = added(reads.vars, part === "vars" ? name : part);
  // A definition of an earlier version may have a variable of this name; then `ctx.memory` is the variable.
  if (part === "memory") reads.memory = added(reads.memory, name);
}

function added(known: Set<string> | "all", name: PathStep | undefined): Set<string> | "all" {
  if (known === "all" || name === undefined) return "all";
  return known.add(String(name));
}
