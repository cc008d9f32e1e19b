// Fills in the keys of a node's or a workflow's limits. Done once, when an execution is first queued: what it gave is in the log,
// so that a slot is given back under the key it was taken under, whatever became of the context since.
// The only place where the engine parses what users said, and only for keys that are templates.

import { resolveInputs } from "../data/inputs.ts";
import { LIMITS } from "../data/limits.ts";
import { scopeOf, type NodeContext, type Scope } from "../data/scope.ts";
import { render } from "../data/template.ts";
import { exceedsUtf8 } from "../data/utf8.ts";
import type { Definition } from "../definition/shape.ts";
import { bindingsOf, contextJson } from "../log/context.ts";
import type { RunState } from "../log/state.ts";
import type { ConcurrencyLimit, Gate, RateLimit } from "../policy/gate.ts";
import { graphNodeAt } from "./place.ts";

export type ResolvedGate =
  | { readonly ok: true; readonly gate: Gate }
  | { readonly ok: false; readonly message: string; readonly limit: "concurrency" | "rate" };

interface Limits {
  readonly concurrency: ConcurrencyLimit | null;
  readonly rate: RateLimit | null;
}

/** The gate of a node that is about to be queued; undefined when it has none. The limits of a scope are about its iterations. */
export function nodeGate(state: RunState, index: number): ResolvedGate | undefined {
  const { definition } = graphNodeAt(state, index);
  if (isOpen(definition) || definition.scope !== null) return undefined;
  return resolve(definition, () => executionScope(state, index, 0));
}

/** The gate of an iteration that is about to be queued. */
export function iterationGate(
  state: RunState,
  index: number,
  iteration: number,
): ResolvedGate | undefined {
  const { definition } = graphNodeAt(state, index);
  if (isOpen(definition)) return undefined;
  return resolve(definition, () => executionScope(state, index, iteration));
}

/** The gate of a run that is about to start with this input. */
export function runGate(definition: Definition, inputJson: string): ResolvedGate | undefined {
  if (isOpen(definition)) return undefined;
  return resolve(definition, () => {
    const input: unknown = JSON.parse(inputJson);
    const params =
      typeof input === "object" && input !== null && !Array.isArray(input) ? input : {};
    return scopeOf({ input, nodes: {}, vars: {} }, params as Readonly<Record<string, unknown>>);
  });
}

const isOpen = ({ concurrency, rate }: Limits): boolean => concurrency === null && rate === null;

function resolve({ concurrency, rate }: Limits, scope: () => Scope | string): ResolvedGate {
  let known: Scope | string | undefined;
  const lazily = (): Scope | string => (known ??= scope());
  const slotKey = concurrency === null ? undefined : keyOf(concurrency.key, lazily);
  if (slotKey?.ok === false) return { ...slotKey, limit: "concurrency" };
  const rateKey = rate === null ? undefined : keyOf(rate.key, lazily);
  if (rateKey?.ok === false) return { ...rateKey, limit: "rate" };
  return {
    ok: true,
    gate: {
      ...(concurrency === null || slotKey === undefined
        ? {}
        : { slot: { ...concurrency, key: slotKey.key } }),
      ...(rate === null || rateKey === undefined ? {} : { rate: { ...rate, key: rateKey.key } }),
    },
  };
}

function executionScope(state: RunState, index: number, iteration: number): Scope | string {
  // Made of JSON texts by ourselves, so it parses; its shape is what contextJson says.
  const context = JSON.parse(contextJson(state, index, iteration)) as NodeContext;
  const { definition } = graphNodeAt(state, index);
  const inputs = resolveInputs(
    bindingsOf(state.graph, index),
    context,
    definition.merge,
    definition.onParentFailure,
  );
  return inputs.ok ? scopeOf(context, inputs.params) : inputs.message;
}

type Key =
  | { readonly ok: true; readonly key: string }
  | { readonly ok: false; readonly message: string };

function keyOf(template: string, scope: () => Scope | string): Key {
  if (!template.includes("{{")) return bounded(template);
  const known = scope();
  if (typeof known === "string") return { ok: false, message: `the key of a limit: ${known}` };
  const rendered = render(template, known);
  if (!rendered.ok) return { ok: false, message: `the key of a limit: ${rendered.message}` };
  const { value } = rendered;
  if (typeof value === "string" && value !== "") return bounded(value);
  if (typeof value === "number" || typeof value === "boolean") return bounded(String(value));
  return { ok: false, message: "the key of a limit is a text, a number or a boolean" };
}

function bounded(key: string): Key {
  if (!exceedsUtf8(key, LIMITS.keyBytes) && !key.includes("\0")) return { ok: true, key };
  return { ok: false, message: `the key of a limit has at most ${LIMITS.keyBytes} bytes, none 0` };
}
