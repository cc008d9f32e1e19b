// Reads approvals.

import { LIMITS } from "@pawl/core/data/limits";
import type { ApprovalId } from "@pawl/core/name/ids";
import { list, number, text, uuid } from "../../db/columns.ts";
import { first, queriesBeside, type Queryable, run } from "../../db/query.ts";
import { Batch } from "../../rpc/batch.ts";
import { wireBytes } from "../../rpc/wire-bytes.ts";
import { NEWEST_FIRST, type PageRequest, readPage } from "../page.ts";
import {
  APPROVAL,
  type ApprovalFilter,
  type ApprovalPage,
  type ApprovalRecord,
  DUE,
  type DueApproval,
  FOUND,
  type FoundApproval,
} from "./approvals.ts";

const declare = queriesBeside(import.meta.url);

const TENANT = { tenantId: text() };
const ID = { approvalId: uuid<ApprovalId>() };
const FILTER = {
  ...TENANT,
  workflowId: text(),
  assignee: text(),
  before: uuid(),
  limit: number(),
};
const IN_STATES = { ...FILTER, states: list(text()) };
const one = declare("one", { ...TENANT, ...ID }, APPROVAL);
const pageOfOpen = declare("page_of_open", FILTER, APPROVAL);
const page = declare("page", IN_STATES, APPROVAL);
const pageOfRun = declare("page_of_run", { ...IN_STATES, runId: uuid() }, APPROVAL);
const countOpen = declare("count_open", TENANT, { count: number() });
const due = declare("due", { limit: number() }, DUE);
const place = declare("place", ID, FOUND);

/** One approval, or undefined. @throws STORE_UNAVAILABLE */
export const getApproval = (
  db: Queryable,
  tenantId: string,
  approvalId: ApprovalId,
): Promise<ApprovalRecord | undefined> => first(db, one, { tenantId, approvalId });

/** Approvals, newest first. @throws INPUT_INVALID for a token of another filter, STORE_UNAVAILABLE */
export async function listApprovals(
  db: Queryable,
  tenantId: string,
  filter: ApprovalFilter,
  asked: PageRequest,
): Promise<ApprovalPage> {
  const states = [...new Set(filter.states)].toSorted();
  const { workflowId, assignee, runId = "" } = filter;
  return await readPage(asked, {
    ...NEWEST_FIRST,
    filter: `approvals ${JSON.stringify([tenantId, states, workflowId, assignee, runId])}`,
    keyOf: (row) => row.approvalId,
    // Each filter has its own index, because there are few open approvals and many closed ones.
    read: (before, limit) => {
      const values = { tenantId, workflowId, assignee, before, limit };
      if (runId !== "") return run(db, pageOfRun, { ...values, states, runId });
      if (states.join() === "open") return run(db, pageOfOpen, values);
      return run(db, page, { ...values, states });
    },
    fitting,
  });
}

/** Details and responses may take more bytes than a message holds. The page ends before that. */
function fitting(rows: readonly ApprovalRecord[]): readonly ApprovalRecord[] {
  const batch = new Batch<ApprovalRecord>(LIMITS.itemBytes);
  for (const row of rows) if (!batch.add(row, wireBytes(row))) break;
  return batch.items;
}

/** How many approvals wait for a person, up to a bound. @throws STORE_UNAVAILABLE */
export async function countOpenApprovals(db: Queryable, tenantId: string): Promise<number> {
  return (await first(db, countOpen, { tenantId }))?.count ?? 0;
}

/** Open approvals that have a deadline, the soonest first. @throws STORE_UNAVAILABLE */
export const dueApprovals = (db: Queryable, limit: number): Promise<readonly DueApproval[]> =>
  run(db, due, { limit });

/** The execution and the definition of an approval, or undefined. @throws STORE_UNAVAILABLE */
export const findApproval = (
  db: Queryable,
  approvalId: ApprovalId,
): Promise<FoundApproval | undefined> => first(db, place, { approvalId });
