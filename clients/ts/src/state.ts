// The workflow state of a run as plain values: times are milliseconds, and the memory is JSON text.

import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import type { RunService } from "@pawl/proto/pawl/v1/run_service_pb";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { WaitingReason, WorkflowState } from "@pawl/core/log/workflow-state-shape";
import {
  WaitingReason as WireWaitingReason,
  WaitingReasonSchema,
  type WorkflowState as WireState,
} from "@pawl/proto/pawl/v1/run_pb";
import { type Caller, type PawlCallOptions, present } from "./caller.ts";
import { PawlError } from "./errors.ts";
import { jsonOf, jsonTextOf } from "./json.ts";
import type { Runs } from "./runs.ts";
import { namer, runStatusName } from "./status.ts";

export interface GetRunOptions extends PawlCallOptions {
  /** Reads the run as it was after this event of its log; default now. */
  readonly atEventId?: number | undefined;
}

const reasonName = namer<typeof WaitingReasonSchema, WaitingReason>(WaitingReasonSchema);

/** What a caller may set for one run in place of its definition's own. */
export interface RunBounds {
  /** How often the run may repeat; default the definition's own. */
  readonly maxIterations?: number | undefined;
  /** How often an execution may be retried at most; default the definition's own, or the policy of each node. */
  readonly maxRetries?: number | undefined;
  /** What the run is for; default the definition's own. Templates read it as `ctx.goal`. */
  readonly goal?: string | undefined;
  /** The rules that its nodes respect; default the definition's own. Templates read them as `ctx.constraints`. */
  readonly constraints?: readonly string[] | undefined;
}

/** The bounds in the form of the wire. */
export function boundsOf({
  maxIterations = 0,
  maxRetries,
  goal = "",
  constraints = [],
}: RunBounds) {
  const bounds = { maxIterations, goal, constraints: [...constraints] };
  return maxRetries === undefined ? bounds : { ...bounds, maxRetries };
}

/** The calls that read one run. */
export function createReads(
  rpc: Client<typeof RunService>,
  call: Caller,
): Pick<Runs, "get" | "state"> {
  const get: Runs["get"] = async (runId, { atEventId, ...options } = {}) => {
    const request = { ...options, runId, atEventId: eventIdOf(atEventId) };
    const { run, definitionJson } = await call(rpc.getRun, request);
    return { run: present(run), definition: jsonOf(definitionJson) };
  };
  const state: Runs["state"] = async (runId, options) =>
    stateFromWire(present((await get(runId, options)).run.state));
  return { get, state };
}

/** The state in an answer of GetRun. */
export function stateFromWire(wire: WireState): WorkflowState {
  const { waitingFor, maxRetries, maxTokenBudget, budgetUsd, $typeName: _name, ...same } = wire;
  const { memoryJson: _memory, memory: _value, valuesLeftOut: _left, ...fields } = same;
  return {
    ...fields,
    status: runStatusName(wire.status),
    startedAt: msOrNone(wire.startedAt),
    maxExecutionTimeMs: Number(wire.maxExecutionTimeMs),
    compensationStack: wire.compensationStack.map(({ actionId, compensationAction }) => ({
      actionId,
      compensationAction: {
        type: compensationAction?.type ?? "",
        payloadJson: jsonTextOf(compensationAction?.payloadJson ?? new Uint8Array()) ?? "null",
      },
    })),
    waitingFor: waitingFor === WireWaitingReason.UNSPECIFIED ? undefined : reasonName(waitingFor),
    waitingSince: msOrNone(wire.waitingSince),
    waitingTimeoutAt: msOrNone(wire.waitingTimeoutAt),
    totalTokensUsed: Number(wire.totalTokensUsed),
    maxTokenBudget: maxTokenBudget === undefined ? undefined : Number(maxTokenBudget),
    maxRetries,
    budgetUsd,
    memoryJson: jsonTextOf(wire.memoryJson) ?? "{}",
    visitedNodesLeftOut: Number(wire.visitedNodesLeftOut),
    supervisorHistory: wire.supervisorHistory.map((decision) => {
      const { nodeId, next, reason, iteration, route, eventId, time } = decision;
      const at = msOrNone(time) ?? 0;
      return { nodeId, next, reason, iteration, route, eventId: Number(eventId), at };
    }),
    createdAt: msOrNone(wire.createdAt) ?? 0,
    updatedAt: msOrNone(wire.updatedAt) ?? 0,
    eventId: Number(wire.eventId),
  };
}

const msOrNone = (time: Timestamp | undefined): number | undefined =>
  time === undefined ? undefined : timestampMs(time);

/** The wire has 0 for now. @throws PawlError INPUT_INVALID for a number that is no event id */
function eventIdOf(atEventId: number | undefined): bigint {
  if (atEventId === undefined) return 0n;
  if (Number.isSafeInteger(atEventId) && atEventId > 0) return BigInt(atEventId);
  throw new PawlError("INPUT_INVALID", `${atEventId} is no event id; events count from 1`);
}
