// Turns reports of executors into domain values.

import { create } from "@bufbuild/protobuf";
import { parseActions } from "@pawl/core/action/action";
import type { Action } from "@pawl/core/action/kinds";
import { fromShape } from "@pawl/core/action/shape";
import { checkJson, REFERRING_LIMITS } from "@pawl/core/data/json";
import { LIMITS } from "@pawl/core/data/limits";
import { type Cause, currentCause } from "@pawl/core/fault/cause";
import { approvalId, isName, isUuid, nodeId, runId } from "@pawl/core/name/ids";
import { APPROVAL } from "@pawl/core/log/event";
import { askedGoto } from "@pawl/core/plan/repeat";
import type { Check, Outcome } from "@pawl/core/plan/result";
import {
  type ChildRun as WireChildRun,
  type Claim as WireClaim,
  type Completed as WireCompleted,
  CompletedSchema,
  type Held as WireHeld,
  type Question as WireQuestion,
  type Gate as WireCheck,
  GateKind,
  type Outcome as WireOutcome,
} from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { callOf, cleanText, NAME_LENGTH } from "./wire-text.ts";
import { newRunId, uuidV7 } from "../run-id.ts";
import type { Claim } from "../inputs/input.ts";
import type { SchedulerItemInit } from "../commit/executor.ts";
import { wireClaim } from "../hand-off/assignment.ts";
import { awaitingOf } from "./awaiting.ts";
import { labelsFault } from "./labels-fault.ts";
import { withUsage } from "./usage.ts";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
/** The largest integer that the store can hold. The wire allows twice as much. */
const INTEGER_MAX = 2 ** 31 - 1;
const CAUSE_LENGTH = 64;
/** There are two phases and two kinds of checks. The bound allows more of each. */
const CHECKS_MAX = 8;
const CHECK_TYPES: ReadonlyMap<GateKind, Check["type"]> = new Map([
  [GateKind.CONTRACT_VIOLATED, "contract.violated"],
  [GateKind.MODERATION_FLAGGED, "moderation.flagged"],
]);

/** The claim, or undefined if there can be no such claim. The scheduler treats it as stale. */
export function claimOf(wire: WireClaim | undefined): Claim | undefined {
  if (wire === undefined || !isUuid(wire.runId) || !isName(wire.nodeId)) return undefined;
  if (wire.epoch > BigInt(Number.MAX_SAFE_INTEGER) || wire.iteration > INTEGER_MAX)
    return undefined;
  return {
    runId: runId(wire.runId),
    nodeId: nodeId(wire.nodeId),
    iteration: wire.iteration,
    epoch: Number(wire.epoch),
  };
}

/** Whether a position in a stream can be stored and counted. */
export const isIndex = (index: number): boolean => index < INTEGER_MAX;

/** How the attempt ended, and the findings of the checks around its handler. Ids in it are made with `now`. */
export function outcomeOf(wire: WireOutcome, now: number): Outcome {
  const checks = wire.gates.slice(0, CHECKS_MAX).flatMap(checkOf);
  const ending = withUsage(endingOf(wire, now), wire);
  return checks.length === 0 ? ending : { ...ending, checks };
}

/** Leaves out a check of an unknown kind. Details that cannot be stored become null. */
function checkOf({ kind, phase, detailsJson }: WireCheck): Check[] {
  const type = CHECK_TYPES.get(kind);
  if (type === undefined || (phase !== "input" && phase !== "output")) return [];
  const text = decode(detailsJson) ?? "";
  return [{ type, phase, detailsJson: checkJson(text).ok ? text : "null" }];
}

