// What every page stands in: the mark and the places to go, with the number of questions that wait for people.

import type { ReactNode } from "react";
import type { Route } from "../route.ts";
import { openCount, useOpenApprovals } from "../approvals/use-open-approvals.ts";
import { Link } from "./link.tsx";

function Mark(): ReactNode {
  return (
    <svg className="mark" viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
      <rect width="32" height="32" rx="7" />
      <path
        className="mark-wheel"
        d="M13 9l2.6 2.2 3.2-1.3.6 3.4 3.4.7-1.3 3.2 2.2 2.6-2.9 1.8.3 3.4-3.4.1-1.4 3.1-2.9-1.8-2.9 1.8-1.4-3.1-3.4-.1.3-3.4L3.1 20l2.2-2.6L4 14.2l3.4-.7.6-3.4 3.2 1.3z"
      />
      <circle cx="13.4" cy="18.6" r="3" />
      <path className="mark-pawl" d="M28 5 17.5 8.5l1.6 4.2" />
    </svg>
  );
}

/** The frame of the console around one page. */
export function Shell({
  route,
  children,
}: {
  readonly route: Route;
  readonly children: ReactNode;
}): ReactNode {
  const waiting = openCount(useOpenApprovals().value);
  const onRuns = route.page === "runs" || route.page === "run";
  const onWorkflows = route.page === "workflows" || route.page === "workflow";
  return (
    <>
      <header className="top">
        <Link to="/" className="brand">
          <Mark />
          <span>Pawl</span>
        </Link>
        <nav aria-label="Console">
          <Link to="/" current={onRuns}>
            Runs
          </Link>
          <Link to="/approvals" current={route.page === "approvals"}>
            Approvals
            {waiting !== "" && (
              <span className="nav-count" data-open-approvals={waiting}>
                {waiting}
                <span className="hidden"> open</span>
              </span>
            )}
          </Link>
          <Link to="/workflows" current={onWorkflows}>
            Workflows
          </Link>
        </nav>
      </header>
      <main>{children}</main>
    </>
  );
}
