// Starting a run, as StartRun and ExecuteRun take it: checked at the door, then the scheduler's.

import type { HandlerContext } from "@connectrpc/connect";
import { LIMITS } from "@pawl/core/data/limits";
import { probe } from "@pawl/platform/lifecycle/probe";
import type { StartRunRequest, StartRunResponse } from "@pawl/proto/pawl/v1/run_service_pb";
import { forwardOptions, type Scheduler } from "../request/forward.ts";
import {
  checkDuration,
  checkInput,
  checkName,
  checkRange,
  checkRequestId,
} from "../request/ingress.ts";

/** @throws INPUT_INVALID, LIMIT_EXCEEDED, SCHEDULER_UNAVAILABLE and whatever the scheduler refuses it for */
export async function startRun(
  { runs }: Pick<Scheduler, "runs">,
  request: StartRunRequest,
  context: Pick<HandlerContext, "signal" | "timeoutMs">,
): Promise<StartRunResponse> {
  checkName("workflow_id", request.workflowId);
  checkRange("priority", request.priority, -LIMITS.priorityMax, LIMITS.priorityMax);
  checkDuration("deadline", request.deadline, LIMITS.runDeadlineMsMax);
  request.inputJson = checkInput(request.inputJson, request.input);
  delete request.input;
  request.requestId = checkRequestId(request.requestId);
  probe("start.before-forward");
  const started = await runs.startRun(request, forwardOptions(context));
  probe("start.after-forward");
  return started;
}
