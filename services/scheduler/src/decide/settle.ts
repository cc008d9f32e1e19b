// Turns an input into facts: checks the input against the run's fold, and drafts its consequences. No function here waits.

import { newRunState } from "@pawl/core/log/fold";
import type { Graph } from "@pawl/core/definition/graph";
import { unreachable } from "@pawl/core/fault/invariant";
import { isFinal, type Fact } from "@pawl/core/log/event";
import { executionAt, executionDefinition, presentIteration } from "@pawl/core/log/execution";
import { metadataFact } from "@pawl/core/log/metadata";
import { type AcceptedStart, startedFact } from "@pawl/core/log/start";
import type { RunState } from "@pawl/core/log/state";
import { isUndo } from "@pawl/core/log/undo-iteration";
import { onMetadata } from "@pawl/core/plan/metadata";
import { onLeaseLost } from "@pawl/core/plan/claim";
import { onApprovalDue, onDecision } from "@pawl/core/plan/decide";
import { onOverdue } from "@pawl/core/plan/overdue";
import { onOutcome } from "@pawl/core/plan/arrive";
import { madeTaint } from "@pawl/core/plan/label";
import type { Landing, Outcome } from "@pawl/core/plan/result";
import { onCancel, onDeadline } from "@pawl/core/plan/stop";
import { EXTERNAL_LABEL } from "@pawl/core/policy/taint";
import { type CachedRun, FACT_BYTES } from "../commit/cache.ts";
import type { Draft } from "../commit/draft.ts";
import { bury } from "../commit/follow.ts";
import { type Child, childStart, startedBy } from "./child.ts";
import {
  type DecideInput,
  type DueInput,
  type FencedInput,
  type Input,
  type MetadataInput,
  type LostInput,
  type OutcomeInput,
  type Reply,
  type ResendInput,
  type StartInput,
  refusal,
} from "../inputs/input.ts";
import { askToBegin } from "./begin.ts";
import { beginPaused, settlePause, settleRaise } from "./pause.ts";
import { responseFault } from "../inputs/response.ts";
import { settleSignal, settleSignalDue } from "./signal.ts";
import { NO_NODE } from "../commit/slots.ts";
import { withdrawAll } from "../commit/withdraw.ts";

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
      const given = child === undefined ? input.outcome : startedBy(input.outcome, child);
      const landing = { nodeIndex, iteration, epoch, jitter, now: draft.now };
      const outcome = labelled(state, landing, given, input.externalTypes);
      const wasPaused = state.status === "paused";
      const result = onOutcome(state, { ...landing, executorId, outcome }, responseFault);
      if (result.kind === "stale") return { kind: "doubtful", refuse: refusal(input) };
      if (result.kind === "accepted") appendAll(draft, run, result.facts);
      // The handler paused its run: what is queued has no jobs while the run is paused.
      if (!wasPaused && state.status === "paused") withdrawAll(draft, run);
      const isBlocked =
        result.kind === "accepted" && result.facts.some(({ type }) => type === "node.blocked");
      if (isBlocked && child?.kind === "found") {
        const asked = { claim, outcome, taint: madeTaint(state, landing, outcome) };
        settleStart(draft, child.graph, childStart(draft, run, asked, child));
      }
      return { kind: "drafted", reply: () => answer.resolve("settled") };
    }
    case "lost":
      return settleLost(draft, run, input);
    case "cancel": {
      const { reason, requestId, compensate, stop } = input;
      const result = onCancel(state, { reason, requestId, compensate, stop, now: draft.now });
      if (result.kind === "finished") return { kind: "doubtful", refuse: refusal(input) };
      appendAll(draft, run, result.facts);
      return { kind: "drafted", reply: () => input.answer.resolve("cancelled") };
    }
    case "decide":
      return settleDecision(draft, run, input);
    case "due":
      return settleDue(draft, run, input);
    case "signal":
      return settleSignal(draft, run, input);
    case "signal_due":
      return settleSignalDue(draft, run, input);
    case "pause":
    case "resume":
      return settlePause(draft, run, input);
    case "raise":
      return settleRaise(draft, run, input);
    case "metadata":
      return settleMetadata(draft, run, input);
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

function settleMetadata(draft: Draft, run: CachedRun, { patch, answer }: MetadataInput): Settled {
  const result = onMetadata(run.state, patch);
  if (result.kind !== "accepted")
    return { kind: "doubtful", refuse: () => answer.resolve(result.kind) };
  appendAll(draft, run, result.facts);
  return { kind: "drafted", reply: () => answer.resolve("accepted") };
}

/** The outcome with the label of its type, if its executor says that the type brings data from outside. */
function labelled(
  state: RunState,
  { nodeIndex, iteration }: Pick<Landing, "nodeIndex" | "iteration">,
  outcome: Outcome,
  external: ReadonlySet<string> | undefined,
): Outcome {
  if (external === undefined || external.size === 0 || nodeIndex < 0) return outcome;
  if (!external.has(executionDefinition(state, nodeIndex, iteration).type)) return outcome;
  return { ...outcome, labels: [...(outcome.labels ?? []), EXTERNAL_LABEL] };
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
  // A compensation that failed is a dead letter anyway. A temporary run is deleted soon, so no person can start it again.
  for (const fact of isUndo(iteration) || state.kind === "temporary" ? [] : result.facts)
    if (fact.type === "node.failed")
      bury(draft, { run, nodeIndex, iteration }, reason, fact.payload.message);
  return isTaken;
}

/** Places executions again that the same event queued. The run gets a new version, so no other scheduler repeats this. */
function settleResend(draft: Draft, run: CachedRun, input: ResendInput): Settled {
  const { state } = run;
  for (const { nodeId, iteration, queuedSeq } of input.executions) {
    if (nodeId === NO_NODE && isPending(state)) {
      draft.touch(run);
      askToBegin(draft, run);
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

/** A start with the webhooks of its workflow before its own. A run that only undoes another one has none. */
function withWebhooks({ definition }: Graph, start: AcceptedStart): AcceptedStart {
  const webhooks = [...definition.webhooks, ...(start.webhooks ?? [])];
  return webhooks.length === 0 || start.undoes !== undefined ? start : { ...start, webhooks };
}

/** Drafts a new run. A run of a paused workflow begins paused. */
export function settleStart(draft: Draft, graph: Graph, asked: AcceptedStart): CachedRun {
  const start = withWebhooks(graph, asked);
  const state = newRunState(start.runId, graph);
  const { workflowId, priority, traceparent } = start;
  const bytes = state.nodes.length * FACT_BYTES;
  const about = { workflowId, priority, traceparent, bytes, snapshotSeq: 0, snapshotAt: draft.now };
  const run: CachedRun = { state, version: 0, ...about };
  draft.begin(run, start);
  draft.append(run, startedFact(start));
  if (start.metadata !== undefined) draft.append(run, metadataFact(start.metadata));
  if (start.repair !== undefined) appendAll(draft, run, start.repair.facts);
  const pause = draft.pauses.workflow(start.tenantId, workflowId);
  if (pause !== undefined) beginPaused(draft, run, pause);
  return run;
}

function appendAll(draft: Draft, run: CachedRun, facts: readonly Fact[]): void {
  for (const fact of facts) draft.append(run, fact);
}