/** An output that is not storable JSON is a failure of the handler, not of the engine. */
function endingOf(wire: WireOutcome, now: number): Outcome {
  const durationMs = Math.min(Number(wire.durationMs), Number.MAX_SAFE_INTEGER);
  const { result } = wire;
  if (result.case === "completed") return followed(completedOf(result.value, durationMs), now);
  if (result.case === "held") return heldOf(result.value, durationMs, now);
  if (result.case === "expanded") {
    const { itemsJson, cut } = result.value;
    const items = jsonOf(itemsJson);
    if (!items.ok) return unacceptable(items.rule, durationMs);
    if (!Array.isArray(items.value)) return unacceptable("WRONG_TYPE", durationMs);
    return { kind: "expanded", itemsJson: items.text, width: items.value.length, cut, durationMs };
  }
  if (result.case === "childRun") return childRunOf(result.value, durationMs, now);
  if (result.case === "awaitSignal") return awaitingOf(result.value, durationMs);
  if (result.case !== "failed") return failed("the executor reported no result", durationMs);
  const { cause, message, permanent, detailsJson } = result.value;
  const retryAfterMs = Math.min(Number(result.value.retryAfterMs), LIMITS.retryAfterMsMax);
  const timeoutMs = Math.min(Number(result.value.timeoutMs), LIMITS.nodeTimeoutMsMax);
  const details = decode(detailsJson) ?? "";
  return {
    kind: "failed",
    cause: currentCause(cleanText(cause, CAUSE_LENGTH)) || "provider_error",
    message: cleanText(message),
    permanent,
    durationMs,
    ...(details !== "" && checkJson(details).ok ? { detailsJson: details } : {}),
    ...(retryAfterMs === 0 ? {} : { retryAfterMs }),
    ...(timeoutMs === 0 ? {} : { timeoutMs }),
  };
}

function completedOf(wire: WireCompleted, durationMs: number): Ended {
  const { outputJson, handle, queueDelayMs, stop } = wire;
  const output = jsonOf(outputJson);
  if (!output.ok) return unacceptable(output.rule, durationMs);
  const actions = parseActions(wire.actions.map(fromShape), REFERRING_LIMITS);
  if (!actions.ok) return failed(actions.message, durationMs, actions.cause);
  const fault = labelsFault(wire.taint);
  if (fault !== undefined) return failed(fault, durationMs, "taint_invalid");
  const delayMs = Math.min(Number(queueDelayMs), LIMITS.delayMsMax);
  const left = cleanText(handle, NAME_LENGTH);
  return {
    kind: "completed",
    outputJson: output.text,
    durationMs,
    ...(left === "" ? {} : { handle: left }),
    ...(delayMs === 0 ? {} : { queueDelayMs: delayMs }),
    ...(stop ? { stop } : {}),
    ...(wire.calls.length === 0 ? {} : { calls: wire.calls.map(callOf) }),
    ...(actions.actions.length === 0 ? {} : { actions: actions.actions }),
    ...(wire.taint.length === 0 ? {} : { labels: wire.taint }),
  };
}

/**
 * A handler may end by a question to a person or by a run of another workflow. Then its output is the default of what they show. Or it
 * names the node that runs next.
 */
function followed(ended: Ended, now: number): Outcome {
  if (ended.kind !== "completed" || ended.actions === undefined) return ended;
  const { durationMs, outputJson, labels } = ended;
  const asked = ended.actions.find(({ type }) => type === "request_human_input");
  const handed = ended.actions.find(({ type }) => type === "handoff");
  const goto = askedGoto(ended.actions);
  if (goto !== undefined) return { ...ended, goto };
  if (asked?.type === "request_human_input") {
    const { message, detailsJson, assignees, deadlineMs } = asked;
    const details = detailsJson === "" ? outputJson : detailsJson;
    const question = { message, assignees, deadlineMs: BigInt(deadlineMs) };
    const held = askedOf({ ...question, detailsJson: Buffer.from(details) }, durationMs, now);
    return { ...held, actions: ended.actions, labels };
  }
  if (handed?.type !== "handoff" || handed.workflow === "") return ended;
  const { workflow, version, inputJson } = handed;
  const input = Buffer.from(inputJson === "" ? outputJson : inputJson);
  const child = childRunOf({ workflowId: workflow, version, inputJson: input }, durationMs, now);
  const isHandoff = child.kind === "child_run" ? { isHandoff: true } : {};
  return { ...child, actions: ended.actions, labels, ...isHandoff };
}

