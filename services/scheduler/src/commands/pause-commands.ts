// Pauses of workflows and queues as the scheduler serves them: wire in, use case, wire out.

import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import { toWirePause } from "@pawl/platform/wire/pause";
import type { PauseQueueRequest, ResumeQueueRequest } from "@pawl/proto/pawl/v1/queue_service_pb";
import type {
  PauseWorkflowRequest,
  ResumeWorkflowRequest,
} from "@pawl/proto/pawl/v1/workflow_service_pb";
import { pauseQueue, type PauseQueueParts, resumeQueue } from "./pause-queue.ts";
import { type PauseParts, pauseWorkflow, resumeWorkflow } from "./pause-workflow.ts";

export const workflowPauses = (parts: PauseParts) => ({
  pauseWorkflow: async (request: PauseWorkflowRequest) => ({
    pause: toWirePause(await pauseWorkflow(parts, DEFAULT_TENANT, request)),
  }),
  resumeWorkflow: async (request: ResumeWorkflowRequest) => ({
    resuming: (await resumeWorkflow(parts, DEFAULT_TENANT, request)) !== undefined,
  }),
});

export const queuePauses = (parts: PauseQueueParts) => ({
  pauseQueue: async (request: PauseQueueRequest) => ({
    pause: toWirePause(await pauseQueue(parts, DEFAULT_TENANT, request)),
  }),
  resumeQueue: async (request: ResumeQueueRequest) => {
    await resumeQueue(parts, DEFAULT_TENANT, request);
    return {};
  },
});
