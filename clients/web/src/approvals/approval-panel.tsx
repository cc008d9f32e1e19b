// A question to a person: its text, the form for the response, and two buttons. The form checks the answer, and the server checks it again.
// Race: another person answers first. The panel then shows the name.

import { jsonOf } from "@pawl/client";
import { type Approval, ApprovalState } from "@pawl/proto/pawl/v1/approval_pb";
import type { ReactNode } from "react";
import { reads } from "../api/gateway.ts";
import { usePoll } from "../api/poll.ts";
import { CodeBlock } from "../ui/text-block.tsx";
import { FaultBox } from "../ui/fault-box.tsx";
import { useNow } from "../ui/browser-hooks.ts";
import { formatDuration, formatTime, wireMs } from "../ui/time.ts";
import { AnswerForm } from "./answer-form.tsx";
import { detailFacts } from "./details.ts";

const ASK_MS = 5_000;
const TICK_MS = 1_000;

/** The question of an approval, with its form while it is open. */
export function ApprovalPanel({ approvalId }: { readonly approvalId: string }): ReactNode {
  const { value, fault } = usePoll(approvalId, ASK_MS, (signal) =>
    reads.approvals.get(approvalId, { signal }),
  );
  if (value === undefined)
    return fault === undefined ? (
      <p className="muted">Reading the question…</p>
    ) : (
      <FaultBox fault={fault} />
    );
  return (
    <section className="approval" aria-label="Approval" data-approval={value.approvalId}>
      <Question approval={value} />
      {value.state === ApprovalState.OPEN ? (
        <AnswerForm key={value.approvalId} approval={value} />
      ) : (
        <Closed approval={value} />
      )}
    </section>
  );
}

function Question({ approval }: { readonly approval: Approval }): ReactNode {
  const details = jsonOf(approval.detailsJson);
  const facts = detailFacts(details);
  return (
    <>
      {approval.message !== "" && <p className="approval-question">{approval.message}</p>}
      <Terms approval={approval} />
      {facts !== undefined && (
        <dl className="approval-details">
          {facts.map(({ name, value }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      {facts === undefined && details !== undefined && (
        <CodeBlock text={JSON.stringify(details, null, 2)} what="details" />
      )}
    </>
  );
}

/** The assignees, and the remaining time. */
function Terms({ approval }: { readonly approval: Approval }): ReactNode {
  const deadlineAt = wireMs(approval.deadlineTime);
  const isOpen = approval.state === ApprovalState.OPEN;
  const nowMs = useNow(TICK_MS, isOpen && deadlineAt !== undefined);
  if (approval.assignees.length === 0 && deadlineAt === undefined) return null;
  return (
    <p className="approval-terms">
      {approval.assignees.length > 0 && <>For {approval.assignees.join(", ")}. </>}
      {isOpen && deadlineAt !== undefined && (
        <span title={formatTime(deadlineAt)}>
          {deadlineAt > nowMs
            ? `Open for ${formatDuration(deadlineAt - nowMs)} more.`
            : "Its time is up."}
        </span>
      )}
    </p>
  );
}

const ENDS: Partial<Record<ApprovalState, string>> = {
  [ApprovalState.APPROVED]: "Approved",
  [ApprovalState.REJECTED]: "Rejected",
  [ApprovalState.TIMED_OUT]: "No person answered in time",
  [ApprovalState.CANCELLED]: "Closed without an answer: its node or its run ended",
};

function Closed({ approval }: { readonly approval: Approval }): ReactNode {
  const { state, decidedBy, comment, closeTime, responseJson } = approval;
  const at = wireMs(closeTime);
  const isApproved = state === ApprovalState.APPROVED;
  return (
    <div
      className={`outcome is-${isApproved ? "completed" : "cancelled"}`}
      role="status"
      data-closed
    >
      <p>
        <strong>{ENDS[state] ?? "Closed"}</strong>
        {decidedBy !== "" && ` by ${decidedBy}`}
        {at !== undefined && `, ${formatTime(at)}`}
        {comment !== "" && `: ${comment}`}
      </p>
      {responseJson.length > 0 && (
        <CodeBlock text={JSON.stringify(jsonOf(responseJson), null, 2)} what="response" />
      )}
    </div>
  );
}
