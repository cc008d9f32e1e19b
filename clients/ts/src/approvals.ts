// Approvals: what waits for people, and their answers.

import type { Client } from "@connectrpc/connect";
import type { Approval, ApprovalState } from "@pawl/proto/pawl/v1/approval_pb";
import type { ApprovalService } from "@pawl/proto/pawl/v1/approval_service_pb";
import {
  type Caller,
  type MutationOptions,
  type PawlCallOptions,
  present,
  requestIdOf,
} from "./caller.ts";
import { type Json, jsonBytes, jsonTextBytes } from "./json.ts";

export interface ListApprovalsOptions extends PawlCallOptions {
  readonly states?: readonly ApprovalState[] | undefined;
  readonly workflowId?: string | undefined;
  readonly runId?: string | undefined;
  readonly assignee?: string | undefined;
  readonly pageSize?: number | undefined;
  readonly pageToken?: string | undefined;
}

export interface AnswerOptions extends MutationOptions {
  /** The response as a value. */
  readonly response?: Json | undefined;
  /** The response as JSON text, kept to the letter; takes precedence. */
  readonly responseJson?: string | undefined;
  /** Why, for people. */
  readonly comment?: string | undefined;
  /** Who answers, as they call themselves. */
  readonly decidedBy?: string | undefined;
}

export interface ApprovalPage {
  readonly approvals: readonly Approval[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
}

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

/** The approval methods of a client. */
export function createApprovals(rpc: Client<typeof ApprovalService>, call: Caller): Approvals {
  return {
    async list(options = {}) {
      const { states = [], workflowId = "", runId = "", assignee = "" } = options;
      const { pageSize = 0, pageToken = "" } = options;
      const filter = { states: [...states], workflowId, runId, assignee };
      const request = { ...filter, pageSize, pageToken };
      const page = await call(options, (o) => rpc.listApprovals(request, o));
      return { approvals: page.approvals, nextPageToken: page.nextPageToken };
    },
    async get(approvalId, options) {
      return present((await call(options, (o) => rpc.getApproval({ approvalId }, o))).approval);
    },
    async approve(approvalId, options = {}) {
      const request = answerRequest(approvalId, options);
      return present((await call(options, (o) => rpc.approveApproval(request, o))).approval);
    },
    async reject(approvalId, options = {}) {
      const request = answerRequest(approvalId, options);
      return present((await call(options, (o) => rpc.rejectApproval(request, o))).approval);
    },
  };
}

function answerRequest(approvalId: string, options: AnswerOptions) {
  const { comment = "", decidedBy = "" } = options;
  const requestId = requestIdOf(options);
  return { approvalId, responseJson: responseBytes(options), comment, decidedBy, requestId };
}

function responseBytes({ response, responseJson }: AnswerOptions): Uint8Array {
  if (responseJson !== undefined) return jsonTextBytes(responseJson);
  return response === undefined ? new Uint8Array() : jsonBytes(response);
}
