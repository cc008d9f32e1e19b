// Dead letters as clients see and select them.

import { create } from "@bufbuild/protobuf";
import { LIMITS } from "@pawl/core/data/limits";
import { invalidField } from "@pawl/core/fault/engine-error";
import { isName, isUuid } from "@pawl/core/name/ids";
import {
  type DeadLetter as WireDeadLetter,
  type DeadLetterFilter as WireFilter,
  DeadLetterSchema,
  DeadLetterState as WireState,
} from "@pawl/proto/pawl/v1/queue_service_pb";
import type {
  DeadLetterFilter,
  DeadLetterRecord,
  DeadLetterState,
} from "../store/dead-letters/dead-letters.ts";
import { fromTimestamp, toTimestamp } from "./scalar.ts";

const STATES: Readonly<Record<DeadLetterState, WireState>> = {
  open: WireState.OPEN,
  redriven: WireState.REDRIVEN,
  discarded: WireState.DISCARDED,
};
const NAMES = new Map(
  Object.entries(STATES).map(([name, wire]) => [wire, name as DeadLetterState]),
);

/** The state of a number on the wire; undefined for an unknown number. */
export const fromWireDeadLetterState = (state: WireState): DeadLetterState | undefined =>
  NAMES.get(state);

export function toWireDeadLetter(letter: DeadLetterRecord): WireDeadLetter {
  const { workflowId, diedAt, state, redriveRunId, closedAt, ...same } = letter;
  const wire = create(DeadLetterSchema, {
    ...same,
    workflowId: workflowId ?? "",
    dieTime: toTimestamp(diedAt),
    state: STATES[state],
    redriveRunId: redriveRunId ?? "",
  });
  if (closedAt !== null) wire.closeTime = toTimestamp(closedAt);
  return wire;
}

/** The filter of a request; an absent filter selects everything. @throws INPUT_INVALID */
export function fromWireFilter(filter: WireFilter | undefined): DeadLetterFilter {
  const { deadLetterIds = [], workflowId = "", nodeType = "", beforeTime } = filter ?? {};
  if (deadLetterIds.length > LIMITS.deadLettersMax)
    throw invalidField(
      "filter.dead_letter_ids",
      "TOO_MANY",
      `has more than ${LIMITS.deadLettersMax} ids`,
    );
  for (const [name, text] of [
    ["workflow_id", workflowId],
    ["node_type", nodeType],
  ] as const)
    if (text !== "" && !isName(text))
      throw invalidField(`filter.${name}`, "BAD_ID", "is not 1-128 characters of [A-Za-z0-9._-]");
  return {
    ids: [...new Set(deadLetterIds.map(idOf))],
    workflowId,
    nodeType,
    beforeMs: beforeTime === undefined ? undefined : fromTimestamp(beforeTime),
  };
}

function idOf(text: string, index: number): string {
  const canonical = text.toLowerCase();
  if (!isUuid(canonical))
    throw invalidField(`filter.dead_letter_ids[${index}]`, "BAD_ID", "is not a UUID");
  return canonical;
}

/** How many dead letters a request covers; 0 means the default. @throws INPUT_INVALID */
export function deadLetterLimit(limit: number): number {
  if (limit > LIMITS.deadLettersMax)
    throw invalidField("limit", "OUT_OF_RANGE", `is more than ${LIMITS.deadLettersMax}`);
  return limit === 0 ? LIMITS.deadLetters : limit;
}

/** How many a second; 0 means the default. @throws INPUT_INVALID */
export function redrivePace(maxPerSecond: number): number {
  if (maxPerSecond > LIMITS.redrivesPerSecondMax)
    throw invalidField(
      "max_per_second",
      "OUT_OF_RANGE",
      `is more than ${LIMITS.redrivesPerSecondMax}`,
    );
  return maxPerSecond === 0 ? LIMITS.redrivesPerSecond : maxPerSecond;
}

/** A filter that selects something in particular, so that a missing filter never discards everything. @throws INPUT_INVALID */
export function narrowing(filter: DeadLetterFilter): DeadLetterFilter {
  const { ids, workflowId, nodeType, beforeMs } = filter;
  if (ids.length === 0 && workflowId === "" && nodeType === "" && beforeMs === undefined)
    throw invalidField("filter", "EMPTY_FILTER", "must name what to discard");
  return filter;
}
