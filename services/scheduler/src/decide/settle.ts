// Turns an input into facts: checks the input against the run's fold, and drafts its consequences. No function here waits.

import { newRunState } from "@pawl/core/log/fold";
import type { Graph } from "@pawl/core/definition/graph";
import { unreachable } from "@pawl/core/fault/invariant";
import { isFinal, type Fact } from "@pawl/core/log/event";
import { executionAt, presentIteration } from "@pawl/core/log/execution";
import { type AcceptedStart, startedFact } from "@pawl/core/log/start";
import type { RunState } from "@pawl/core/log/state";
import { onLeaseLost } from "@pawl/core/plan/claim";
import { onApprovalDue, onDecision } from "@pawl/core/plan/decide";
import { onOverdue } from "@pawl/core/plan/overdue";
import { onOutcome } from "@pawl/core/plan/arrive";
import { onCancel, onDeadline } from "@pawl/core/plan/stop";
import { uuidV7 } from "../run-id.ts";
import { type CachedRun, FACT_BYTES } from "../commit/cache.ts";
import type { Draft } from "../commit/draft.ts";
import { type Child, childStart } from "./child.ts";
import {
  type DecideInput,
  type DueInput,
  type FencedInput,
  type Input,
  type LostInput,
  type OutcomeInput,
  type Reply,
  type ResendInput,
  type StartInput,
  refusal,
} from "../inputs/input.ts";
import { beginPaused, settlePause, withdrawAll } from "./pause.ts";
import { responseFault } from "./response.ts";
import { NO_NODE } from "../commit/slots.ts";
import { jobKeyOf } from "../commit/run-draft.ts";

export type Settled =
  | { readonly kind: "drafted"; readonly reply: Reply }
  /** The fold that refuses the input may be stale. The tick judges the input again on a fresh fold before it refuses it. */
  | { readonly kind: "doubtful"; readonly refuse: Reply };

/** Inputs that the run's fold judges. */
export type JudgedInput = Exclude<Input, StartInput | FencedInput>;

/** Drafts the consequences of one input about a run that exists. */
export function settle(
  draft: Draft,
  run: CachedRun | undefined,
  input: JudgedInput,
  children: ReadonlyMap<OutcomeInput, Child> = new Map(),
): Settled {
  if (run === undefined) return { kind: "doubtful", refuse: refusal(input) };
  const { state } = run;
  switch (input.kind) {
    case "outcome": {
      const nodeIndex = state.graph.indexOf.get(input.claim.nodeId) ?? -1;
      const { claim, jitter, answer } = input;
      const { iteration, epoch, executorId } = claim;
      const child = children.get(input);
      const outcome = child?.kind === "missing" ? child.outcome : input.outcome;
      const landing = { nodeIndex, iteration, epoch, jitter, now: draft.now };
      const wasPaused = state.status === "paused";
      const result = onOutcome(state, { ...landing, executorId, outcome }, responseFault);
      if (result.kind === "stale") return { kind: "doubtful", refuse: refusal(input) };
      if (result.kind === "accepted") appendAll(draft, run, result.facts);
      // The handler paused its run: what is queued has no jobs while the run is paused.
      if (!wasPaused && state.status === "paused") withdrawAll(draft, run);
      if (result.kind === "accepted" && child?.kind === "found")
        if (result.facts.some((fact) => fact.type === "node.blocked"))
          settleStart(draft, child.graph, childStart(draft, run, input, child));
      return { kind: "drafted", reply: () => answer.resolve("settled") };
    }
    case "lost":
      return settleLost(draft, run, input);
    case "cancel": {
      const result = onCancel(state, { reason: input.reason, requestId: input.requestId });
      if (result.kind === "finished") return { kind: "doubtful", refuse: refusal(input) };
      appendAll(draft, run, result.facts);
      return { kind: "drafted", reply: () => input.answer.resolve("cancelled") };
    }
    case "decide":
      return settleDecision(draft, run, input);
    case "due":
      return settleDue(draft, run, input);
    case "pause":
    case "resume":
      return settlePause(draft, run, input);
    case "deadline": {
      const result = onDeadline(state, draft.now);
      if (result.kind !== "accepted") return { kind: "doubtful", refuse: refusal(input) };
      appendAll(draft, run, result.facts);
      return { kind: "drafted", reply: () => input.answer.resolve() };
    }
    case "resend":
      return settleResend(draft, run, input);
    case "relink":
      if (isFinal(state.status)) draft.endedChildren.push(run);
      return { kind: "drafted", reply: () => input.answer.resolve() };
    default:
      return unreachable(input, "input");
  }
}

