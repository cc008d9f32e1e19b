// What templates, conditions and scripts of a node can name: `ctx` (run input, parents' outputs, variables) and `input` (the
// node's own resolved parameters). A variable `x` is `ctx.vars.x` and, for short, `ctx.x`.

/** A node's context, parsed: what `contextJson` in log/context.ts says. */
export interface NodeContext {
  readonly input: unknown;
  readonly nodes: Readonly<Record<string, unknown>>;
  readonly vars: Readonly<Record<string, unknown>>;
  /** Handles by which parents left, where they left by one. */
  readonly handles?: Readonly<Record<string, string>>;
}

export interface Scope {
  readonly ctx: Readonly<Record<string, unknown>>;
  readonly input: Readonly<Record<string, unknown>>;
}

/** Names a variable may not have, since `ctx` has them already. */
export const RESERVED_VARIABLES: ReadonlySet<string> = new Set([
  "input",
  "nodes",
  "vars",
  "handles",
]);

/** The scope of a node, given its context and resolved parameters. */
export const scopeOf = (
  context: NodeContext,
  params: Readonly<Record<string, unknown>>,
): Scope => ({
  ctx: { ...context.vars, input: context.input, nodes: context.nodes, vars: context.vars },
  input: params,
});
