// Conditions: CEL behind one interface. Their size is bounded before they run (bytes, AST nodes, depth), and so is their cost. Regular
// expressions are refused, because JavaScript's backtrack. An inner loop may only loop over the element of the outer one, so the work stays
// proportional to the data.

import { Environment, type ASTNode } from "@marcbachmann/cel-js";
import { UnsignedInt } from "@marcbachmann/cel-js/evaluator";
import type { Cause } from "../fault/cause.ts";
import { refused, type Refused } from "../fault/refused.ts";
import { LIMITS } from "./limits.ts";
import { LOOP_ROOTS, NODE_ROOTS, type Scope } from "./scope.ts";
import { exceedsUtf8 } from "./utf8.ts";

type ConditionResult =
  | { readonly ok: true; readonly value: boolean }
  /** The reason is the failure cause. `condition_type`: an operation on values of the wrong type. */
  | Refused<Extract<Cause, "condition_type" | "missing_variable" | "condition_too_costly">>;

export interface Condition {
  /** How often its loops may walk over their data: 0 without a loop, otherwise once for each of its parts. */
  readonly passes: number;
  readonly evaluate: (scope: Scope) => ConditionResult;
}

type CompiledCondition =
  | { readonly ok: true; readonly condition: Condition }
  | Refused<"EXPRESSION_SYNTAX" | "EXPR_TOO_DEEP" | "EXPRESSION_TOO_LARGE" | "CONDITION_TYPE">;

const AST_NODES_MAX = 500;
/** The largest list or object that an expression with a loop may have in scope, in elements. */
const LOOP_ITEMS_MAX = 1_000;
const TOO_COSTLY = `a condition may loop over at most ${LOOP_ITEMS_MAX} items`;
const LOOPS: ReadonlySet<string> = new Set(["all", "exists", "exists_one", "map", "filter"]);
const REFUSED: ReadonlySet<string> = new Set(["matches", "bind"]);

const environments = {
  node: makeEnvironment([...NODE_ROOTS]),
  iteration: makeEnvironment([...LOOP_ROOTS, "output"]),
} as const;

/** Compiles a condition over `ctx` and `input`; in an iteration also over `item`, `index`, `previous` and `output`. */
export function compileCondition(
  text: string,
  of: keyof typeof environments = "node",
): CompiledCondition {
  const environment = environments[of];
  if (exceedsUtf8(text, LIMITS.expressionBytes)) {
    const message = `an expression is at most ${LIMITS.expressionBytes} bytes`;
    return refused("EXPRESSION_TOO_LARGE", message);
  }
  let parsed: ReturnType<Environment["parse"]>;
  try {
    parsed = environment.parse(text);
  } catch (error) {
    if (celCode(error) !== "limit_exceeded") return refused("EXPRESSION_SYNTAX", firstLine(error));
    const message = `an expression has at most ${AST_NODES_MAX} parts, ${LIMITS.expressionDepth} deep`;
    return refused("EXPR_TOO_DEEP", message);
  }
  const shape = new Shape();
  walk(parsed.ast, undefined, shape);
  if (shape.fault !== undefined) return refused("EXPRESSION_SYNTAX", shape.fault);
  const checked = parsed.check();
  if (!checked.valid) return refused("EXPRESSION_SYNTAX", firstLine(checked.error));
  const { type = "dyn" } = checked;
  if (!CAN_BE_FALSE.has(type))
    return refused("CONDITION_TYPE", `a condition of type ${type} is always true`);
  const evaluate = (scope: Scope): ConditionResult => {
    if (shape.loops && hasLargeCollection(Object.values(scope)))
      return refused("condition_too_costly", TOO_COSTLY);
    try {
      // A map's iteration has no `previous`. It is null, as in the first iteration of a loop.
      return { ok: true, value: isTruthy(parsed({ previous: null, ...scope })) };
    } catch (error) {
      const isMissing = celCode(error) === "no_such_key";
      return refused(isMissing ? "missing_variable" : "condition_type", firstLine(error));
    }
  };
  return { ok: true, condition: { evaluate, passes: shape.loops ? shape.parts : 0 } };
}

/** The compiled condition, or the message of its fault. */
export function conditionOrFault(text: string, of?: keyof typeof environments): Condition | string {
  const compiled = compileCondition(text, of);
  return compiled.ok ? compiled.condition : compiled.message;
}

/** The paths that a condition reads, from their root on. Undefined if it does not compile. */
export function conditionPaths(text: string): readonly (readonly string[])[] | undefined {
  try {
    const found: string[][] = [];
    collectPaths(environments.iteration.parse(text).ast, found);
    return found;
  } catch {
    return undefined;
  }
}

