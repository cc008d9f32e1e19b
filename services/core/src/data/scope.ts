// What templates, conditions and scripts of a node can name: `ctx` (run input, parents' outputs, variables) and `input` (the
// node's own resolved parameters). A variable `x` is `ctx.vars.x` and, for short, `ctx.x`. An iteration of a map or a loop also
// has `item`, `index` (from 0) and, in a loop, `previous`: by themselves in templates and expressions, inside `ctx` in scripts.

/** A node's context, parsed: what `contextJson` in log/context.ts says. */
export interface NodeContext {
  readonly input: unknown;
  readonly nodes: Readonly<Record<string, unknown>>;
  readonly vars: Readonly<Record<string, unknown>>;
  /** Handles by which parents left, where they left by one. */
  readonly handles?: Readonly<Record<string, string>>;
  /** In an iteration only, as are the two below. */
  readonly item?: unknown;
  /** From 0. */
  readonly index?: number;
  /** The output of the iteration before; null in the first. Loops only. */
  readonly previous?: unknown;
}

export interface Scope {
  readonly ctx: Readonly<Record<string, unknown>>;
  readonly input: Readonly<Record<string, unknown>>;
  readonly item?: unknown;
  readonly index?: number;
  readonly previous?: unknown;
  /** What the iteration gave: only for the expression that may end its loop. */
  readonly output?: unknown;
}

/** What templates of a node begin with. */
export const NODE_ROOTS: ReadonlySet<string> = new Set(["ctx", "input"]);
/** What templates of the body of a map begin with. */
export const MAP_ROOTS: ReadonlySet<string> = new Set([...NODE_ROOTS, "item", "index"]);
/** What templates of the body of a loop begin with. */
export const LOOP_ROOTS: ReadonlySet<string> = new Set([...MAP_ROOTS, "previous"]);

/** Names a variable may not have, since `ctx` has them already. */
export const RESERVED_VARIABLES: ReadonlySet<string> = new Set([
  "input",
  "nodes",
  "vars",
  "handles",
]);

/** The scope of a node, given its context and resolved parameters. */
export function scopeOf(context: NodeContext, params: Readonly<Record<string, unknown>>): Scope {
  const { input, nodes, vars, item, index, previous } = context;
  const ctx = { ...vars, input, nodes, vars };
  if (index === undefined) return { ctx, input: params };
  const own = { item, index, ...(previous === undefined ? {} : { previous }) };
  return { ctx: { ...ctx, ...own }, input: params, ...own };
}

/** What templates in this scope may begin with. */
export function rootsOf(scope: Scope): ReadonlySet<string> {
  if (scope.index === undefined) return NODE_ROOTS;
  return scope.previous === undefined ? MAP_ROOTS : LOOP_ROOTS;
}
