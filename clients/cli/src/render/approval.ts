// An approval as people read it. Pure.

import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { approvalStateName, jsonTextOf } from "@pawl/client";
import { type Approval, ApprovalState } from "@pawl/proto/pawl/v1/approval_pb";
import { type Span, safeText } from "./spans.ts";

export const APPROVAL_HEADS = [
  "APPROVAL",
  "STATE",
  "DEADLINE",
  "WORKFLOW",
  "NODE",
  "MESSAGE",
  "RUN",
];

const isoOf = (time: Timestamp | undefined): string =>
  time === undefined
    ? ""
    : timestampDate(time)
        .toISOString()
        .replace(/\.\d+Z$/, "Z");

const nodeOf = ({ nodeId, iteration }: Approval): string =>
  iteration > 0 ? `${nodeId}#${iteration}` : nodeId;

/** One row of a list. */
export function approvalRow(approval: Approval): Span[] {
  const { approvalId, state, deadlineTime, workflowId, message, runId } = approval;
  return [
    { text: approvalId },
    { text: approvalStateName(state) },
    { text: isoOf(deadlineTime) },
    { text: workflowId },
    { text: nodeOf(approval) },
    { text: message },
    { text: runId },
  ];
}

/** An approval whole; `self` is how a person calls this command. */
export function approvalLines(approval: Approval, self: string): string[] {
  const { approvalId, workflowId, runId, state, assignees, decidedBy, comment } = approval;
  const whose = workflowId === "" ? "a test" : workflowId;
  const schema = schemaLines(approval);
  const facts: readonly [string, string][] = [
    ["asked", `${isoOf(approval.openTime)} (${approval.reason})`],
    ["by", `${whose}, run ${runId}, node ${nodeOf(approval)}`],
    ["for", assignees.join(", ")],
    ["details", jsonTextOf(approval.detailsJson) ?? ""],
    ["deadline", isoOf(approval.deadlineTime)],
    ["closed", isoOf(approval.closeTime)],
    ["answered by", decidedBy],
    ["comment", comment],
    ["response", jsonTextOf(approval.responseJson) ?? ""],
  ];
  const response = schema.length === 0 ? "" : " --response '…'";
  return [
    `${approvalId} ${approvalStateName(state)}`,
    `  ${safeText(approval.message)}`,
    ...facts
      .filter(([, value]) => value !== "")
      .map(([name, value]) => `  ${name}: ${safeText(value)}`),
    ...(schema.length === 0 ? [] : ["  the response must fit:", ...schema]),
    ...(state === ApprovalState.OPEN
      ? [`→ ${self} approval approve ${approvalId}${response}, or reject`]
      : []),
  ];
}

/** How the response must look, indented; nothing where any will do. */
export function schemaLines({ responseSchemaJson }: Approval): string[] {
  const text = jsonTextOf(responseSchemaJson);
  if (text === undefined) return [];
  const indented = JSON.stringify(JSON.parse(text), undefined, 2);
  return indented.split("\n").map((line) => `    ${safeText(line)}`);
}
