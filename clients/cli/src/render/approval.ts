// An approval for people. The functions are pure.

import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { approvalStateName, jsonTextOf } from "@pawl/client";
import { executionName } from "@pawl/core/log/undo-iteration";
import { type Approval, ApprovalState } from "@pawl/proto/pawl/v1/approval_pb";
import { formatDuration, isoText } from "./words.ts";
import { safeText, shortId } from "./spans.ts";

const isoOf = (time: Timestamp | undefined): string => isoText(time).replace(/\.\d+Z$/, "Z");

const nodeOf = ({ nodeId, iteration }: Approval): string => executionName(nodeId, iteration);

type Column = readonly [head: string, cell: (approval: Approval) => string];

/** The columns of a list. A person gets the remaining time and a short id to type. A pipe gets everything. */
export const approvalColumns = (isTty: boolean, nowMs: number): readonly Column[] => [
  ["QUESTION", ({ message }) => message],
  ["STATE", ({ state }) => approvalStateName(state)],
  ["DUE", ({ deadlineTime: time }) => (isTty ? dueText(time, nowMs) : isoOf(time))],
  ["WORKFLOW", ({ workflowId }) => workflowId],
  ...(isTty ? [] : [["NODE", nodeOf] as const]),
  ["APPROVAL", ({ approvalId: id }) => (isTty ? shortId(id) : id)],
  ...(isTty ? [] : [["RUN", ({ runId }: Approval) => runId] as const]),
];

function dueText(time: Timestamp | undefined, nowMs: number): string {
  if (time === undefined) return "";
  const leftMs = timestampMs(time) - nowMs;
  return leftMs > 0 ? `in ${formatDuration(leftMs)}` : `${formatDuration(-leftMs)} ago`;
}

/** All of an approval. `self` is the command by which a person calls the command line. */
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

/** The schema of the response, indented. Empty if any response is valid. */
export function schemaLines({ responseSchemaJson }: Approval): string[] {
  const text = jsonTextOf(responseSchemaJson);
  if (text === undefined) return [];
  const indented = JSON.stringify(JSON.parse(text), undefined, 2);
  return indented.split("\n").map((line) => `    ${safeText(line)}`);
}
