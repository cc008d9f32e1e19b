// Carries out a command of the workflow queue. The unit of work is the node, not the run: a command is done when the log has it,
// and the same tick places what follows. The queue may deliver a command any number of times: its request id, made from the id of
// the run or the job, is in the log once.

import { create } from "@bufbuild/protobuf";
import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import { nodeId } from "@pawl/core/name/ids";
import type { RestStatus } from "@pawl/platform/queue/queue-worker-options";
import type { ClaimedJob } from "@pawl/platform/queue/workflow-queue";
import {
  DecideNodeRequestSchema,
  Decision,
  StartRunRequestSchema,
} from "@pawl/proto/pawl/v1/run_service_pb";
import { z } from "zod";
import { decideNode } from "./decide-node.ts";
import type { AdmitParts } from "./parts.ts";
import { jsonTextOf, runIdOf } from "./request.ts";
import { checkFits } from "./response-schema.ts";
import { startRun } from "./start-run.ts";

/** A person's decision, as a resume carries it. */
const humanResponseSchema = z.object({
  node_id: z.string(),
  iteration: z.int().min(0).default(0),
  decision: z.enum(["approve", "reject"]),
  comment: z.string().default(""),
  decided_by: z.string().default(""),
  /** The answer to an approval: any JSON that fits its response_schema. */
  response: z.json().optional(),
});

/** The request id under which a run was started by the command that calls it so. */
export const requestIdOfRun = (runId: string): string => `command:${runId}`;

/** @throws the errors of startRun and decideNode */
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
  const parsed = humanResponseSchema.safeParse(job.humanResponse);
  if (!parsed.success) {
    const shape = "is not {node_id, decision, iteration?, response?, comment?, decided_by?}";
    throw invalidField("human_response", "BAD_RESPONSE", shape);
  }
  const { node_id, iteration, decision, comment, decided_by: decidedBy, response } = parsed.data;
  const runId = await namedRun(parts, job);
  const responseJson =
    response === undefined
      ? undefined
      : await responseOf(parts, { runId, nodeId: node_id, iteration }, response);
  const request = create(DecideNodeRequestSchema, {
    runId,
    nodeId: node_id,
    iteration,
    decision: decision === "approve" ? Decision.APPROVE : Decision.REJECT,
    comment,
    requestId: `command:${job.jobId}`,
  });
  await decideNode(parts, request, {
    decidedBy,
    ...(responseJson === undefined ? {} : { responseJson }),
  });
}

/** The response as JSON text that fits the node's schema. @throws INPUT_INVALID, LIMIT_EXCEEDED */
async function responseOf(
  parts: AdmitParts,
  at: { readonly runId: string; readonly nodeId: string; readonly iteration: number },
  response: unknown,
): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(response));
  const text = jsonTextOf("human_response.response", bytes);
  const id = runIdOf(at.runId);
  const [run] = await parts.journal.load([{ runId: id, afterSeq: Number.MAX_SAFE_INTEGER }]);
  // decideNode refuses an unknown run.
  if (run === undefined) return text;
  const { definitionId } = run;
  await checkFits(parts, { ...at, runId: id, nodeId: nodeId(at.nodeId), definitionId }, text);
  return text;
}

/** The run's own id: a command may also name the run by the id under which another command started it. */
async function namedRun({ journal }: AdmitParts, job: ClaimedJob): Promise<string> {
  const [started] = await journal.findRequest(job.tenantId, [requestIdOfRun(job.runId)]);
  return started?.runId ?? job.runId;
}

const RETRY_FIRST_MS = 1_000;

/** A failure that may pass waits longer each time: 1, 2, 4 s. A failure that cannot pass does not wait. */
export const commandDelayMs = (error: unknown, failures: number): number =>
  error instanceof EngineError && !error.retryable ? 0 : RETRY_FIRST_MS * 2 ** (failures - 1);
