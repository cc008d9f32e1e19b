// Approvals in memory.

import type { ApprovalId } from "@pawl/core/name/ids";
import type { StagedRows } from "../memory/staging.ts";
import type { Tables } from "../memory/store.ts";
import type {
  ApprovalRecord,
  ClosedApproval,
  DueApproval,
  FoundApproval,
  NewApproval,
} from "./approvals.ts";

export type ApprovalRow = Omit<ApprovalRecord, "workflowId" | "closedAt">;

export function openApproval(
  { approvals, now }: StagedRows,
  { deadlineMs, ...approval }: NewApproval,
): void {
  const deadlineAt = deadlineMs === null ? null : now + deadlineMs;
  const open = { state: "open", decidedBy: "", comment: "", responseJson: null } as const;
  const row = { ...approval, ...open, deadlineAt, openedAt: now };
  approvals.insert(approval.approvalId, row, "approvals_pkey");
}

export function closeApproval({ approvals }: StagedRows, closed: ClosedApproval): void {
  const approval = approvals.get(closed.approvalId);
  if (approval?.state === "open") approvals.set(closed.approvalId, { ...approval, ...closed });
}

const placeOf = ({ approvalId, runId, nodeId, iteration }: ApprovalRow) => ({
  approvalId,
  runId,
  nodeId,
  iteration,
});

/** Open approvals with a deadline, the soonest first. */
export const dueApprovals = ({ approvals, runs }: Tables, now: number): DueApproval[] =>
  [...approvals.values()]
    .flatMap((row) =>
      row.state === "open" && row.deadlineAt !== null && runs.get(row.runId)?.quarantine === null
        ? [{ ...placeOf(row), dueInMs: row.deadlineAt - now }]
        : [],
    )
    .toSorted((a, b) => a.dueInMs - b.dueInMs);

/** The execution and the definition of an approval. */
export function findApproval(tables: Tables, approvalId: ApprovalId): FoundApproval | undefined {
  const row = tables.approvals.get(approvalId);
  const run = row === undefined ? undefined : tables.runs.get(row.runId);
  if (row === undefined || run === undefined) return undefined;
  const { reason, state } = row;
  return { ...placeOf(row), definitionId: run.definitionId, reason, state };
}
