// The outcome of a handler in the form that the scheduler gets. It completed with a JSON output, expanded into items, waits for a child run
// or a person, or failed with a cause. Every text is bounded and can be stored.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { toShape } from "@pawl/core/action/shape";
import { encodeJson } from "@pawl/core/data/encode-json";
import { LIMITS } from "@pawl/core/data/limits";
import type { Scope } from "@pawl/core/data/scope";
import type { Cause } from "@pawl/core/fault/cause";
import type { AskedSignal } from "@pawl/core/glue/glue";
import { judgeUntil, type Until } from "@pawl/core/glue/until";
import { describe, type FailedOptions } from "@pawl/core/handler/failure";
import { Directive } from "@pawl/core/handler/result";
import type { SettledFailure, SettledResult } from "@pawl/core/handler/served";
import { cleanText, settled, settledFailure } from "@pawl/core/handler/settle";
import { APPROVAL } from "@pawl/core/log/event";
import { toUsageShape } from "@pawl/core/log/usage-shape";
import { type OutcomeSchema, ToolCallSchema } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import {
  AwaitedSignal,
  ChildRun,
  type ChildRunOptions,
  Expansion,
  type HandlerResult,
  Question,
  type QuestionOptions,
  Turn,
} from "../handlers/handler.ts";

/** The `result` of an Outcome. */
export type WireResult = NonNullable<MessageInitShape<typeof OutcomeSchema>["result"]>;

/** The outcome of a handler that returned. */
export function returned(outcome: HandlerResult): WireResult {
  try {
    if (outcome instanceof Directive) return directed(outcome);
    const ended = settled(outcome, LIMITS.storedBytes);
    return "failure" in ended ? failedBy(ended.failure) : completedBy(ended.result);
  } catch (error) {
    return thrown(error);
  }
}

/** The outcome of a handler that threw. */
export const thrown = (error: unknown): WireResult => failed("provider_error", describe(error));

/** A failure with a cause of Pawl. The message is cut and made safe to store. */
export const failed = (cause: Cause, message: string, options: FailedOptions = {}): WireResult =>
  failedWith(cause, message, options);

/** A failure with the cause that a handler gave. */
export const failedWith = (cause: string, message: string, options: FailedOptions): WireResult =>
  failedBy(settledFailure(cause, message, options));

/** Whether the iteration now waits for a person or a run. The scheduler judges what the wait gives. */
const waits = ({ actions = [] }: Extract<WireResult, { case: "completed" }>["value"]): boolean =>
  actions.some(
    ({ action }) =>
      action?.case === "requestHumanInput" ||
      (action?.case === "handoff" && (action.value.workflow ?? "") !== ""),
  );

/** The result of an iteration. A completed one is marked if the condition ends the loop. */
export function judged(until: Until | undefined, scope: Scope, result: WireResult): WireResult {
  if (until === undefined || result.case !== "completed" || waits(result.value)) return result;
  const verdict = judgeUntil(until, scope, parsedJson(result.value.outputJson));
  if (!verdict.ok) return failed(verdict.cause, verdict.message, { permanent: true });
  return { case: "completed", value: { ...result.value, stop: verdict.stop } };
}

/** The value of JSON bytes; null if there are none. */
export const parsedJson = (json: Uint8Array = new Uint8Array()): unknown =>
  json.length === 0 ? null : JSON.parse(Buffer.from(json).toString("utf8"));

/** The cause of a failed result, or the kind of any other: the label for metrics and spans. */
export const causeOf = (result: WireResult): string =>
  result.case === "failed" ? (result.value.cause ?? "") : (result.case ?? "");

function failedBy({ detailsJson, retryAfterMs, timeoutMs, ...rest }: SettledFailure): WireResult {
  return {
    case: "failed",
    value: {
      ...rest,
      ...(detailsJson === "" ? {} : { detailsJson: Buffer.from(detailsJson) }),
      retryAfterMs: BigInt(retryAfterMs),
      timeoutMs: BigInt(timeoutMs),
    },
  };
}

function completedBy(result: SettledResult): WireResult {
  const { outputJson, handle, queueDelayMs, usage, actions = [], taint = [] } = result;
  const counted = usage && { usage: toUsageShape(usage) };
  return {
    case: "completed",
    value: {
      outputJson: Buffer.from(outputJson),
      handle,
      queueDelayMs: BigInt(queueDelayMs),
      ...counted,
      ...(actions.length === 0 ? {} : { actions: actions.map(toShape) }),
      ...(taint.length === 0 ? {} : { taint: [...taint] }),
    },
  };
}

function directed(directive: Directive): WireResult {
  if (directive instanceof Expansion) return expandedBy(directive);
  if (directive instanceof ChildRun) return childBy(directive.options);
  if (directive instanceof Question) return askedBy(directive.options);
  if (directive instanceof Turn) return turnBy(directive);
  if (directive instanceof AwaitedSignal) return awaitedBy(directive.asked);
  return failed("contract_violated", `the handler returned an unknown ${directive.directive}`);
}

function turnBy({ answer, calls }: Turn): WireResult {
  const ended = returned({ output: answer.output, ...answer.facts });
  if (ended.case !== "completed") return ended;
  const wire = calls.map((call) => create(ToolCallSchema, call));
  return { case: "completed", value: { ...ended.value, calls: wire } };
}

function expandedBy({ items, cut }: Expansion): WireResult {
  const text = encode(items, "list of items");
  if (typeof text !== "string") return text;
  return { case: "expanded", value: { itemsJson: Buffer.from(text), cut } };
}

function childBy({ workflowId, version, input }: ChildRunOptions): WireResult {
  const text = encode(input, "input of the child run");
  if (typeof text !== "string") return text;
  return { case: "childRun", value: { workflowId, version, inputJson: Buffer.from(text) } };
}

function askedBy({ message, details, assignees, deadlineMs }: QuestionOptions): WireResult {
  const text = encode(details, "details");
  if (typeof text !== "string") return text;
  const approval = {
    message: cleanText(message, LIMITS.approvalMessageLength),
    detailsJson: Buffer.from(text),
    assignees: assignees
      .slice(0, LIMITS.approvalAssignees)
      .map((one) => cleanText(one, LIMITS.labelLength)),
    deadlineMs: BigInt(deadlineMs),
  };
  return { case: "held", value: { reason: APPROVAL, phase: "output", approval } };
}

const awaitedBy = ({ name, timeoutMs = 0 }: AskedSignal): WireResult => ({
  case: "awaitSignal",
  value: { name, timeoutMs: BigInt(timeoutMs) },
});

/** A value as JSON text that the log accepts, or the failure of a value that it refuses. */
function encode(value: unknown, what: string): string | WireResult {
  const encoded = encodeJson(value, what, LIMITS.storedBytes);
  return encoded.ok ? encoded.text : failed(encoded.cause, encoded.message, { permanent: true });
}
