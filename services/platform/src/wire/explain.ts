// An explanation as clients see it.

import { create } from "@bufbuild/protobuf";
import type { Explanation, SlotStanding } from "@pawl/core/explain/reason";
import {
  EvidenceSchema,
  ExplainReason as WireReason,
  ExplanationSchema,
  SlotHolderSchema,
  type SlotWait as WireSlotWait,
  SlotWaitSchema,
  type Explanation as WireExplanation,
} from "@pawl/proto/pawl/v1/explain_pb";
import { toTimestamp } from "./scalar.ts";
import { toWireNodeStatus } from "./status.ts";

/** An explanation on the wire. */
export function toWireExplanation(explanation: Explanation): WireExplanation {
  const { reason, status, summary, evidence, next, sinceAt, untilAt, slot } = explanation;
  const wire = create(ExplanationSchema, {
    reason: WireReason[reason],
    status: toWireNodeStatus(status),
    summary,
    evidence: evidence.map(({ seq, type, nodeId }) =>
      create(EvidenceSchema, { eventId: BigInt(seq), type, nodeId }),
    ),
    next,
  });
  if (sinceAt !== undefined) wire.sinceTime = toTimestamp(sinceAt);
  if (untilAt !== undefined) wire.untilTime = toTimestamp(untilAt);
  if (slot !== undefined) wire.slotWait = toWireSlotWait(slot);
  return wire;
}

const toWireSlotWait = (slot: SlotStanding): WireSlotWait =>
  create(SlotWaitSchema, {
    key: slot.key,
    isRate: slot.kind === "rate",
    limit: slot.limit,
    takenCount: slot.takenCount,
    holders: slot.holders.map((holder) => create(SlotHolderSchema, holder)),
    aheadCount: slot.aheadCount,
  });
