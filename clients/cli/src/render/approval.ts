// An approval as people read it. Pure.

import { type Timestamp, timestampDate, timestampMs } from "@bufbuild/protobuf/wkt";
import { approvalStateName, jsonTextOf } from "@pawl/client";
import { type Approval, ApprovalState } from "@pawl/proto/pawl/v1/approval_pb";
import { formatDuration } from "./duration.ts";
import { shortId } from "./short-id.ts";
import { type Span, safeText } from "./spans.ts";

const isoOf = (time: Timestamp | undefined): string =>
  time === undefined
    ? ""
    : timestampDate(time)
        .toISOString()
        .replace(/\.\d+Z$/, "Z");

const nodeOf = ({ nodeId, iteration }: Approval): string =>
  iteration > 0 ? `${nodeId}#${iteration}` : nodeId;

type Column = readonly [head: string, cell: (approval: Approval) => string];

/** The columns for a terminal: the question, the time to answer, and a short id that a person can type. */
const forPeople = (nowMs: number): readonly Column[] => [
  ["QUESTION", ({ message }) => message],
  ["STATE", ({ state }) => approvalStateName(state)],
  ["DUE", ({ deadlineTime }) => dueText(deadlineTime, nowMs)],
  ["WORKFLOW", ({ workflowId }) => workflowId],
  ["APPROVAL", ({ approvalId }) => shortId(approvalId)],
];

/** Everything, for a pipe. */
const FOR_PIPES: readonly Column[] = [
  ["QUESTION", ({ message }) => message],
  ["STATE", ({ state }) => approvalStateName(state)],
  ["DUE", ({ deadlineTime }) => isoOf(deadlineTime)],
  ["WORKFLOW", ({ workflowId }) => workflowId],
  ["NODE", nodeOf],
  ["APPROVAL", ({ approvalId }) => approvalId],
  ["RUN", ({ runId }) => runId],
];

/** A list as heads and rows. */
export function approvalTable(
  approvals: readonly Approval[],
  { isTty, nowMs }: { readonly isTty: boolean; readonly nowMs: number },
): { readonly heads: string[]; readonly rows: Span[][] } {
  const columns = isTty ? forPeople(nowMs) : FOR_PIPES;
  return {
    heads: columns.map(([head]) => head),
    rows: approvals.map((approval) => columns.map(([, cell]) => ({ text: cell(approval) }))),
  };
}

function dueText(time: Timestamp | undefined, nowMs: number): string {
  if (time === undefined) return "";
  const leftMs = timestampMs(time) - nowMs;
  return leftMs > 0 ? `in ${formatDuration(leftMs)}` : `${formatDuration(-leftMs)} ago`;
}

/** All of an approval; `self` is the command by which a person calls the command line. */
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

/** The schema of the response, indented; nothing where any response is valid. */
export function schemaLines({ responseSchemaJson }: Approval): string[] {
  const text = jsonTextOf(responseSchemaJson);
  if (text === undefined) return [];
  const indented = JSON.stringify(JSON.parse(text), undefined, 2);
  return indented.split("\n").map((line) => `    ${safeText(line)}`);
}
