// An explanation as clients see it.

import { create } from "@bufbuild/protobuf";
import type { Explanation, SlotStanding } from "@pawl/core/explain/reason";
import {
  ExplainReason as WireReason,
  ExplanationSchema,
  type SlotWait as WireSlotWait,
  SlotWaitSchema,
  type Explanation as WireExplanation,
} from "@pawl/proto/pawl/v1/explain_pb";
import { toTimestampOrNone } from "./scalar.ts";
import { toWireFailureClass, toWireNodeStatus } from "./enum.ts";

/** An explanation on the wire. */
export function toWireExplanation(explanation: Explanation): WireExplanation {
  const { reason, status, summary, evidence, next, sinceAt, untilAt, slot, failure } = explanation;
  return create(ExplanationSchema, {
    reason: WireReason[reason],
    status: toWireNodeStatus(status),
    summary,
    evidence: evidence.map(({ seq, type, nodeId }) => ({ eventId: BigInt(seq), type, nodeId })),
    next,
    cause: failure?.cause ?? "",
    failureClass: toWireFailureClass(failure?.failureClass),
    sinceTime: toTimestampOrNone(sinceAt),
    untilTime: toTimestampOrNone(untilAt),
    slotWait: slot && toWireSlotWait(slot),
  });
}

const toWireSlotWait = ({ kind, holders, ...same }: SlotStanding): WireSlotWait =>
  create(SlotWaitSchema, { ...same, isRate: kind === "rate", holders: [...holders] });
