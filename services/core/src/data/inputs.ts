// A node's parameters, from its parents' outputs. An edge that names a parameter binds it. Values of several edges are merged in edge
// order. The executor needs only the assignment for this.

import { refused, type Refused } from "../fault/refused.ts";
import type { ParentFailurePolicy } from "./parent-failure.ts";
import { merge, mergeStrategyOf, type MergeItem, type MergeStrategy } from "./merge.ts";
import { lookup, parsePath } from "./path.ts";
import type { NodeContext } from "./scope.ts";

/** One incoming edge, in the form that `nodeJson` in log/node-json.ts writes. */
export interface Binding {
  readonly source: string;
  readonly sourceLabel: string;
  readonly sourceHandle: string | null;
  readonly sourceOutputKey: string;
  readonly targetParamLabel: string | null;
  readonly mergeStrategy: MergeStrategy | null;
  /** A loop edge: in the round that it begins, its value takes the place of all other values of the parameter. */
  readonly loop?: true;
}

type ResolvedInputs =
  | { readonly ok: true; readonly params: Readonly<Record<string, unknown>> }
  | (Refused<"missing_variable"> & { readonly path: string });

/**
 * The node's parameters. The key `output` means the whole output. Any other key is a path into it. A parent whose edge was not taken (it
 * failed, or left by another handle) binds nothing. Under `substitute_default` it binds ''. If a taken edge has no value at the path, the
 * result is missing_variable, or '' under `substitute_default`.
 */
export function resolveInputs(
  bindings: readonly Binding[],
  context: NodeContext,
  nodeMerge: MergeStrategy | null,
  onParentFailure: ParentFailurePolicy,
): ResolvedInputs {
  const substitute = onParentFailure === "substitute_default";
  const byParam = new Map<string, Param>();
  const repeated = new Map<string, unknown>();
  for (const binding of bindings) {
    const label = binding.targetParamLabel;
    if (label === null) continue;
    if (binding.loop === true) {
      const found = ledHere(binding, context) ? valueOf(binding, context) : undefined;
      if (found?.found === false && !substitute) return missing(binding);
      if (found !== undefined) repeated.set(label, found.found ? found.value : "");
      continue;
    }
    let param = byParam.get(label);
    if (param === undefined) byParam.set(label, (param = { edges: 0, strategy: null, items: [] }));
    param.edges++;
    // If the edges of one parameter name different strategies, the last one counts, as for values.
    param.strategy = binding.mergeStrategy ?? param.strategy;
    const led = ledHere(binding, context);
    if (!led && !substitute) continue;
    const found = led ? valueOf(binding, context) : ABSENT;
    if (!found.found && !substitute) return missing(binding);
    param.items.push({ label: binding.sourceLabel, value: found.found ? found.value : "" });
  }
  const params: [string, unknown][] = [];
  for (const [label, { edges, strategy, items }] of byParam) {
    if (items.length === 0) continue;
    // Several edges share the parameter, so it is merged even if only one edge was taken. Its type must not depend on that.
    const value =
      edges === 1 ? items[0]?.value : merge(mergeStrategyOf(strategy, nodeMerge), items);
    params.push([label, value]);
  }
  return { ok: true, params: Object.fromEntries([...params, ...repeated]) };
}

function missing({ source, sourceOutputKey }: Binding): Extract<ResolvedInputs, { ok: false }> {
  const message = `the output of ${source} has no ${sourceOutputKey}`;
  return { ...refused("missing_variable", message), path: `${source}.${sourceOutputKey}` };
}

interface Param {
  edges: number;
  strategy: MergeStrategy | null;
  readonly items: MergeItem[];
}

const ABSENT = { found: false } as const;

/** Whether this edge was taken: its source completed and left by the handle of this edge. */
function ledHere({ source, sourceHandle }: Binding, { nodes, handles }: NodeContext): boolean {
  if (!Object.hasOwn(nodes, source)) return false;
  const left =
    handles !== undefined && Object.hasOwn(handles, source) ? handles[source] : undefined;
  return sourceHandle === null ? left !== "error" : left === sourceHandle;
}

function valueOf({ source, sourceOutputKey }: Binding, { nodes }: NodeContext) {
  const output = nodes[source];
  if (sourceOutputKey === "output") return { found: true as const, value: output };
  const parsed = parsePath(sourceOutputKey);
  return parsed.ok ? lookup(output, parsed.path) : ABSENT;
}
