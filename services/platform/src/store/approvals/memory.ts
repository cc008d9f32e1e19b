// Approvals in memory.

import type { ApprovalId } from "@pawl/core/name/ids";
import { StagedMap, UniqueViolation } from "../memory/staging.ts";
import type { Tables } from "../memory/tables.ts";
import type {
  ApprovalPlace,
  ApprovalState,
  ClosedApproval,
  DueApproval,
  FoundApproval,
  NewApproval,
} from "./approvals.ts";

export interface ApprovalRow
  extends Omit<NewApproval, "deadlineMs">, Omit<ClosedApproval, "state"> {
  readonly state: ApprovalState;
  readonly deadlineAt: number | null;
  readonly openedAt: number;
}

/** Approvals as one transaction sees them. */
export class StagedApprovals {
  readonly #now: number;
  readonly #rows: StagedMap<ApprovalId, ApprovalRow>;

  constructor({ approvals }: Tables, now: number) {
    this.#now = now;
    this.#rows = new StagedMap(approvals);
  }

  open({ deadlineMs, ...approval }: NewApproval): void {
    const { approvalId } = approval;
    if (this.#rows.has(approvalId)) throw new UniqueViolation("approvals_pkey", approvalId);
    const deadlineAt = deadlineMs === null ? null : this.#now + deadlineMs;
    const open = { state: "open", decidedBy: "", comment: "", responseJson: null } as const;
    this.#rows.set(approvalId, { ...approval, ...open, deadlineAt, openedAt: this.#now });
  }

  close(closed: ClosedApproval): void {
    const approval = this.#rows.get(closed.approvalId);
    if (approval?.state === "open") this.#rows.set(closed.approvalId, { ...approval, ...closed });
  }

  /** Commits. */
  apply(): void {
    this.#rows.apply();
  }
}

const placeOf = ({ approvalId, runId, nodeId, iteration }: ApprovalRow): ApprovalPlace => ({
  approvalId,
  runId,
  nodeId,
  iteration,
});

/** Open approvals with a deadline, the soonest first. */
export const dueApprovals = ({ approvals }: Tables, now: number): DueApproval[] =>
  [...approvals.values()]
    .flatMap((row) =>
      row.state === "open" && row.deadlineAt !== null
        ? [{ ...placeOf(row), dueInMs: row.deadlineAt - now }]
        : [],
    )
    .toSorted((a, b) => a.dueInMs - b.dueInMs);

/** Where an approval belongs. */
export function findApproval(tables: Tables, approvalId: ApprovalId): FoundApproval | undefined {
  const row = tables.approvals.get(approvalId);
  const run = row === undefined ? undefined : tables.runs.get(row.runId);
  if (row === undefined || run === undefined) return undefined;
  return {
    ...placeOf(row),
    definitionId: run.definitionId,
    reason: row.reason,
    state: row.state,
  };
}
