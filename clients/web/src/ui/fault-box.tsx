// An error for people: the fault, its reason for a search, and the next step.

import type { ReactNode } from "react";
import { type Fault, violationText } from "../api/fault.ts";
import type { Polled } from "../api/poll.ts";

interface Props {
  readonly fault: Fault | undefined;
  readonly children?: ReactNode;
}

/** Shows a fault, if there is one. `children` are further actions. */
export function FaultBox({ fault, children }: Props): ReactNode {
  if (fault === undefined) return null;
  // The message of a fault with one violation is that violation.
  const broken = fault.violations
    .map(violationText)
    .filter((violation) => violation !== fault.message);
  return (
    <div className="fault" role="alert" data-reason={fault.reason}>
      <p>
        <strong>{fault.message === "" ? "Something went wrong." : fault.message}</strong>{" "}
        <code>{fault.reason}</code>
      </p>
      {broken.length > 0 && (
        <ul>
          {broken.map((violation) => (
            <li key={violation}>{violation}</li>
          ))}
        </ul>
      )}
      <p className="fault-next">{fault.next}</p>
      {children}
    </div>
  );
}

/** The fault of a poll, or a note before its first answer. */
export function PollState({ polled, what }: PollProps): ReactNode {
  if (polled.fault !== undefined) return <FaultBox fault={polled.fault} />;
  return polled.value === undefined && <p className="loading">Reading {what}…</p>;
}

interface PollProps {
  readonly polled: Polled<unknown>;
  readonly what: string;
}
