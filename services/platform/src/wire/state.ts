// The workflow state as clients see it.

import { create } from "@bufbuild/protobuf";
import type { WorkflowState } from "@pawl/core/log/workflow-state-shape";
import {
  WaitingReason as WireWaitingReason,
  WorkflowStateSchema,
  type WorkflowState as WireWorkflowState,
} from "@pawl/proto/pawl/v1/run_pb";
import { toWireRunStatus, toWireWaitingReason } from "./enum.ts";
import { toJsonBytes, toTimestamp, toTimestampOrNone } from "./scalar.ts";

export function toWireState(state: WorkflowState): WireWorkflowState {
  const { maxTokenBudget, waitingFor, compensationStack, supervisorHistory } = state;
  return create(WorkflowStateSchema, {
    workflowId: state.workflowId,
    runId: state.runId,
    goal: state.goal,
    constraints: [...state.constraints],
    status: toWireRunStatus(state.status),
    currentNode: state.currentNode,
    currentNodes: [...state.currentNodes],
    iterationCount: state.iterationCount,
    maxIterations: state.maxIterations,
    startedAt: toTimestampOrNone(state.startedAt),
    maxExecutionTimeMs: BigInt(state.maxExecutionTimeMs),
    retryCount: state.retryCount,
    retries: state.retries,
    maxRetries: state.maxRetries,
    lastError: state.lastError,
    compensationStack: compensationStack.map(({ actionId, compensationAction }) => ({
      actionId,
      compensationAction: {
        type: compensationAction.type,
        payloadJson: toJsonBytes(compensationAction.payloadJson),
      },
    })),
    waitingFor:
      waitingFor === undefined ? WireWaitingReason.UNSPECIFIED : toWireWaitingReason(waitingFor),
    waitingSince: toTimestampOrNone(state.waitingSince),
    waitingTimeoutAt: toTimestampOrNone(state.waitingTimeoutAt),
    totalTokensUsed: BigInt(state.totalTokensUsed),
    maxTokenBudget: maxTokenBudget === undefined ? undefined : BigInt(maxTokenBudget),
    totalCostUsd: state.totalCostUsd,
    budgetUsd: state.budgetUsd,
    memoryJson: toJsonBytes(state.memoryJson),
    visitedNodes: [...state.visitedNodes],
    visitedNodesLeftOut: BigInt(state.visitedNodesLeftOut),
    supervisorHistory: supervisorHistory.map(({ at, eventId, ...each }) => ({
      ...each,
      ...{ time: toTimestamp(at), eventId: BigInt(eventId) },
    })),
    createdAt: toTimestamp(state.createdAt),
    updatedAt: toTimestamp(state.updatedAt),
    eventId: BigInt(state.eventId),
  });
}
