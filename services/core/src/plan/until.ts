// Whether an iteration ends its loop, for iterations that no handler completes: a person answers, a signal comes, or a child run ends. The
// executor judges all other iterations. The planner has no values that are stored outside of the log, so a condition must not read one.

import { conditionPaths } from "../data/expression.ts";
import { hasReference, REFERENCE_KEY } from "../data/reference.ts";
import type { Scope } from "../data/scope.ts";
import { isRecord } from "../data/path.ts";
import { compileUntil, judgeUntil } from "../glue/until.ts";
import { isItem } from "../log/execution.ts";
import type { RunState } from "../log/state.ts";
import { executionScope } from "./limits.ts";
import { graphNodeAt } from "./place.ts";
import type { Outcome } from "./result.ts";

interface Place {
  readonly nodeIndex: number;
  readonly iteration: number;
}

/** The outcome, marked if it ends its loop. A failure if the condition cannot be judged. */
export function judgedOutcome(
  state: RunState,
  { nodeIndex, iteration }: Place,
  outcome: Outcome,
): Outcome {
  const until = graphNodeAt(state, nodeIndex).definition.scope?.until ?? null;
  if (until === null || outcome.kind !== "completed") return outcome;
  if (!isItem(state, nodeIndex, iteration)) return outcome;
  const { outputJson, durationMs, usage } = outcome;
  const refuse = (cause: string, message: string): Outcome => ({
    ...{ kind: "failed", cause, message, permanent: true, durationMs },
    ...(usage === undefined ? {} : { usage }),
  });
  const scope = executionScope(state, nodeIndex, iteration);
  if (typeof scope === "string") return refuse("missing_variable", scope);
  const output: unknown = JSON.parse(outputJson);
  const stored = storedPath(until, { ...scope, output });
  if (stored !== undefined)
    return refuse(
      "condition_type",
      `until: ${stored} is stored outside of the log; return a small value to decide on`,
    );
  const verdict = judgeUntil(compileUntil(until), scope, output);
  if (!verdict.ok) return refuse(verdict.cause, verdict.message);
  return verdict.stop ? { ...outcome, stop: true } : outcome;
}

/** The first path of the condition whose value is stored outside of the log. */
function storedPath(until: string, scope: Scope): string | undefined {
  const paths = conditionPaths(until) ?? [];
  return paths.find((path) => hasReference(JSON.stringify(valueAt(scope, path)) ?? ""))?.join(".");
}

/** The value at a path, or the reference in which the path ends. */
function valueAt(scope: Scope, path: readonly string[]): unknown {
  let value: unknown = scope;
  for (const step of path) {
    if (!isRecord(value) && !Array.isArray(value)) return undefined;
    if (Object.hasOwn(value, REFERENCE_KEY)) return value;
    value = Object.hasOwn(value, step) ? Reflect.get(value, step) : undefined;
  }
  return value;
}
