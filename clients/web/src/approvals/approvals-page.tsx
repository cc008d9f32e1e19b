// The open questions to people, newest first, each with a link to its form.

import type { Approval } from "@pawl/proto/pawl/v1/approval_pb";
import type { ReactNode } from "react";
import { runPath } from "../route.ts";
import { nodeKey } from "@pawl/core/log/view";
import { PollState } from "../ui/fault-box.tsx";
import { Link } from "../ui/navigate.tsx";
import { useNow, useTitle } from "../ui/browser-hooks.ts";
import { formatAge, formatDuration, wireMs } from "../ui/time.ts";
import type { ApprovalPage } from "@pawl/client";
import { listOpenApprovals } from "../api/gateway.ts";
import { type Polled, usePoll } from "../api/poll.ts";

const TICK_MS = 1000;

export function ApprovalsPage(): ReactNode {
  useTitle("Approvals");
  const polled = useOpenApprovals();
  const { value } = polled;
  const nowMs = useNow(TICK_MS, true);
  return (
    <section className="list" aria-label="Approvals">
      <h1>Approvals</h1>
      <PollState polled={polled} what="the approvals" />
      {value?.approvals.length === 0 && (
        <div className="empty">
          <h2>Nothing waits for a person</h2>
          <p>A run that asks a person something appears here.</p>
        </div>
      )}
      <ul className="inbox">
        {value?.approvals.map((approval) => (
          <Waiting key={approval.approvalId} approval={approval} nowMs={nowMs} />
        ))}
      </ul>
      {value !== undefined && value.nextPageToken !== "" && (
        <p className="muted">
          These are the newest {value.approvals.length}; older ones wait as well.
        </p>
      )}
    </section>
  );
}

function Waiting({
  approval,
  nowMs,
}: {
  readonly approval: Approval;
  readonly nowMs: number;
}): ReactNode {
  const { runId, nodeId, iteration, workflowId, message, assignees } = approval;
  const openedAt = wireMs(approval.openTime) ?? nowMs;
  const deadlineAt = wireMs(approval.deadlineTime);
  const notes = [
    workflowId === "" ? "test run" : workflowId,
    nodeKey(nodeId, iteration),
    ...(assignees.length === 0 ? [] : [`for ${assignees.join(", ")}`]),
    `asked ${formatAge(nowMs - openedAt)}`,
    ...(deadlineAt === undefined ? [] : [`open for ${formatDuration(deadlineAt - nowMs)} more`]),
  ];
  return (
    <li className="card" data-waiting-approval={approval.approvalId}>
      <div>
        <Link to={runPath(runId, nodeKey(nodeId, iteration))} className="card-title">
          {message === "" ? "Held by moderation" : message}
        </Link>
        <p className="card-note">{notes.join(" · ")}</p>
      </div>
      <Link to={runPath(runId, nodeKey(nodeId, iteration))} className="button">
        Answer
      </Link>
    </li>
  );
}

const EVERY_MS = 5_000;

/** The newest open approvals, live. */
export const useOpenApprovals = (): Polled<ApprovalPage> =>
  usePoll("approvals", EVERY_MS, listOpenApprovals);

/** The number of open approvals, with "+" if there are more pages. Empty for none. */
export function openCount(page: ApprovalPage | undefined): string {
  if (page === undefined || page.approvals.length === 0) return "";
  return `${page.approvals.length}${page.nextPageToken === "" ? "" : "+"}`;
}
