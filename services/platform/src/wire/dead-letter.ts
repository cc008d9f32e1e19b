// Dead letters on the wire, and the filters that select them.

import { create } from "@bufbuild/protobuf";
import { LIMITS } from "@pawl/core/data/limits";
import { invalidField } from "@pawl/core/fault/engine-error";
import {
  type DeadLetter as WireDeadLetter,
  type DeadLetterFilter as WireFilter,
  DeadLetterSchema,
  DeadLetterState as WireState,
  type DiscardDeadLettersRequest,
  type RedriveDeadLettersRequest,
} from "@pawl/proto/pawl/v1/queue_service_pb";
import type {
  DeadLetterFilter,
  DeadLetterRecord,
  DeadLetterState,
} from "../store/dead-letters/dead-letters.ts";
import { namesOf } from "./enum.ts";
import { optionalName, requestIdOf, uuidOf } from "./fields.ts";
import { fromTimestamp, toTimestamp, toTimestampOrNone } from "./scalar.ts";

const states = namesOf(WireState);

export const fromWireDeadLetterState: (state: number) => DeadLetterState | undefined =
  states.nameOf;

export function toWireDeadLetter(letter: DeadLetterRecord): WireDeadLetter {
  const { workflowId, diedAt, state, redriveRunId, closedAt, ...same } = letter;
  return create(DeadLetterSchema, {
    ...same,
    workflowId: workflowId ?? "",
    dieTime: toTimestamp(diedAt),
    state: states.values[state],
    redriveRunId: redriveRunId ?? "",
    closeTime: toTimestampOrNone(closedAt),
  });
}

/** The filter of a request. An absent filter selects everything. @throws INPUT_INVALID */
export function fromWireFilter(filter: WireFilter | undefined): DeadLetterFilter {
  const { deadLetterIds = [], workflowId = "", nodeType = "", beforeTime } = filter ?? {};
  const { deadLettersMax } = LIMITS;
  if (deadLetterIds.length > deadLettersMax)
    throw invalidField("filter.dead_letter_ids", "TOO_MANY", `has more than ${deadLettersMax} ids`);
  for (const [name, text] of [
    ["workflow_id", workflowId],
    ["node_type", nodeType],
  ] as const)
    optionalName(`filter.${name}`, text);
  return {
    ids: [...new Set(deadLetterIds.map((id, at) => uuidOf(`filter.dead_letter_ids[${at}]`, id)))],
    workflowId,
    nodeType,
    beforeMs: beforeTime === undefined ? undefined : fromTimestamp(beforeTime),
  };
}

/** @throws INPUT_INVALID */
export const parseRedrive = (request: RedriveDeadLettersRequest) => ({
  filter: fromWireFilter(request.filter),
  limit: deadLetterLimit(request.limit),
  pauseMs: 1_000 / redrivePace(request.maxPerSecond),
  requestId: requestIdOf(request.requestId),
});

/** @throws INPUT_INVALID */
export const parseDiscard = (request: DiscardDeadLettersRequest) => ({
  filter: narrowing(fromWireFilter(request.filter)),
  limit: deadLetterLimit(request.limit),
  requestId: requestIdOf(request.requestId),
});

/** A number of a request. 0 means the default. @throws INPUT_INVALID */
function bounded(field: string, asked: number, max: number, preset: number): number {
  if (asked > max) throw invalidField(field, "OUT_OF_RANGE", `is more than ${max}`);
  return asked === 0 ? preset : asked;
}

/** How many dead letters a request covers. @throws INPUT_INVALID */
export const deadLetterLimit = (limit: number): number =>
  bounded("limit", limit, LIMITS.deadLettersMax, LIMITS.deadLetters);

/** How many dead letters a second a request redrives. @throws INPUT_INVALID */
const redrivePace = (perSecond: number): number =>
  bounded("max_per_second", perSecond, LIMITS.redrivesPerSecondMax, LIMITS.redrivesPerSecond);

/** Checks that a filter selects something in particular, so that a missing filter never discards everything. @throws INPUT_INVALID */
function narrowing(filter: DeadLetterFilter): DeadLetterFilter {
  const { ids, workflowId, nodeType, beforeMs } = filter;
  if (ids.length === 0 && workflowId === "" && nodeType === "" && beforeMs === undefined)
    throw invalidField("filter", "EMPTY_FILTER", "must name the dead letters to discard");
  return filter;
}
