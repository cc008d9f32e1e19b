// A node's parameters from its parents' outputs: the edges that name a parameter bind it, and where several do, they are
// merged in edge order. Done by whoever runs the node, from the assignment alone.

import type { ParentFailurePolicy } from "../policy/parents.ts";
import { merge, mergeStrategyOf, type MergeItem, type MergeStrategy } from "./merge.ts";
import { lookup, parsePath } from "./path.ts";
import type { NodeContext } from "./scope.ts";

/** One incoming edge, as `nodeJson` in log/context.ts says it. */
export interface Binding {
  readonly source: string;
  readonly sourceLabel: string;
  readonly sourceHandle: string | null;
  readonly sourceOutputKey: string;
  readonly targetParamLabel: string | null;
  readonly mergeStrategy: MergeStrategy | null;
}

export type ResolvedInputs =
  | { readonly ok: true; readonly params: Readonly<Record<string, unknown>> }
  | {
      readonly ok: false;
      readonly reason: "missing_variable";
      readonly message: string;
      readonly path: string;
    };

/**
 * The node's parameters. `output` as key means the whole output, any other key a path into it. A parent that did not lead
 * here (it failed, or left by another handle) binds nothing, except under `substitute_default`, where it binds ''. A
 * parent that did lead here but has nothing at the path is missing_variable, or '' likewise.
 */
export function resolveInputs(
  bindings: readonly Binding[],
  context: NodeContext,
  nodeMerge: MergeStrategy | null,
  onParentFailure: ParentFailurePolicy,
): ResolvedInputs {
  const substitute = onParentFailure === "substitute_default";
  const byParam = new Map<string, Param>();
  for (const binding of bindings) {
    const label = binding.targetParamLabel;
    if (label === null) continue;
    let param = byParam.get(label);
    if (param === undefined) byParam.set(label, (param = { edges: 0, strategy: null, items: [] }));
    param.edges++;
    // Where the edges of one parameter disagree, the last one that says anything decides, as it does for values.
    param.strategy = binding.mergeStrategy ?? param.strategy;
    const led = ledHere(binding, context);
    if (!led && !substitute) continue;
    const found = led ? valueOf(binding, context) : ABSENT;
    if (!found.found && !substitute) {
      const path = `${binding.source}.${binding.sourceOutputKey}`;
      return { ok: false, reason: "missing_variable", message: `nothing is at ${path}`, path };
    }
    param.items.push({ label: binding.sourceLabel, value: found.found ? found.value : "" });
  }
  const params: [string, unknown][] = [];
  for (const [label, { edges, strategy, items }] of byParam) {
    if (items.length === 0) continue;
    // Merged whenever several edges share the parameter, also when only one led here: its type must not depend on that.
    const value =
      edges === 1 ? items[0]?.value : merge(mergeStrategyOf(strategy, nodeMerge), items);
    params.push([label, value]);
  }
  return { ok: true, params: Object.fromEntries(params) };
}

interface Param {
  edges: number;
  strategy: MergeStrategy | null;
  readonly items: MergeItem[];
}

const ABSENT = { found: false } as const;

/** Whether this edge was taken: its source completed, and by this edge's handle. */
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
