// Carries out a command of the workflow queue. A command is done when the log holds it. The same tick places the next nodes. The queue may
// deliver a command any number of times, and the log accepts its request id once. The request id is made from the id of the run or of the
// job.

import { create } from "@bufbuild/protobuf";
import { LIMITS } from "@pawl/core/data/limits";
import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import { nodeId, type RunId } from "@pawl/core/name/ids";
import type { RestStatus } from "@pawl/platform/queue/queue-worker-options";
import { humanResponseSchema } from "@pawl/platform/queue/human-response";
import { requestIdOfRun } from "@pawl/platform/queue/workflow-command";
import type { ClaimedJob } from "@pawl/platform/queue/workflow-queue";
import { jsonOf, nameOf, runIdOf } from "@pawl/platform/wire/fields";
import { type NodeAnswer, parseStart } from "@pawl/platform/wire/requests";
import { StartRunRequestSchema } from "@pawl/proto/pawl/v1/run_service_pb";
import { cleanText } from "../sessions/wire-text.ts";
import { decideNode } from "./decide.ts";
import type { AdmitParts } from "./parts.ts";
import { checkFits } from "./response-schema.ts";
import { startRun } from "./start-run.ts";

/** @throws the errors of startRun and decideNode */
export async function runCommand(parts: AdmitParts, job: ClaimedJob): Promise<RestStatus> {
  await (job.type === "start" ? start(parts, job) : resume(parts, job));
  return "completed";
}

async function start(parts: AdmitParts, job: ClaimedJob): Promise<void> {
  const { graphId, inputJson, initialState, priority, runId, tenantId } = job;
  const text = inputJson ?? (initialState === undefined ? "" : JSON.stringify(initialState));
  const request = create(StartRunRequestSchema, {
    workflowId: graphId,
    inputJson: new TextEncoder().encode(text),
    requestId: requestIdOfRun(runId),
    priority,
  });
  await startRun(parts, tenantId, parseStart(request));
}

async function resume(parts: AdmitParts, job: ClaimedJob): Promise<void> {
  const parsed = humanResponseSchema.safeParse(job.humanResponse);
  if (!parsed.success) {
    const shape = "is not {node_id, decision, iteration?, response?, comment?, decided_by?}";
    throw invalidField("human_response", "BAD_RESPONSE", shape);
  }
  const { data } = parsed;
  const text =
    data.response_json ?? (data.response === undefined ? undefined : JSON.stringify(data.response));
  const about = {
    runId: await namedRun(parts, job),
    nodeId: nodeId(nameOf("node_id", data.node_id)),
    iteration: data.iteration,
  };
  await decideNode(parts, {
    ...about,
    decision: data.decision,
    comment: cleanText(data.comment, LIMITS.labelLength),
    decidedBy: cleanText(data.decided_by, LIMITS.labelLength),
    requestId: `command:${job.jobId}`,
    ...(text === undefined ? {} : { responseJson: await responseOf(parts, about, text) }),
  });
}

/** The response as JSON text that fits the node's schema. @throws INPUT_INVALID, LIMIT_EXCEEDED */
async function responseOf(
  parts: AdmitParts,
  about: Pick<NodeAnswer, "runId" | "nodeId" | "iteration">,
  response: string,
): Promise<string> {
  const bytes = new TextEncoder().encode(response);
  const text = jsonOf("human_response.response", bytes);
  const { runId } = about;
  const [run] = await parts.journal.load([{ runId, afterSeq: Number.MAX_SAFE_INTEGER }]);
  // decideNode refuses an unknown run.
  if (run !== undefined) await checkFits(parts, { ...about, definitionId: run.definitionId }, text);
  return text;
}

/** The id of the run. A command may also use the id under which another command started the run. */
async function namedRun({ journal }: AdmitParts, job: ClaimedJob): Promise<RunId> {
  const [started] = await journal.findRequest(job.tenantId, [requestIdOfRun(job.runId)]);
  return started?.runId ?? runIdOf(job.runId);
}

const RETRY_FIRST_MS = 1_000;

/** The wait after a failure that may pass: 1, 2, then 4 s. A failure that cannot pass does not wait. */
export const commandDelayMs = (error: unknown, failures: number): number =>
  error instanceof EngineError && !error.retryable ? 0 : RETRY_FIRST_MS * 2 ** (failures - 1);
