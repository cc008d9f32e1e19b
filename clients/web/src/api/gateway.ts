// The clients of the gateway that served the console, over Connect in binary.

import { type ApprovalPage, createPawlClient, type PawlClient } from "@pawl/client";
import type { Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { ApprovalState } from "@pawl/proto/pawl/v1/approval_pb";
import type { Workflow } from "@pawl/proto/pawl/v1/workflow_pb";
import type { WatchLog } from "../run/feed.ts";

/** The items on one page of a list. */
export const PAGE_SIZE = 50;
const WORKFLOWS_MAX = 200;
const TIMEOUT_MS = 10_000;

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

/** The client for reads. It does not retry: the next poll is the retry, and the page shows sooner that the gateway does not answer. */
export const reads = connect([], 1);
/** The client for mutations. */
export const writes = connect([], 4);

/** Every saved workflow, up to a number that fits a screen. */
export async function listWorkflows(signal: AbortSignal): Promise<readonly Workflow[]> {
  return (await reads.workflows.list({ pageSize: WORKFLOWS_MAX, signal })).workflows;
}

/** The newest open approvals, up to a number that fits a screen. */
export const listOpenApprovals = (signal: AbortSignal): Promise<ApprovalPage> =>
  reads.approvals.list({ states: [ApprovalState.OPEN], pageSize: PAGE_SIZE, signal });

/** Follows the whole log of a run as long as the page is open, across any number of lost connections. */
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
