// The open approvals, asked for now and then while the page is seen.

import type { ApprovalPage } from "@pawl/client";
import { listOpenApprovals } from "../api/gateway.ts";
import { usePoll } from "../api/poll.ts";
import type { Polled } from "../api/poll.ts";

const EVERY_MS = 5_000;

/** The newest of them, live. */
export const useOpenApprovals = (): Polled<ApprovalPage> =>
  usePoll("approvals", EVERY_MS, listOpenApprovals);

/** How many there are, as far as one page tells; empty for none. */
export function openCount(page: ApprovalPage | undefined): string {
  if (page === undefined || page.approvals.length === 0) return "";
  return `${page.approvals.length}${page.nextPageToken === "" ? "" : "+"}`;
}
