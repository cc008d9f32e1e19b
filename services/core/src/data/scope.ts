// The variables of a node's templates, conditions and scripts: `ctx` (run input, parents' outputs, variables) and `input` (the node's own
// resolved parameters). A variable `x` is `ctx.vars.x` and, for short, `ctx.x`. An iteration of a map or a loop also has `item`, `index`
// (from 0) and, in a loop, `previous`. Templates and expressions name them directly; scripts find them in `ctx`.

/** A node's context, parsed: the content of `contextJson` in log/context.ts. */
export interface NodeContext {
  readonly input: unknown;
  readonly nodes: Readonly<Record<string, unknown>>;
  readonly vars: Readonly<Record<string, unknown>>;
  /** The keys of the run's memory that the node reads; absent if there are none. */
  readonly memory?: Readonly<Record<string, unknown>>;
  /** What the run is for, and the rules that it respects; absent if it has none. */
  readonly goal?: string;
  readonly constraints?: readonly string[];
  /** What users say about the run, to find it again; absent if there is nothing. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** The config of the assistant that started the run; absent if there is none. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** The handles by which parents left, if they left by one. */
  readonly handles?: Readonly<Record<string, string>>;
  /** Only in an iteration, like the two below. */
  readonly item?: unknown;
  /** From 0. */
  readonly index?: number;
  /** The output of the iteration before. Null in the first. Only loops have it. */
  readonly previous?: unknown;
  /** The earlier decisions of a supervisor, the newest last. Only a supervisor has them. */
  readonly decisions?: readonly { readonly route: string; readonly reason: string }[];
}

export interface Scope {
  readonly ctx: Readonly<Record<string, unknown>>;
  readonly input: Readonly<Record<string, unknown>>;
  readonly item?: unknown;
  readonly index?: number;
  readonly previous?: unknown;
  /** The iteration's output. Only the expression that may end its loop has it. */
  readonly output?: unknown;
}

/** The roots of a node's templates. */
export const NODE_ROOTS: ReadonlySet<string> = new Set(["ctx", "input"]);
/** The roots of templates in the body of a map. */
export const MAP_ROOTS: ReadonlySet<string> = new Set([...NODE_ROOTS, "item", "index"]);
/** The roots of templates in a tool of an agent: `item` has the arguments of the call. */
export const TOOL_ROOTS: ReadonlySet<string> = new Set(["ctx", "item", "index"]);
/** The roots of templates in the body of a loop. */
export const LOOP_ROOTS: ReadonlySet<string> = new Set([...MAP_ROOTS, "previous"]);

/** Names that a variable may not have, because `ctx` has them already. */
export const RESERVED_VARIABLES: ReadonlySet<string> = new Set([
  "input",
  "nodes",
  "vars",
  "handles",
]);

/** The scope of a node, given its context and resolved parameters. */
export function scopeOf(context: NodeContext, params: Readonly<Record<string, unknown>>): Scope {
  const { input, nodes, vars, memory = {}, item, index, previous } = context;
  const { goal = "", constraints = [], metadata = {}, config = {} } = context;
  // A variable of a definition that an earlier version saved may have one of the first five names; it wins.
  const ctx = { memory, goal, constraints, metadata, config, ...vars, input, nodes, vars };
  if (index === undefined) return { ctx, input: params };
  const own = { item, index, ...(previous === undefined ? {} : { previous }) };
  return { ctx: { ...ctx, ...own }, input: params, ...own };
}

/** The roots of templates in this scope. */
export function rootsOf(scope: Scope): ReadonlySet<string> {
  if (scope.index === undefined) return NODE_ROOTS;
  return scope.previous === undefined ? MAP_ROOTS : LOOP_ROOTS;
}