/** A hold without a reason or a known phase is a failure, because no person could answer it. */
function heldOf(wire: WireHeld, durationMs: number, now: number): Outcome {
  const { reason, phase, completed } = wire;
  const why = cleanText(reason, CAUSE_LENGTH);
  if (why === "" || (phase !== "input" && phase !== "output"))
    return failed("the executor held the node without saying why or what", durationMs);
  if (why === APPROVAL) return askedOf(wire.approval, durationMs, now);
  const approval = {
    approvalId: approvalId(uuidV7(now)),
    message: `${why}: a person is to look at the ${phase}.`,
    assignees: [],
  };
  const held = { kind: "held", reason: why, approval } as const;
  if (phase === "input") return { ...held, phase, durationMs };
  const output = completedOf(completed ?? create(CompletedSchema), durationMs);
  const late = (output.actions ?? []).find(({ type }) => !MAY_WAIT.has(type));
  if (late !== undefined)
    return failed(
      `${late.type}: the output waits for a person, and this action cannot`,
      durationMs,
      "action_invalid",
    );
  return output.kind === "completed" ? { ...output, ...held, phase } : output;
}

/** The actions that can wait until a person has checked the output. The others ask for something at once. */
const MAY_WAIT: ReadonlySet<Action["type"]> = new Set([
  "update_memory",
  "merge_parallel_results",
  "set_status",
]);

type Asked = Pick<WireQuestion, "message" | "detailsJson" | "assignees" | "deadlineMs">;

function askedOf(question: Asked | undefined, durationMs: number, now: number): Outcome {
  if (question === undefined || question.message === "")
    return failed("the executor asks a person and does not say what", durationMs);
  const details = jsonOf(question.detailsJson);
  if (!details.ok) return unacceptable(details.rule, durationMs);
  const deadlineMs = Math.min(Number(question.deadlineMs), LIMITS.approvalDeadlineMsMax);
  const assignees = question.assignees
    .slice(0, LIMITS.approvalAssignees)
    .map((one) => cleanText(one, LIMITS.labelLength))
    .filter((one) => one !== "");
  const approval = {
    approvalId: approvalId(uuidV7(now)),
    message: cleanText(question.message, LIMITS.approvalMessageLength),
    assignees: [...new Set(assignees)],
    ...(deadlineMs === 0 ? {} : { deadlineMs }),
  };
  return {
    kind: "held",
    reason: APPROVAL,
    phase: "output",
    durationMs,
    outputJson: details.text,
    approval,
  };
}

type Ended = Extract<Outcome, { kind: "completed" | "failed" }>;

type AskedRun = Pick<WireChildRun, "workflowId" | "version" | "inputJson">;

function childRunOf(wire: AskedRun, durationMs: number, now: number): Outcome {
  const { workflowId, version, inputJson } = wire;
  if (!isName(workflowId) || version > INTEGER_MAX)
    return failed("the executor named no workflow", durationMs);
  const input = jsonOf(inputJson, { ...REFERRING_LIMITS, bytes: LIMITS.inputBytes });
  if (!input.ok) return unacceptable(input.rule, durationMs);
  const childRunId = newRunId(now);
  return { kind: "child_run", childRunId, workflowId, version, inputJson: input.text, durationMs };
}

type Json =
  | { readonly ok: true; readonly text: string; readonly value: unknown }
  | { readonly ok: false; readonly rule: string };

/** JSON bytes as text and as a value, or the rule that they break. No bytes mean null. */
function jsonOf(bytes: Uint8Array, limits = REFERRING_LIMITS): Json {
  const text = bytes.length === 0 ? "null" : decode(bytes);
  if (text === undefined) return { ok: false, rule: "BAD_UNICODE" };
  const checked = checkJson(text, limits);
  return checked.ok
    ? { ok: true, text, value: checked.value }
    : { ok: false, rule: checked.reason };
}

/** The text, or undefined if the bytes are not UTF-8. */
export function decode(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

const unacceptable = (rule: string, durationMs: number): Ended =>
  failed(`the output is not acceptable JSON (${rule})`, durationMs);

const failed = (message: string, durationMs: number, cause: Cause = "output_invalid"): Ended => ({
  kind: "failed",
  cause,
  message,
  permanent: true,
  durationMs,
});

/** An item that only names a claim. */
export function claimItem(
  kind: "settled" | "claimLost" | "cancel",
  claim: Claim,
): SchedulerItemInit {
  const value = { claim: wireClaim(claim) };
  // TypeScript wants one constant case in each branch.
  if (kind === "settled") return { item: { case: kind, value } };
  if (kind === "cancel") return { item: { case: kind, value } };
  return { item: { case: kind, value } };
}
