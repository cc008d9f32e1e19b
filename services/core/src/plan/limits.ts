// Fills in the keys of the limits of a node or a workflow, once, when the scheduler first queues an execution. The log holds the result. So
// the scheduler takes and releases a slot under the same key, even if the context has changed since. It parses users' JSON only for keys
// that are templates.

import { resolveInputs } from "../data/inputs.ts";
import { LIMITS } from "../data/limits.ts";
import { isRecord } from "../data/path.ts";
import { scopeOf, type NodeContext, type Scope } from "../data/scope.ts";
import { render } from "../data/template.ts";
import { exceedsUtf8 } from "../data/utf8.ts";
import type { Definition } from "../definition/shape.ts";
import { contextJson } from "../log/context.ts";
import { partOf } from "../log/execution.ts";
import { bindingsOf } from "../log/node-json.ts";
import type { RunState } from "../log/state.ts";
import type { ConcurrencyLimit, Limits } from "../policy/limit.ts";
import { graphNodeAt } from "./place.ts";

type ResolvedLimits =
  | { readonly ok: true; readonly limits: Limits }
  | { readonly ok: false; readonly message: string; readonly limit: "concurrency" | "rate" };

type Authored = Pick<Definition, "concurrency" | "rate">;

/**
 * The limits of an execution that is about to be queued. Undefined if it has none. The limits of a map or a loop apply to its iterations,
 * those of an agent to its turns.
 */
export function executionLimits(
  state: RunState,
  index: number,
  iteration: number,
): ResolvedLimits | undefined {
  const { definition } = graphNodeAt(state, index);
  if (isOpen(definition)) return undefined;
  if (definition.scope !== null && partOf(state, index, iteration) !== "body") return undefined;
  return resolve(definition, () => executionScope(state, index, iteration));
}

/** The limits of a run that is about to start with this input. */
export function runLimits(definition: Definition, inputJson: string): ResolvedLimits | undefined {
  const { dailyBudget: daily } = definition;
  if (isOpen(definition) && daily === undefined) return undefined;
  const resolved = resolve(definition, () => {
    const input: unknown = JSON.parse(inputJson);
    return scopeOf({ input, nodes: {}, vars: {} }, isRecord(input) ? input : {});
  });
  return resolved.ok && daily !== undefined
    ? { ok: true, limits: { ...resolved.limits, daily } }
    : resolved;
}

const isOpen = ({ concurrency, rate }: Authored): boolean => concurrency === null && rate === null;

function resolve({ concurrency, rate }: Authored, scope: () => Scope | string): ResolvedLimits {
  let known: Scope | string | undefined;
  const lazily = (): Scope | string => (known ??= scope());
  const slot = concurrency && filled(concurrency, lazily);
  if (typeof slot === "string") return { ok: false, message: slot, limit: "concurrency" };
  const window = rate && filled(rate, lazily);
  if (typeof window === "string") return { ok: false, message: window, limit: "rate" };
  return { ok: true, limits: { ...(slot && { slot }), ...(window && { rate: window }) } };
}

/** The variables of templates and conditions of an execution, or the fault of its parameters. It parses the context. */
export function executionScope(state: RunState, index: number, iteration: number): Scope | string {
  // contextJson wrote the text, so it parses and has this shape.
  const context = JSON.parse(contextJson(state, index, iteration)) as NodeContext;
  const { merge, onParentFailure } = graphNodeAt(state, index).definition;
  const bindings = bindingsOf(state.graph, index);
  const inputs = resolveInputs(bindings, context, merge, onParentFailure);
  return inputs.ok ? scopeOf(context, inputs.params) : inputs.message;
}

/** The limit with its key filled in, or a message that names its fault. */
function filled<Limit extends ConcurrencyLimit>(
  limit: Limit,
  scope: () => Scope | string,
): Limit | string {
  let { key } = limit;
  if (key.includes("{{")) {
    const known = scope();
    if (typeof known === "string") return `the key of a limit: ${known}`;
    const rendered = render(key, known);
    if (!rendered.ok) return `the key of a limit: ${rendered.message}`;
    const { value } = rendered;
    if (!["string", "number", "boolean"].includes(typeof value) || value === "")
      return "the key of a limit is a text, a number or a boolean";
    key = String(value);
  }
  return exceedsUtf8(key, LIMITS.keyBytes) || key.includes("\0")
    ? `the key of a limit has at most ${LIMITS.keyBytes} bytes, none 0`
    : { ...limit, key };
}
