// Fills in the keys of a node's or a workflow's limits, once, when an execution is first queued. The log holds the result, so that a slot
// is released under the key under which it was taken, even if the context has changed since. Users' JSON is parsed only for keys that are
// templates.

import { resolveInputs } from "../data/inputs.ts";
import { LIMITS } from "../data/limits.ts";
import { scopeOf, type NodeContext, type Scope } from "../data/scope.ts";
import { render } from "../data/template.ts";
import { exceedsUtf8 } from "../data/utf8.ts";
import type { Definition } from "../definition/shape.ts";
import { bindingsOf, contextJson } from "../log/context.ts";
import type { RunState } from "../log/state.ts";
import type { ConcurrencyLimit, Limits, RateLimit } from "../policy/limit.ts";
import { graphNodeAt } from "./place.ts";

export type ResolvedLimits =
  | { readonly ok: true; readonly limits: Limits }
  | { readonly ok: false; readonly message: string; readonly limit: "concurrency" | "rate" };

interface Authored {
  readonly concurrency: ConcurrencyLimit | null;
  readonly rate: RateLimit | null;
}

/** The limits of a node that is about to be queued; undefined if it has none. The limits of a map or a loop apply to its iterations. */
export function nodeLimits(state: RunState, index: number): ResolvedLimits | undefined {
  const { definition } = graphNodeAt(state, index);
  if (isOpen(definition) || definition.scope !== null) return undefined;
  return resolve(definition, () => executionScope(state, index, 0));
}

/** The limits of an iteration that is about to be queued. */
export function iterationLimits(
  state: RunState,
  index: number,
  iteration: number,
): ResolvedLimits | undefined {
  const { definition } = graphNodeAt(state, index);
  if (isOpen(definition)) return undefined;
  return resolve(definition, () => executionScope(state, index, iteration));
}

/** The limits of a run that is about to start with this input. */
export function runLimits(definition: Definition, inputJson: string): ResolvedLimits | undefined {
  if (isOpen(definition)) return undefined;
  return resolve(definition, () => {
    const input: unknown = JSON.parse(inputJson);
    const params =
      typeof input === "object" && input !== null && !Array.isArray(input) ? input : {};
    return scopeOf({ input, nodes: {}, vars: {} }, params as Readonly<Record<string, unknown>>);
  });
}

const isOpen = ({ concurrency, rate }: Authored): boolean => concurrency === null && rate === null;

function resolve({ concurrency, rate }: Authored, scope: () => Scope | string): ResolvedLimits {
  let known: Scope | string | undefined;
  const lazily = (): Scope | string => (known ??= scope());
  const slotKey = concurrency === null ? undefined : keyOf(concurrency.key, lazily);
  if (slotKey?.ok === false) return { ...slotKey, limit: "concurrency" };
  const rateKey = rate === null ? undefined : keyOf(rate.key, lazily);
  if (rateKey?.ok === false) return { ...rateKey, limit: "rate" };
  return {
    ok: true,
    limits: {
      ...(concurrency === null || slotKey === undefined
        ? {}
        : { slot: { ...concurrency, key: slotKey.key } }),
      ...(rate === null || rateKey === undefined ? {} : { rate: { ...rate, key: rateKey.key } }),
    },
  };
}

function executionScope(state: RunState, index: number, iteration: number): Scope | string {
  // contextJson wrote it, so it parses and has this shape.
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
