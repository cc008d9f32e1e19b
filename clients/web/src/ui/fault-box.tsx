// An error as people need it: what happened, its reason for those who search, and what to do next.

import type { ReactNode } from "react";
import type { Fault } from "../api/fault.ts";

interface Props {
  readonly fault: Fault;
  readonly children?: ReactNode;
}

/** Shows a fault; `children` are further actions. */
export function FaultBox({ fault, children }: Props): ReactNode {
  return (
    <div className="fault" role="alert" data-reason={fault.reason}>
      <p>
        <strong>{fault.message === "" ? "Something went wrong." : fault.message}</strong>{" "}
        <code>{fault.reason}</code>
      </p>
      {fault.violations.length > 0 && (
        <ul>
          {fault.violations.map((violation) => (
            <li key={violation}>{violation}</li>
          ))}
        </ul>
      )}
      <p className="fault-next">{fault.next}</p>
      {children}
    </div>
  );
}
