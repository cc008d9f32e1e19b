// Telemetry of attempts: always a duration by type and outcome, and a span only if traces are on. The span is a child of the assignment's
// traceparent, so it is in the trace of the run. It also links to that span, because a claim may come long after its cause.

import { ATTRIBUTES, METRICS, SPANS } from "@pawl/platform/telemetry/catalogue";
import { contextFrom, linksTo, withSpan } from "@pawl/platform/telemetry/trace";
import type { Assignment } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import type { Handler } from "../handlers/handler.ts";
import type { Registry } from "../handlers/registry.ts";
import type { AttemptResult, RunAttempt } from "./run-attempt.ts";
import { causeOf } from "./outcome.ts";

/** Wraps `run` with metrics and, if asked, spans. */
export function observed(run: RunAttempt, options: { readonly isTracing: boolean }): RunAttempt {
  const measured: RunAttempt = async (assignment, hooks) => {
    const startedAt = performance.now();
    const result = await run(assignment, hooks);
    METRICS.handlerDuration.record((performance.now() - startedAt) / 1_000, {
      type: assignment.nodeType,
      outcome: causeOf(result.result),
    });
    return result;
  };
  if (!options.isTracing) return measured;
  return (assignment, hooks) =>
    withSpan(SPANS.attempt, spanSettings(assignment), async (span) => {
      const result: AttemptResult = await measured(assignment, hooks);
      span.setAttribute(ATTRIBUTES.outcome, result.result.case ?? "");
      if (result.result.case === "failed") {
        span.setAttribute(ATTRIBUTES.cause, causeOf(result.result));
      }
      return result;
    });
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
  links: linksTo(assignment.traceparent),
  attributes: {
    [ATTRIBUTES.runId]: assignment.claim?.runId ?? "",
    [ATTRIBUTES.nodeId]: assignment.claim?.nodeId ?? "",
    [ATTRIBUTES.iteration]: assignment.claim?.iteration ?? 0,
    [ATTRIBUTES.epoch]: Number(assignment.claim?.epoch ?? 0n),
    [ATTRIBUTES.nodeType]: assignment.nodeType,
    [ATTRIBUTES.workflowId]: assignment.workflowId,
    [ATTRIBUTES.attempt]: assignment.attempt,
  },
});
