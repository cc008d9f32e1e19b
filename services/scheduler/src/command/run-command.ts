// Carries out a command of the workflow queue. The unit of work here is the node, not the run: a command is done when the log
// has it, and what follows from it is placed by the same tick. So a command may be delivered any number of times: its request
// id, made from what names the run or the job, is in the log once.

import { create } from "@bufbuild/protobuf";
import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import type { RestStatus } from "@pawl/platform/queue/queue-worker-options";
import type { ClaimedJob } from "@pawl/platform/queue/workflow-queue";
import {
  DecideNodeRequestSchema,
  Decision,
  StartRunRequestSchema,
} from "@pawl/proto/pawl/v1/run_service_pb";
import { z } from "zod";
import { decideNode } from "../admit/decide-node.ts";
import type { AdmitParts } from "../admit/parts.ts";
import { startRun } from "../admit/start-run.ts";

/** What a person said, as a resume carries it. */
const responseSchema = z.object({
  node_id: z.string(),
  iteration: z.int().min(0).default(0),
  decision: z.enum(["approve", "reject"]),
  comment: z.string().default(""),
});

/** The request id under which a run was started by the command that calls it so. */
export const requestIdOfRun = (runId: string): string => `command:${runId}`;

/** @throws whatever starting a run or deciding about a node does */
export async function runCommand(parts: AdmitParts, job: ClaimedJob): Promise<RestStatus> {
  await (job.type === "start" ? start(parts, job) : resume(parts, job));
  return "completed";
}

async function start(parts: AdmitParts, job: ClaimedJob): Promise<void> {
  const { graphId, initialState, priority, runId, tenantId } = job;
  const text = initialState === undefined ? "" : JSON.stringify(initialState);
  const request = create(StartRunRequestSchema, {
    workflowId: graphId,
    inputJson: new TextEncoder().encode(text),
    requestId: requestIdOfRun(runId),
    priority,
  });
  await startRun(parts, tenantId, request);
}

async function resume(parts: AdmitParts, job: ClaimedJob): Promise<void> {
  const said = responseSchema.safeParse(job.humanResponse);
  if (!said.success)
    throw invalidField("human_response", "BAD_RESPONSE", "must be {node_id, decision, comment}");
  const { node_id, iteration, decision, comment } = said.data;
  const request = create(DecideNodeRequestSchema, {
    runId: await runIdOf(parts, job),
    nodeId: node_id,
    iteration,
    decision: decision === "approve" ? Decision.APPROVE : Decision.REJECT,
    comment,
    requestId: `command:${job.jobId}`,
  });
  await decideNode(parts, request);
}

/** A run goes by its own id, or by the name under which a command started it. */
async function runIdOf({ journal }: AdmitParts, job: ClaimedJob): Promise<string> {
  const [started] = await journal.findRequest(job.tenantId, [requestIdOfRun(job.runId)]);
  return started?.runId ?? job.runId;
}

const RETRY_FIRST_MS = 1_000;

/** What may go well later waits longer each time (1, 2, 4 s); what cannot is not kept waiting for its end. */
export const commandDelayMs = (error: unknown, failures: number): number =>
  error instanceof EngineError && !error.retryable ? 0 : RETRY_FIRST_MS * 2 ** (failures - 1);
