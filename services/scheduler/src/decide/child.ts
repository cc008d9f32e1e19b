// Child runs. The transaction that blocks a node also inserts its child run. The transaction that ends the child also advances the node
// that waits for it. The transaction that cancels the node also cancels the child.
//
// Race: another scheduler advances the parent or the child at the same time. Each run here has its own compare-and-swap in the same
// transaction, so the transaction commits all changes or none. If the cached fold of a parent does not wait for the child, the tick reads
// the parent again before it ignores the end of the child.

import type { Graph } from "@pawl/core/definition/graph";
import type { Cause } from "@pawl/core/fault/cause";
import type { AcceptedStart } from "@pawl/core/log/start";
import { executionAt } from "@pawl/core/log/execution";
import type { RunState } from "@pawl/core/log/state";
import type { RunId } from "@pawl/core/name/ids";
import { runLimits } from "@pawl/core/plan/limits";
import { raiseAbove } from "@pawl/core/plan/raise";
import { onChildEnd } from "@pawl/core/plan/child-end";
import type { Labelled } from "@pawl/core/plan/label";
import type { Outcome } from "@pawl/core/plan/result";
import { type Budget, lowerBudget, present } from "@pawl/core/policy/budget";
import type { Limits } from "@pawl/core/policy/limit";
import { joinTaint, movedTo, UNTRUSTED_INPUT } from "@pawl/core/policy/taint";
import { onCancel } from "@pawl/core/plan/stop";
import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import type { DefinitionRow } from "@pawl/platform/store/workflows/workflows";
import { inputMisfits, misfitText } from "../inputs/run-input.ts";
import type { CachedRun, RunCache } from "../commit/cache.ts";
import type { Definitions } from "../commit/definitions.ts";
import type { Draft } from "../commit/draft.ts";
import type { Input, OutcomeInput } from "../inputs/input.ts";

/** The workflow that a node starts, or the failure if there is none. */
export type Child =
  | {
      readonly kind: "found";
      readonly row: DefinitionRow;
      readonly graph: Graph;
      readonly limits: Limits;
    }
  | { readonly kind: "missing"; readonly outcome: Outcome };

/** Finds the definitions of the child runs that a batch starts. */
export async function findChildren(
  definitions: Definitions,
  inputs: readonly Input[],
): Promise<ReadonlyMap<OutcomeInput, Child>> {
  const found = new Map<OutcomeInput, Child>();
  for (const input of inputs) {
    if (input.kind !== "outcome" || input.outcome.kind !== "child_run") continue;
    const { workflowId, version, durationMs, inputJson } = input.outcome;
    const child = await definitions.find(DEFAULT_TENANT, workflowId, version);
    const named = version === 0 ? workflowId : `${workflowId} version ${version}`;
    const missing = (cause: Cause, message: string): Child => ({
      kind: "missing",
      outcome: { kind: "failed", cause, message, permanent: true, durationMs },
    });
    if (child === undefined) {
      found.set(input, missing("workflow_not_found", `there is no workflow ${named}`));
      continue;
    }
    const misfits = inputMisfits(child.graph, inputJson, "input");
    if (misfits.length > 0) {
      found.set(input, missing("input_invalid", `workflow ${named}: ${misfitText(misfits)}`));
      continue;
    }
    const limits = runLimits(child.graph.definition, inputJson);
    found.set(
      input,
      limits?.ok === false
        ? missing("limit_key_invalid", `workflow ${named}: ${limits.message}`)
        : { kind: "found", ...child, limits: limits?.limits ?? {} },
    );
  }
  return found;
}

/** The outcome of a node that asks for a child run, with what is known about its workflow. */
export function startedBy(outcome: Outcome, child: Child): Outcome {
  if (child.kind === "missing") return child.outcome;
  return outcome.kind === "child_run" && mayCompensate(child.graph)
    ? { ...outcome, compensates: true }
    : outcome;
}

/** Whether a run of the workflow may undo nodes when it is cancelled: its own, or those of a child run. */
const mayCompensate = ({ nodes }: Graph): boolean =>
  nodes.some(
    ({ definition: { type, scope, compensation } }) =>
      compensation !== undefined || type === "subworkflow" || scope?.body.type === "subworkflow",
  );

/** The start of a child run. It has the priority, the trace and the deadline of its parent. */
export function childStart(
  draft: Draft,
  { state, priority, traceparent }: CachedRun,
  { claim, outcome, taint }: Pick<OutcomeInput, "claim" | "outcome"> & Pick<Labelled, "taint">,
  { row, graph, limits }: Extract<Child, { kind: "found" }>,
): AcceptedStart {
  if (outcome.kind !== "child_run") throw new TypeError("no child run was asked for");
  const { runId, nodeId, iteration } = claim;
  const parent = { runId, nodeId, iteration };
  // The child does not know the nodes of its parent.
  const untrusted = graph.definition.hasUntrustedInput ? UNTRUSTED_INPUT : undefined;
  const inputTaint = joinTaint(movedTo("", taint), untrusted);
  const deadlineAt = Math.min(draft.now + graph.definition.deadlineMs, state.deadlineAt);
  return {
    runId: outcome.childRunId,
    tenantId: DEFAULT_TENANT,
    kind: state.kind === "temporary" ? "temporary" : "saved",
    definitionId: row.definitionId,
    definitionDigest: row.digest,
    workflowId: row.workflowId,
    workflowVersion: row.version,
    assumesNewest: false,
    priority,
    requestId: null,
    requestHash: null,
    traceparent,
    createdAt: draft.now,
    deadlineAt,
    ...budgetOf(graph, state, claim),
    limits,
    input: outcome.inputJson,
    parent,
    depth: state.depth + 1,
    ...(inputTaint === undefined ? {} : { taint: inputTaint }),
  };
}

