// An error as people need it: what happened, its reason for those who search, and what to do next.

import type { ReactNode } from "react";
import { violationText } from "../api/fault.ts";
import type { Fault } from "../api/fault.ts";

interface Props {
  readonly fault: Fault;
  readonly children?: ReactNode;
}

/** Shows a fault; `children` are further actions. */
export function FaultBox({ fault, children }: Props): ReactNode {
  // A fault of one rule says it already.
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
