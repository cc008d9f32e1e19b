// What the console asks of the gateway that served it, over Connect in binary.

import { createPawlClient } from "@pawl/client";
import type { ApprovalPage, PawlClient, RunPage, RunWithDefinition } from "@pawl/client";
import type { Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import type { Approval } from "@pawl/proto/pawl/v1/approval_pb";
import { ApprovalState } from "@pawl/proto/pawl/v1/approval_pb";
import type { Explanation } from "@pawl/proto/pawl/v1/explain_pb";
import type { RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import type { Workflow } from "@pawl/proto/pawl/v1/workflow_pb";
import type { WatchLog } from "../run/feed.ts";

const PAGE_SIZE = 50;
const WORKFLOWS_MAX = 200;
const TIMEOUT_MS = 10_000;

/** A page says that it cannot reach the gateway sooner than it tries again by itself: polls are the retries. */
const connect = (interceptors: Interceptor[], attempts: number): PawlClient =>
  createPawlClient({
    transport: createConnectTransport({
      baseUrl: location.origin,
      useBinaryFormat: true,
      interceptors,
    }),
    attempts,
    timeoutMs: TIMEOUT_MS,
  });

const reads = connect([], 1);
const writes = connect([], 4);

export interface RunsFilter {
  readonly statuses: readonly RunStatus[];
  readonly workflowId: string;
  readonly query: string;
  readonly pageToken: string;
}

/** One page of runs, newest first. */
export const listRuns = (filter: RunsFilter, signal: AbortSignal): Promise<RunPage> =>
  reads.runs.list({ ...filter, pageSize: PAGE_SIZE, signal });

/** One run and the definition it runs. */
export const getRun = (runId: string, signal: AbortSignal): Promise<RunWithDefinition> =>
  reads.runs.get(runId, { signal });

/** Why a node stands where it stands. */
export const explainNode = (
  runId: string,
  nodeId: string,
  iteration: number,
  signal: AbortSignal,
): Promise<Explanation> => reads.runs.explain(runId, nodeId, { iteration, signal });

/** Every saved workflow, up to a page that still fits a screen. */
export async function listWorkflows(signal: AbortSignal): Promise<readonly Workflow[]> {
  return (await reads.workflows.list({ pageSize: WORKFLOWS_MAX, signal })).workflows;
}

/** The newest version of a workflow. */
export const getWorkflow = (workflowId: string, signal: AbortSignal): Promise<Workflow> =>
  reads.workflows.get(workflowId, { signal });

/** Starts a run; `inputJson` may be empty. */
export async function startRun(
  workflowId: string,
  inputJson: string,
  requestId: string,
): Promise<string> {
  const input = inputJson === "" ? {} : { inputJson };
  return (await writes.runs.start(workflowId, { ...input, requestId })).run.runId;
}

/** Cancels a run. */
export async function cancelRun(runId: string, reason: string, requestId: string): Promise<void> {
  await writes.runs.cancel(runId, { reason, requestId });
}

/** Approves or rejects a node that waits for a person. */
export async function decideNode(
  runId: string,
  said: {
    readonly nodeId: string;
    readonly iteration: number;
    readonly decision: "approve" | "reject";
    readonly comment: string;
    readonly requestId: string;
  },
): Promise<void> {
  const { nodeId, decision, ...rest } = said;
  await writes.runs.decide(runId, nodeId, decision, rest);
}

/** One approval, with the schema of its response. */
export const getApproval = (approvalId: string, signal: AbortSignal): Promise<Approval> =>
  reads.approvals.get(approvalId, { signal });

/** The newest open approvals, up to a page that still fits a screen. */
export const listOpenApprovals = (signal: AbortSignal): Promise<ApprovalPage> =>
  reads.approvals.list({ states: [ApprovalState.OPEN], pageSize: PAGE_SIZE, signal });

/** Answers an approval. */
export async function answerApproval(
  approvalId: string,
  said: {
    readonly decision: "approve" | "reject";
    readonly responseJson: string | undefined;
    readonly comment: string;
    readonly decidedBy: string;
    readonly requestId: string;
  },
): Promise<void> {
  const { decision, ...answer } = said;
  await writes.approvals[decision](approvalId, answer);
}

/** Follows the whole log of a run for as long as the page is open, however often the gateway goes away. */
export const watchLog =
  (runId: string): WatchLog =>
  ({ signal, onOpen, onTrouble }) => {
    const noteOpened: Interceptor = (next) => async (request) => {
      const response = await next(request);
      onOpen();
      return response;
    };
    return connect([noteOpened], 1).watch(runId, {
      signal,
      giveUpMs: Number.POSITIVE_INFINITY,
      onReconnect: ({ retry }) => onTrouble(retry),
    });
  };