/**
 * The lower of the child's own budget and of what its parent has reserved for it. The child does what its parent does when it is exceeded,
 * if its own definition does not say. The parent waits for a child that pauses.
 */
function budgetOf(
  { definition }: Graph,
  parent: RunState,
  { nodeId, iteration }: Pick<OutcomeInput["claim"], "nodeId" | "iteration">,
): { readonly budget?: Budget } {
  const index = parent.graph.indexOf.get(nodeId) ?? -1;
  const reserved = executionAt(parent, index, iteration)?.reserved;
  const otherwise = parent.budget?.onExceeded;
  const budget = lowerBudget(definition.budget, reserved && present(reserved), otherwise);
  return budget === undefined ? {} : { budget };
}

/**
 * Advances parents and child runs until nothing changes, at most as often as runs are nested. The same transaction has written the draft
 * `earlier`. The folds of its runs are current, and the store does not show them yet.
 */
export async function followLinks(cache: RunCache, draft: Draft, earlier?: Draft): Promise<void> {
  const runs: Runs = {
    cache,
    has: (runId) => draft.has(runId) || earlier?.has(runId) === true,
    find: (runId) => draft.run(runId) ?? earlier?.run(runId) ?? cache.get(runId),
  };
  while (draft.orphans.length > 0 || draft.endedChildren.length > 0 || draft.raised.length > 0) {
    const orphans = draft.orphans.splice(0);
    const ended = draft.endedChildren.splice(0);
    const raised = draft.raised.splice(0);
    const linked = [
      ...orphans.map(({ runId }) => runId),
      ...ended.flatMap(({ state }) => state.parent?.runId ?? []),
      ...raised.flatMap(({ run: { state } }) => state.parent?.runId ?? []),
    ];
    await cache.ensure(linked.filter((runId) => !runs.has(runId)));
    for (const orphan of orphans) {
      const child = runs.find(orphan.runId);
      if (child !== undefined) cancelChild(draft, child, orphan);
    }
    for (const each of raised) raiseParent(runs, draft, each);
    for (const child of ended) await tellParent(runs, draft, child);
  }
}

/** The newest folds of parents and child runs. */
interface Runs {
  readonly cache: RunCache;
  /** Whether this transaction advances the run. The store then does not show its newest state. */
  readonly has: (runId: RunId) => boolean;
  readonly find: (runId: RunId) => CachedRun | undefined;
}

/**
 * The transaction that ended a child has advanced its parent. The compare-and-swap on the parent decides between that end and this
 * cancellation.
 */
function cancelChild(
  draft: Draft,
  child: CachedRun,
  { reason, stopsUndoing }: Draft["orphans"][number],
): void {
  const why = { reason: `the parent run: ${reason}`, requestId: "" };
  const stop = onCancel(child.state, { ...why, stopsUndoing, now: draft.now });
  if (stop.kind !== "accepted") return;
  for (const fact of stop.facts) draft.append(child, fact);
  // A child that has something to undo is compensated first.
  draft.planRun(child);
}

/** Another scheduler may have moved the parent. Then the compare-and-swap fails, and the tick raises both again on fresh folds. */
function raiseParent(runs: Runs, draft: Draft, { run, raise }: Draft["raised"][number]): void {
  const { parent: link } = run.state;
  const parent = link === undefined ? undefined : runs.find(link.runId);
  const above = parent && raiseAbove(parent.state, run.state, raise);
  if (parent === undefined || above === undefined) return;
  draft.append(parent, above.fact);
  if (parent.state.parent !== undefined) draft.raised.push({ run: parent, raise: above.raise });
}

async function tellParent(runs: Runs, draft: Draft, child: CachedRun): Promise<void> {
  const link = child.state.parent;
  if (link === undefined) return;
  const judge = (): boolean => {
    const parent = runs.find(link.runId);
    const nodeIndex = parent?.state.graph.indexOf.get(link.nodeId);
    if (parent === undefined || nodeIndex === undefined) return false;
    const { iteration } = link;
    const end = { nodeIndex, iteration, child: child.state, now: draft.now };
    const result = onChildEnd(parent.state, end);
    if (result.kind !== "accepted") return false;
    for (const fact of result.facts) draft.append(parent, fact);
    draft.planRun(parent);
    return true;
  };
  if (judge() || runs.has(link.runId)) return;
  await runs.cache.refresh([link.runId]);
  judge();
}
