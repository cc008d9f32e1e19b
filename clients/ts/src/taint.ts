// The labels of untrusted data, from the wire and in questions about them.

import type { Payloads } from "@pawl/core/log/event-table";
import type { NodeDecision } from "@pawl/core/log/event";
import { approvalId, nodeId } from "@pawl/core/name/ids";
import type { Taint } from "@pawl/core/policy/taint";
import type { KeyTaint, MemoryUpdated, NodeDecided } from "@pawl/proto/pawl/v1/event_pb";
import type { TaintLabel } from "@pawl/proto/pawl/v1/run_pb";

/** A labelled value: the output of a node execution, or a key of the memory. */
export type TaintOf =
  | { readonly nodeId: string; readonly iteration?: number }
  | { readonly memoryKey: string };

export function writtenOf({ keys, replaced, taint }: MemoryUpdated): Payloads["memory.updated"] {
  return { keys, ...(replaced.length === 0 ? {} : { replaced }), ...keyTaintsOf(taint) };
}

/** The labels of keys of a memory; absent without any. */
export function keyTaintsOf(taint: readonly KeyTaint[]): Pick<Payloads["memory.updated"], "taint"> {
  const labelled = taint.map(({ key, labels }) => [key, marksOf(labels)] as const);
  return labelled.length === 0 ? {} : { taint: Object.fromEntries(labelled) };
}

const marksOf = (labels: readonly TaintLabel[]): Taint =>
  labels.map(({ label, nodeId: id }) => ({ label, nodeId: id === "" ? "" : nodeId(id) }));

/** The labels of a value; absent without any. */
export const taintOf = (labels: readonly TaintLabel[]): { readonly taint?: Taint } =>
  labels.length === 0 ? {} : { taint: marksOf(labels) };

/** A decision, with the labels that it dropped. */
export function decidedOf(fact: NodeDecided): Payloads["node.decided"] {
  const { decision, reason, comment, decidedBy, approvalId: id, dropped, awaitsBudget } = fact;
  return {
    decision: decision as NodeDecision,
    reason,
    comment,
    requestId: "",
    ...(decidedBy === "" ? {} : { decidedBy }),
    ...(id === "" ? {} : { approvalId: approvalId(id) }),
    ...(dropped.length === 0 ? {} : { dropped }),
    ...(awaitsBudget && { awaitsBudget }),
  };
}
