// The parts of a context that a body reads. Paths in templates name them exactly. A script is searched for them. A type of a user may read
// anything. A map of ten thousand items must not send its parents' outputs ten thousand times.

import { isRecord, type PathStep } from "../data/path.ts";
import { LOOP_ROOTS } from "../data/scope.ts";
import { compileTemplate } from "../data/template.ts";
import type { ContextReads } from "./shape.ts";

const EVERYTHING: ContextReads = { input: true, params: true, nodes: "all", vars: "all" };

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
const OWN = /\bctx\s*\.\s*(?:item|index|previous)\b/g;
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

interface Draft {
  input: boolean;
  params: boolean;
  nodes: Set<string> | "all";
  vars: Set<string> | "all";
}

const nothing = (): Draft => ({ input: false, params: false, nodes: new Set(), vars: new Set() });

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
}

function added(known: Set<string> | "all", name: PathStep | undefined): Set<string> | "all" {
  if (known === "all" || name === undefined) return "all";
  return known.add(String(name));
}
