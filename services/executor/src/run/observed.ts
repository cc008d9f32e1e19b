// Telemetry of attempts: always a duration by type and outcome, and a span only if traces are on. The span is a child of the assignment's
// traceparent, so it is in the trace of the run. It also links to that span, because a claim may come long after its cause. Further links
// lead to the attempt before it, or to those of its parents. The time in which the node waited is a span of its own.
//
// Without traces of its own the executor still calls others in the trace of the run.

import { classField, classOf } from "@pawl/core/fault/cause";
import { attemptName } from "@pawl/core/name/ids";
import { ATTRIBUTES, METRICS, SPANS } from "@pawl/platform/telemetry/catalogue";
import type { Logger } from "@pawl/platform/telemetry/log";
import { claimSpanId, spanIdOf } from "@pawl/platform/telemetry/span-id";
import {
  contextFrom,
  inTraceOf,
  linksTo,
  linkTo,
  tracer,
  withSpan,
} from "@pawl/platform/telemetry/trace";
import type { Assignment } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import type { Handler } from "../handlers/handler.ts";
import type { Registry } from "../handlers/registry.ts";
import type { AttemptResult, RunAttempt } from "./run-attempt.ts";
import { causeOf } from "./outcome.ts";

interface ObserveOptions {
  readonly isTracing: boolean;
  readonly log: Pick<Logger, "debug" | "info" | "isLevelEnabled">;
}

/** Wraps `run` with metrics, a line in the log and, if asked, spans. */
export function observed(run: RunAttempt, options: ObserveOptions): RunAttempt {
  const measured: RunAttempt = async (assignment, hooks) => {
    const startedAt = performance.now();
    const result = await run(assignment, hooks);
    const durationMs = performance.now() - startedAt;
    const outcome = causeOf(result.result);
    METRICS.handlerDuration.record(durationMs / 1_000, { type: assignment.nodeType, outcome });
    const line = () => ({
      ...{ ...fieldsOf(assignment), outcome, ...classIn(result) },
      duration_ms: Math.round(durationMs),
    });
    if (result.result.case === "failed") options.log.info(line(), "attempt ended");
    else if (options.log.isLevelEnabled("debug")) options.log.debug(line(), "attempt ended");
    return result;
  };
  if (!options.isTracing)
    return (assignment, hooks) =>
      inTraceOf(assignment.traceparent, () => measured(assignment, hooks));
  return (assignment, hooks) => {
    recordWait(assignment);
    return withSpan(SPANS.attempt, spanSettings(assignment), async (span) => {
      const result: AttemptResult = await measured(assignment, hooks);
      span.setAttribute(ATTRIBUTES.outcome, result.result.case ?? "");
      if (result.result.case === "failed") {
        span.setAttribute(ATTRIBUTES.cause, causeOf(result.result));
      }
      return result;
    });
  };
}

const fieldsOf = ({ claim, workflowId, threadId, assistantId, attempt }: Assignment) => ({
  run_id: claim?.runId,
  workflow_id: workflowId,
  ...(threadId === "" ? {} : { thread_id: threadId }),
  ...(assistantId === "" ? {} : { assistant_id: assistantId }),
  node_id: claim?.nodeId,
  iteration: claim?.iteration,
  attempt,
  epoch: Number(claim?.epoch ?? 0n),
  task: attemptName(claim?.runId ?? "", claim?.nodeId ?? "", claim?.iteration ?? 0, attempt),
});

/** The class of a failed result, for the log. */
const classIn = ({ result }: AttemptResult) =>
  result.case === "failed"
    ? {
        failure_class: classOf({
          cause: causeOf(result),
          ...classField(causeOf(result), result.value.permanent === true),
        }),
      }
    : {};

/** The time in which the node was ready and not claimed, by the clock of this process. */
function recordWait(assignment: Assignment): void {
  const waitedMs = Number(assignment.waitedMs);
  if (waitedMs === 0) return;
  const now = Date.now();
  const span = tracer().startSpan(
    SPANS.wait,
    { startTime: now - waitedMs, attributes: attributesOf(assignment) },
    contextFrom(assignment.traceparent),
  );
  span.end(now);
}

/** The same handlers. Each call has its own span inside the span of its attempt. */
export const tracedHandlers = (registry: Registry): Registry =>
  new Map(Array.from(registry, ([type, handler]) => [type, traced(handler)]));

const traced = (handler: Handler): Handler => ({
  ...handler,
  prepare: (config) => {
    const prepared = handler.prepare(config);
    if (!prepared.ok) return prepared;
    const attributes = { [ATTRIBUTES.nodeType]: handler.type };
    return {
      ok: true,
      execute: (ctx) =>
        withSpan(SPANS.handler, { attributes }, async (span) => {
          const result = await prepared.execute(ctx);
          if ("failed" in result) span.setAttribute(ATTRIBUTES.cause, result.failed.cause);
          return result;
        }),
    };
  },
});

const spanSettings = (assignment: Assignment) => ({
  parent: contextFrom(assignment.traceparent),
  links: [
    ...linksTo(assignment.traceparent),
    ...assignment.causeSpanIds.flatMap((bits) => linkTo(assignment.traceparent, spanIdOf(bits))),
  ],
  attributes: attributesOf(assignment),
  ...(assignment.claim === undefined ? {} : { spanId: claimSpanId(assignment.claim) }),
});

const attributesOf = (assignment: Assignment) => ({
  [ATTRIBUTES.runId]: assignment.claim?.runId ?? "",
  [ATTRIBUTES.nodeId]: assignment.claim?.nodeId ?? "",
  [ATTRIBUTES.iteration]: assignment.claim?.iteration ?? 0,
  [ATTRIBUTES.epoch]: Number(assignment.claim?.epoch ?? 0n),
  [ATTRIBUTES.nodeType]: assignment.nodeType,
  [ATTRIBUTES.workflowId]: assignment.workflowId,
  [ATTRIBUTES.attempt]: assignment.attempt,
});
