// The end of a run for SubmitRuns, made from its terminal event. It needs no read and no fold of the log.

import { create } from "@bufbuild/protobuf";
import type { RunEvent } from "@pawl/core/log/event";
import { failureOf, reasonText, runStatusAfter } from "@pawl/core/log/meaning";
import { type RunEnd, RunEndSchema } from "@pawl/proto/pawl/v1/run_service_pb";
import { toJsonBytes } from "./scalar.ts";
import { toWireFailureClass, toWireRunStatus } from "./enum.ts";

/** The end of a run, from its terminal event. */
export function toWireEnd(event: RunEvent): RunEnd {
  const isCompleted = event.type === "run.completed";
  const failure = failureOf(event);
  return create(RunEndSchema, {
    runId: event.runId,
    status: toWireRunStatus(runStatusAfter(event) ?? "failed"),
    outputJson: toJsonBytes(isCompleted ? event.value : undefined),
    errorMessage: reasonText(event) ?? "",
    hasFailures: isCompleted ? event.payload.hasFailures : event.type === "run.failed",
    lastEventId: BigInt(event.seq),
    cause: failure?.cause ?? "",
    failureClass: toWireFailureClass(failure?.failureClass),
    failedNodeId: event.type === "run.failed" ? event.payload.failedNodeId : "",
  });
}
