// What a caller may do with the workflow queue: enqueue a command, cancel it while it waits, redrive or discard it once it was given up.
//
// Race: two sends of one request. The id of a command is made of its request id, so the queue keeps the first. A later send with another
// body is refused.

import { canonicalJson } from "@pawl/core/definition/canonical";
import { EngineError } from "@pawl/core/fault/engine-error";
import type { Queryable } from "@pawl/platform/db/query";
import { readCommand } from "@pawl/platform/queue/command-reads";
import { digestId } from "@pawl/platform/queue/queue";
import { checkCommand, type WorkflowCommand } from "@pawl/platform/queue/workflow-command";
import type { Change, ListedJob, WorkflowQueue } from "@pawl/platform/queue/workflow-queue";
import { startedRuns } from "@pawl/platform/store/survey/reads";
import { currentTraceparent } from "@pawl/platform/telemetry/trace";
import {
  commandNotFound,
  type EnqueueRequest,
  type parseCommandChange,
  toWireCommand,
} from "@pawl/platform/wire/queued-command";
import { requestReused } from "../inputs/errors.ts";

export interface QueuedCommandParts {
  readonly workflowQueue: WorkflowQueue;
}

/** @throws INPUT_INVALID, REQUEST_ID_REUSED, STORE_UNAVAILABLE */
export async function enqueueCommand(
  { workflowQueue }: QueuedCommandParts,
  db: Queryable,
  tenantId: string,
  { command, delayMs, requestId }: EnqueueRequest,
) {
  const jobId = requestId === "" ? crypto.randomUUID() : digestId(`${tenantId} ${requestId}`);
  const traceparent = currentTraceparent();
  const asked = { ...command, tenantId, ...(traceparent === "" ? {} : { traceparent }) };
  await workflowQueue.enqueue(asked, { jobId, delayMs });
  const job = await find(db, jobId);
  if (job.command === null || bodyOf(job.command) !== bodyOf(checkCommand(asked, jobId)))
    throw requestReused({ request_id: requestId });
  return await shown(db, tenantId, job);
}

/** A command without its trace: a repeat comes with another one. */
const bodyOf = ({ traceparent: _traceparent, ...command }: WorkflowCommand): string =>
  canonicalJson(command);

type Asked = ReturnType<typeof parseCommandChange>;

/** @throws QUEUE_JOB_NOT_FOUND, QUEUE_JOB_NOT_CANCELLABLE, STORE_UNAVAILABLE */
export const cancelCommand = (
  { workflowQueue }: QueuedCommandParts,
  db: Queryable,
  tenantId: string,
  { jobId }: Asked,
) =>
  changed(db, { tenantId, jobId, refusal: "QUEUE_JOB_NOT_CANCELLABLE" }, () =>
    workflowQueue.cancel(jobId),
  );

/** @throws QUEUE_JOB_NOT_FOUND, QUEUE_JOB_NOT_DEAD, STORE_UNAVAILABLE */
export const redriveCommand = (
  { workflowQueue }: QueuedCommandParts,
  db: Queryable,
  tenantId: string,
  { jobId, requestId }: Asked,
) =>
  changed(db, { tenantId, jobId, refusal: "QUEUE_JOB_NOT_DEAD" }, () =>
    workflowQueue.redrive(jobId, requestId),
  );

/** @throws QUEUE_JOB_NOT_FOUND, QUEUE_JOB_NOT_DEAD, STORE_UNAVAILABLE */
export const discardCommand = (
  { workflowQueue }: QueuedCommandParts,
  db: Queryable,
  tenantId: string,
  { jobId }: Asked,
) =>
  changed(db, { tenantId, jobId, refusal: "QUEUE_JOB_NOT_DEAD" }, () =>
    workflowQueue.discard(jobId),
  );

interface Changing {
  readonly tenantId: string;
  readonly jobId: string;
  readonly refusal: "QUEUE_JOB_NOT_CANCELLABLE" | "QUEUE_JOB_NOT_DEAD";
}

/** Changes a command of the tenant, and reads it again. */
async function changed(
  db: Queryable,
  { tenantId, jobId, refusal }: Changing,
  change: () => Promise<Change>,
) {
  const before = await find(db, jobId);
  if ((before.command?.tenantId ?? tenantId) !== tenantId) throw commandNotFound(jobId);
  const answer = await change();
  if (answer.outcome === "done") return await shown(db, tenantId, await find(db, jobId));
  if (answer.reason === "JOB_NOT_FOUND") throw commandNotFound(jobId);
  const { status } = answer;
  const metadata = { queue_job_id: jobId, state: status };
  throw new EngineError(refusal, `Command ${jobId} is ${status}.`, { metadata });
}

async function find(db: Queryable, jobId: string): Promise<ListedJob> {
  const job = await readCommand(db, jobId);
  if (job === undefined) throw commandNotFound(jobId);
  return job;
}

const shown = async (db: Queryable, tenantId: string, job: ListedJob) => ({
  command: toWireCommand(job, (await startedRuns(db, tenantId, [job])).get(job.jobId)),
});
