// The input and the config of a node's handler, with edges bound and templates filled in. The executor makes them for an attempt, and the
// gateway makes the same values again from the log.

import type { Cause } from "../fault/cause.ts";
import { type Binding, resolveInputs } from "./inputs.ts";
import type { MergeStrategy } from "./merge.ts";
import type { ParentFailurePolicy } from "./parent-failure.ts";
import { isRecord } from "./path.ts";
import { type NodeContext, type Scope, scopeOf } from "./scope.ts";
import { render, renderFailure, type Rendered } from "./template.ts";

/** The parts of a node that decide its input. */
export interface InputNode {
  /** The input of the handler, with templates; absent if the author wrote none. */
  readonly input?: unknown;
  readonly merge: MergeStrategy | null;
  readonly onParentFailure: ParentFailurePolicy;
}

/** Why a handler cannot run: a permanent failure of its node. */
export interface InputFailure {
  readonly ok: false;
  readonly cause: Cause;
  readonly message: string;
  readonly details?: unknown;
}

interface HandlerInput {
  readonly ok: true;
  /** The handler's input. */
  readonly input: unknown;
  /** The node's `input`, or the parameters that its edges bind. Unlike the input it is never the run's input. */
  readonly params: unknown;
  /** The variables of templates. */
  readonly scope: Scope;
  /** Renders templates in any JSON value. */
  readonly render: (value: unknown) => Rendered;
}

/**
 * The input of a node: its own `input` with the parameters that edges bind. Without `input` it is the parameters. A node that has neither
 * `input` nor parents gets the run's input.
 */
export function handlerInput(
  node: InputNode,
  bindings: readonly Binding[],
  context: NodeContext,
): HandlerInput | InputFailure {
  const inputs = resolveInputs(bindings, context, node.merge, node.onParentFailure);
  if (!inputs.ok) return { ok: false, cause: inputs.reason, message: inputs.message };
  const scope = scopeOf(context, inputs.params);
  const options = { substituteDefault: node.onParentFailure === "substitute_default" };
  const rendered = (value: unknown): Rendered => render(value, scope, options);
  const own = node.input === undefined ? undefined : rendered(node.input);
  if (own?.ok === false) return { ok: false, ...renderFailure(own) };
  const params = own === undefined ? inputs.params : withParams(own.value, inputs.params);
  // A loop edge that leads back to a root adds its parameter to the run's input.
  const isRoot = own === undefined && bindings.every(({ loop }) => loop === true);
  const input = isRoot ? withParams(context.input, inputs.params) : params;
  return { ok: true, input, params, scope, render: rendered };
}

/** An input with the parameters that edges bind. By the rules of the definition, edges bind only into an object. */
const withParams = (own: unknown, params: Readonly<Record<string, unknown>>): unknown =>
  isRecord(own) ? { ...own, ...params } : own;

type Config = Readonly<Record<string, unknown>>;

/** The config with its templates (`templatesOf`) filled in. */
export function handlerConfig(
  config: Config,
  templates: Config,
  { render: rendered }: Pick<HandlerInput, "render">,
): { readonly ok: true; readonly config: Config } | InputFailure {
  const filled = rendered(templates);
  if (!filled.ok) return { ok: false, ...renderFailure(filled) };
  return { ok: true, config: Object.assign({}, config, filled.value) };
}
