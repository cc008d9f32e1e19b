// Approvals: questions that wait for people, and their answers.

import type { Client } from "@connectrpc/connect";
import type { Approval, ApprovalState } from "@pawl/proto/pawl/v1/approval_pb";
import type { ApprovalService } from "@pawl/proto/pawl/v1/approval_service_pb";
import {
  type Caller,
  identified,
  type MutationOptions,
  type Page,
  type PageOptions,
  type PawlCallOptions,
  pick,
} from "./caller.ts";
import { bytesOf, type Json } from "./json.ts";

export interface ListApprovalsOptions extends PageOptions {
  readonly states?: readonly ApprovalState[] | undefined;
  readonly workflowId?: string | undefined;
  readonly runId?: string | undefined;
  readonly assignee?: string | undefined;
}

export interface AnswerOptions extends MutationOptions {
  /** The response as a value. */
  readonly response?: Json | undefined;
  /** The response as JSON text, kept to the letter. It takes precedence. */
  readonly responseJson?: string | undefined;
  /** The reason, for people. */
  readonly comment?: string | undefined;
  /** The name of the person who answers. */
  readonly decidedBy?: string | undefined;
}

export type ApprovalPage = Page<"approvals", Approval>;

export interface Approvals {
  /** A page of approvals, newest first, without the schemas of their responses. */
  list(options?: ListApprovalsOptions): Promise<ApprovalPage>;
  /** One approval, with the schema of its response. @throws PawlError APPROVAL_NOT_FOUND */
  get(approvalId: string, options?: PawlCallOptions): Promise<Approval>;
  /** Answers yes. @throws PawlError INPUT_INVALID with a violation for each path, NODE_ALREADY_DECIDED, APPROVAL_CLOSED */
  approve(approvalId: string, options?: AnswerOptions): Promise<Approval>;
  /** Answers no. @throws PawlError NODE_ALREADY_DECIDED, APPROVAL_CLOSED */
  reject(approvalId: string, options?: AnswerOptions): Promise<Approval>;
}

export const createApprovals = (rpc: Client<typeof ApprovalService>, call: Caller): Approvals => ({
  list: (options = {}) => call(rpc.listApprovals, options),
  get: (approvalId, options) => pick(call(rpc.getApproval, { ...options, approvalId }), "approval"),
  approve: (approvalId, options) =>
    pick(call(rpc.approveApproval, answerOf(approvalId, options)), "approval"),
  reject: (approvalId, options) =>
    pick(call(rpc.rejectApproval, answerOf(approvalId, options)), "approval"),
});

function answerOf(approvalId: string, options: AnswerOptions = {}) {
  const { response, responseJson, ...rest } = identified(options);
  return { ...rest, approvalId, responseJson: bytesOf(response, responseJson) };
}
