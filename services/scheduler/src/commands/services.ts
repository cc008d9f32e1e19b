// The commands of pawl.v1 as the scheduler serves them to gateways: wire in, use case, wire out. Reads are the gateway's.

import { serve, type ServedService } from "@pawl/platform/rpc/implementation";
import { getApproval } from "@pawl/platform/store/approvals/reads";
import { getRun } from "@pawl/platform/store/runs/reads";
import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import { servedTypes } from "@pawl/platform/store/leases/reads";
import type { Queryable } from "@pawl/platform/db/sql";
import { toWireApproval } from "@pawl/platform/wire/approval";
import { toWireAcceptedRun, toWireRun } from "@pawl/platform/wire/run";
import { toWireViolation, toWireWorkflow } from "@pawl/platform/wire/workflow";
import { EngineError } from "@pawl/core/fault/engine-error";
import type { RunStatus } from "@pawl/core/log/event";
import type { ApprovalId, RunId } from "@pawl/core/name/ids";
import { ApprovalService } from "@pawl/proto/pawl/v1/approval_service_pb";
import { QueueService } from "@pawl/proto/pawl/v1/queue_service_pb";
import { RunService } from "@pawl/proto/pawl/v1/run_service_pb";
import type { Run } from "@pawl/proto/pawl/v1/run_pb";
import { WorkflowService } from "@pawl/proto/pawl/v1/workflow_service_pb";
import { cancelRun, deleteRun } from "./end-run.ts";
import { recheckRun } from "./recheck-run.ts";
import { decideApproval, notFound } from "./decide-approval.ts";
import { decideNode } from "./decide-node.ts";
import { discard, redrive, type RedriveParts } from "./redrive.ts";
import type { PauseQueueParts } from "./pause-queue.ts";
import { pauseRun } from "./pause-run.ts";
import type { PauseParts } from "./pause-workflow.ts";
import type { ResumeParts } from "./resume-runs.ts";
import {
  createWorkflow,
  deleteWorkflow,
  type SavedWorkflow,
  updateWorkflow,
} from "./save-workflow.ts";
import { type Accepted, startRun, testRun } from "./start-run.ts";
import type { ScheduleParts } from "./save-schedule.ts";
import { queuePauses, workflowPauses } from "./pause-commands.ts";
import { scheduleCommands } from "./schedule-commands.ts";

export function commandServices(
  parts: ScheduleParts & ResumeParts & RedriveParts & PauseParts & PauseQueueParts,
  db: Queryable,
): ServedService[] {
  const readRun = async (runId: RunId): Promise<Run> => {
    const record = await getRun(db, DEFAULT_TENANT, runId);
    if (record === undefined) throw new EngineError("RUN_NOT_FOUND", "The run is gone.");
    return toWireRun(record);
  };
  const answer = async (accepted: Accepted, workflowId: string) => ({
    run: accepted.duplicate ? await readRun(accepted.runId) : acceptedRun(accepted, workflowId),
    duplicate: accepted.duplicate,
  });
  const runs = serve(RunService, {
    startRun: async (request) =>
      answer(await startRun(parts, DEFAULT_TENANT, request), request.workflowId),
    testRun: async (request) => {
      const accepted = await testRun(parts, DEFAULT_TENANT, request, await servedTypes(db));
      const warnings = accepted.warnings.map(toWireViolation);
      return { ...(await answer(accepted, "")), warnings };
    },
    cancelRun: async (request) => ({ run: await readRun(await cancelRun(parts, request)) }),
    decideNode: async (request) => ({ run: await readRun(await decideNode(parts, request)) }),
    recheckRun: async (request) => ({ run: await readRun(await recheckRun(parts, request)) }),
    pauseRun: async (request) => ({ run: await readRun(await pauseRun(parts, "pause", request)) }),
    resumeRun: async (request) => ({
      run: await readRun(await pauseRun(parts, "resume", request)),
    }),
    deleteRun: async (request) => {
      await deleteRun(parts, request);
      return {};
    },
  });
  const workflows = serve(WorkflowService, {
    createWorkflow: async (request) =>
      savedWorkflow(await createWorkflow(parts, DEFAULT_TENANT, request, await servedTypes(db))),
    updateWorkflow: async (request) =>
      savedWorkflow(await updateWorkflow(parts, DEFAULT_TENANT, request, await servedTypes(db))),
    deleteWorkflow: async (request) => {
      await deleteWorkflow(parts, DEFAULT_TENANT, request);
      return {};
    },
    ...workflowPauses(parts),
  });
  const readApproval = async (approvalId: ApprovalId) => {
    const record = await getApproval(db, DEFAULT_TENANT, approvalId);
    if (record === undefined) throw notFound(approvalId);
    return { approval: toWireApproval(record) };
  };
  const approvals = serve(ApprovalService, {
    approveApproval: async (request) =>
      readApproval(await decideApproval(parts, "approve", request)),
    rejectApproval: async (request) => readApproval(await decideApproval(parts, "reject", request)),
  });
  const queues = serve(QueueService, {
    redriveDeadLetters: (request) => redrive(parts, DEFAULT_TENANT, request),
    discardDeadLetters: async (request) => ({
      deadLetterIds: await discard(parts, DEFAULT_TENANT, request),
    }),
    ...queuePauses(parts),
  });
  return [runs, workflows, scheduleCommands(parts, answer), approvals, queues];
}

function acceptedRun(accepted: Accepted, workflowId: string): Run {
  const kind = workflowId === "" ? "test" : "saved";
  return toWireAcceptedRun({ ...accepted, workflowId, kind, status: statusOf(accepted) });
}

function statusOf({ isPaused, isPending }: Accepted): RunStatus {
  if (isPaused) return "paused";
  return isPending ? "pending" : "running";
}

const savedWorkflow = ({ row, warnings }: SavedWorkflow) => ({
  workflow: toWireWorkflow({ ...row, workflowId: row.workflowId ?? "", updatedAt: row.createdAt }),
  warnings: warnings.map(toWireViolation),
});
