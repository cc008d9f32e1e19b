// Invariants between the open approvals of a run and its log, which alone decides.
import { executionsOf } from "@pawl/core/log/execution";
import type { RunState } from "@pawl/core/log/state";

export type ApprovalRow = {
  readonly runId: string;
  readonly approvalId: string;
  readonly nodeId: string;
  readonly iteration: number;
  readonly state: string;
  readonly deadlineAt: number | null;
};

export const APPROVALS = `
select run_id as "runId", approval_id as "approvalId", node_id as "nodeId", iteration, state,
  extract(epoch from deadline_at)::float8 * 1000 as "deadlineAt"
from pawl.approvals
where $1::uuid[] is null or run_id = any ($1)`;

/** Every open row is a hold of the log with the same deadline, and the other way round. */
export function checkApprovals(
  state: RunState,
  rows: readonly ApprovalRow[],
  report: (seq: number, rule: string) => void,
): void {
  const line = (id: string, nodeId: string, iteration: number, deadlineAt: number | null) =>
    `${id} of ${nodeId}/${iteration} until ${deadlineAt === null ? "ever" : Math.floor(deadlineAt)}`;
  const open = rows.flatMap(({ approvalId, nodeId, iteration, state: stands, deadlineAt }) =>
    stands === "open" ? [line(approvalId, nodeId, iteration, deadlineAt)] : [],
  );
  const held = [...executionsOf(state)].flatMap(([index, iteration, { hold }]) => {
    const nodeId = state.graph.nodes[index]?.definition.id ?? "";
    return hold?.approval === undefined
      ? []
      : [line(hold.approval.approvalId, nodeId, iteration, hold.deadlineAt ?? null)];
  });
  for (const each of open.filter((one) => !held.includes(one)))
    report(state.lastSeq, `approval ${each} is open and nothing is held for it`);
  for (const each of held.filter((one) => !open.includes(one)))
    report(state.lastSeq, `a node is held for approval ${each}, which is not open`);
}