/** Drafts a person's decision. If it does not apply, the tick judges it again on a fresh fold before it refuses it. */
function settleDecision(draft: Draft, run: CachedRun, input: DecideInput): Settled {
  const { state } = run;
  const { kind: _kind, runId: _runId, nodeId, answer, ...decision } = input;
  const nodeIndex = state.graph.indexOf.get(nodeId);
  if (nodeIndex === undefined) return { kind: "doubtful", refuse: () => answer.resolve("no_node") };
  const iteration = presentIteration(state, nodeIndex, decision.iteration);
  const result = onDecision(state, { ...decision, nodeIndex, iteration, now: draft.now });
  if (result.kind === "accepted") {
    appendAll(draft, run, result.facts);
    return { kind: "drafted", reply: () => answer.resolve("accepted") };
  }
  const { kind } = result;
  const why = kind === "not_held" && isFinal(state.status) ? "finished" : kind;
  return { kind: "doubtful", refuse: () => answer.resolve(why) };
}

/** Drafts that no person answered in time, by the store's clock. Drafts nothing if a person did answer. */
function settleDue(draft: Draft, run: CachedRun, input: DueInput): Settled {
  const { nodeId, iteration, approvalId, answer } = input;
  const nodeIndex = run.state.graph.indexOf.get(nodeId) ?? -1;
  const due = { nodeIndex, iteration, approvalId, now: draft.now };
  const result = onApprovalDue(run.state, due);
  if (result.kind === "stale") return { kind: "doubtful", refuse: () => answer.resolve() };
  appendAll(draft, run, result.facts);
  return { kind: "drafted", reply: () => answer.resolve() };
}

/** Drafts that a claim is lost or past its timeout. After the last delivery the node becomes a dead letter. */
function settleLost(draft: Draft, run: CachedRun, input: LostInput): Settled {
  const { state } = run;
  const nodeIndex = state.graph.indexOf.get(input.claim.nodeId) ?? -1;
  const { claim, reason, executorId, answer } = input;
  const { iteration, epoch } = claim;
  const loss = { nodeIndex, iteration, epoch, executorId, now: draft.now };
  const result =
    reason === "overdue" ? onOverdue(state, loss) : onLeaseLost(state, { ...loss, reason });
  if (result.kind === "stale") return { kind: "doubtful", refuse: refusal(input) };
  appendAll(draft, run, result.facts);
  const isTaken: Settled = { kind: "drafted", reply: () => answer.resolve("taken") };
  if (reason === "overdue") return isTaken;
  for (const fact of result.facts)
    if (fact.type === "node.failed")
      draft.buried.push({
        ...jobKeyOf({ run, nodeIndex, iteration: claim.iteration }),
        deadLetterId: uuidV7(draft.now),
        deliveries: executionAt(state, nodeIndex, claim.iteration)?.lostDeliveries ?? 0,
        executorId,
        reason,
        errorMessage: fact.payload.message,
      });
  return isTaken;
}

/** Places executions again that the same event queued. The run gets a new version, so no other scheduler repeats this. */
function settleResend(draft: Draft, run: CachedRun, input: ResendInput): Settled {
  const { state } = run;
  for (const { nodeId, iteration, queuedSeq } of input.executions) {
    if (nodeId === NO_NODE && isPending(state)) {
      draft.touch(run);
      draft.slots.askRun(run);
      continue;
    }
    const nodeIndex = state.graph.indexOf.get(nodeId);
    if (nodeIndex === undefined) continue;
    const execution = executionAt(state, nodeIndex, iteration);
    if (execution?.status !== "queued" || execution.causeSeq !== queuedSeq) continue;
    draft.touch(run);
    draft.ready.push({ run, nodeIndex, iteration });
  }
  return { kind: "drafted", reply: () => input.answer.resolve() };
}

/** Whether the run waits for a slot of its workflow. */
const isPending = ({ status, isAdmitted }: RunState): boolean => !isAdmitted && !isFinal(status);

/** Drafts a new run. A run of a paused workflow begins paused. */
export function settleStart(draft: Draft, graph: Graph, start: AcceptedStart): CachedRun {
  const state = newRunState(start.runId, graph);
  const { workflowId, priority, traceparent } = start;
  const bytes = state.nodes.length * FACT_BYTES;
  const about = { workflowId, priority, traceparent, bytes, snapshotSeq: 0, snapshotAt: draft.now };
  const run: CachedRun = { state, version: 0, ...about };
  draft.begin(run, start);
  draft.append(run, startedFact(start));
  const pause = draft.pauses.workflow(start.tenantId, workflowId);
  if (pause !== undefined) beginPaused(draft, run, pause);
  return run;
}

function appendAll(draft: Draft, run: CachedRun, facts: readonly Fact[]): void {
  for (const fact of facts) draft.append(run, fact);
}
