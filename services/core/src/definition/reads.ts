// The parts of a context that a body reads. Paths in templates name them exactly. A script is searched for them. A type of a user may read
// anything. A map of ten thousand items must not send its parents' outputs ten thousand times.

import { isRecord, type PathStep } from "../data/path.ts";
import { LOOP_ROOTS } from "../data/scope.ts";
import { compileTemplate } from "../data/template.ts";
import type { ContextReads, MemoryReads } from "./shape.ts";

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

interface Draft {
  input: boolean;
  params: boolean;
  nodes: Set<string> | "all";
  vars: Set<string> | "all";
  memory: Set<string> | "all";
}

const nothing = (): Draft => ({
  input: false,
  params: false,
  nodes: new Set(),
  vars: new Set(),
  memory: new Set(),
});

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