function collectPaths(node: ASTNode, found: string[][]): void {
  const path = pathOf(node);
  if (path !== undefined) found.push(path);
  else for (const child of childrenOf(node.args)) collectPaths(child, found);
}

/** `ctx.nodes.a` and `ctx["nodes"].a` are paths. An index that is computed ends the path, and is searched for paths itself. */
function pathOf(node: ASTNode): string[] | undefined {
  if (node.op === "id") return [node.args];
  if (node.op !== "." && node.op !== "[]") return undefined;
  const [of, step] = node.args;
  const before = pathOf(of);
  if (before === undefined) return undefined;
  if (typeof step === "string") return [...before, step];
  if (step.op !== "value" || typeof step.args === "object") return undefined;
  return [...before, String(step.args)];
}

/** Types of which some values are false. */
const CAN_BE_FALSE: ReadonlySet<string> = new Set(
  "bool dyn int uint double string null".split(" "),
);

/**
 * The truth of a condition's value, as in JavaScript. False, null, 0, NaN and empty text are false. Every other value is true, even an
 * empty list.
 */
const isTruthy = (value: unknown): boolean =>
  Boolean(value instanceof UnsignedInt ? value.valueOf() : value);

/** JSON has one kind of number, and CEL reads it as a double, so arithmetic with whole literals must work in both orders. */
function makeEnvironment(variables: readonly string[]): Environment {
  const made = new Environment({
    homogeneousAggregateLiterals: false,
    limits: { maxAstNodes: AST_NODES_MAX, maxDepth: LIMITS.expressionDepth },
  });
  for (const name of variables) made.registerVariable(name, "dyn");
  const operators: readonly [string, (a: number, b: number) => number][] = [
    ["+", (a, b) => a + b],
    ["-", (a, b) => a - b],
    ["*", (a, b) => a * b],
    ["/", (a, b) => a / b],
    ["%", (a, b) => a % b],
  ];
  for (const [sign, compute] of operators) {
    const mixed = (a: unknown, b: unknown): number => compute(Number(a), Number(b));
    made.registerOperator(`double ${sign} int`, mixed);
    made.registerOperator(`int ${sign} double`, mixed);
  }
  made.registerOperator("int == double", (a: unknown, b: number) => Number(a) === b);
  made.registerOperator("double % double", (a: number, b: number) => a % b);
  return made;
}

/** The findings of a walk over the tree of an expression. The parser has limited the tree to AST_NODES_MAX nodes. */
class Shape {
  loops = false;
  parts = 0;
  fault: string | undefined;
}

function walk(node: ASTNode, loopVariable: string | undefined, shape: Shape): void {
  shape.parts += 1;
  if ((node.op === "call" || node.op === "rcall") && REFUSED.has(node.args[0]))
    shape.fault ??= `${node.args[0]} is not available in conditions`;
  if (node.op === "rcall" && LOOPS.has(node.args[0])) {
    const [name, receiver, args] = node.args;
    shape.loops = true;
    const root = rangeRoot(receiver);
    if (root === undefined) shape.fault ??= `${name} loops over a path or a list`;
    else if (loopVariable !== undefined && root !== loopVariable)
      shape.fault ??= `${name} inside another loop loops over ${loopVariable} itself`;
    walk(receiver, loopVariable, shape);
    const variable = args[0]?.op === "id" ? args[0].args : undefined;
    for (const arg of args.slice(1)) walk(arg, variable, shape);
    return;
  }
  for (const child of childrenOf(node.args)) walk(child, loopVariable, shape);
}

/** The variable at which a range starts. "" for a literal list, undefined for anything that could make a longer list. */
function rangeRoot(node: ASTNode): string | undefined {
  if (node.op === "id") return node.args;
  if (node.op === "list") return "";
  if (node.op === "." || node.op === "[]") return rangeRoot(node.args[0]);
  if (node.op === "rcall" && LOOPS.has(node.args[0])) return rangeRoot(node.args[1]);
  return undefined;
}

function childrenOf(args: unknown): ASTNode[] {
  if (Array.isArray(args)) return args.flatMap(childrenOf);
  return isAstNode(args) ? [args] : [];
}

const isAstNode = (value: unknown): value is ASTNode =>
  typeof value === "object" && value !== null && "op" in value && "args" in value;

/** Whether a list or object inside `roots` is too long for a loop. The walk is iterative, because data may be deep. */
function hasLargeCollection(roots: readonly unknown[]): boolean {
  const left: unknown[] = [...roots];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value !== "object" || value === null) continue;
    const items: unknown[] = Object.values(value);
    if (items.length > LOOP_ITEMS_MAX) return true;
    for (const item of items) if (typeof item === "object" && item !== null) left.push(item);
  }
  return false;
}

const celCode = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "";

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split("\n", 1)[0]?.slice(0, 200) ?? "";
