// A status as a shape and a colour: the shape alone is enough to tell statuses apart.

import type { NodeStatus, RunStatus } from "@pawl/core/log/event";
import type { ReactNode } from "react";

type AnyStatus = NodeStatus | RunStatus | "handled" | "not_run";

const ring = <circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" strokeWidth="1.6" />;
const disc = <circle cx="8" cy="8" r="7" fill="currentColor" />;
const line = {
  fill: "none",
  stroke: "currentColor",
  strokeWidth: 1.8,
  strokeLinecap: "round",
  strokeLinejoin: "round",
} as const;
const cut = { ...line, stroke: "var(--surface)" } as const;

const dotted = <circle cx="8" cy="8" r="6" {...line} strokeWidth={1.6} strokeDasharray="2.2 2.5" />;
const clock = (
  <>
    {ring}
    <path d="M8 4.8V8l2.2 1.6" {...line} strokeWidth={1.5} />
  </>
);
const pause = (
  <>
    <path d="M8 .8 15.2 8 8 15.2.8 8z" fill="currentColor" />
    <path d="M6.4 5.9v4.2M9.6 5.9v4.2" {...cut} />
  </>
);
const turning = (
  <>
    <circle cx="8" cy="8" r="6" {...line} opacity="0.25" />
    <path className="spin" d="M8 2a6 6 0 0 1 6 6" {...line} strokeWidth={2.2} />
  </>
);
const again = (
  <>
    <path d="M13.6 9.2A5.8 5.8 0 1 1 12 3.9" {...line} />
    <path d="M12.6 1.2v3.3H9.3" {...line} />
  </>
);

const hourglass = (
  <path
    d="M3.4 1.4h9.2M3.4 14.6h9.2M4.4 1.6c0 3.4 3.6 4.2 3.6 6.4s-3.6 3-3.6 6.4h7.2C11.6 11 8 10.2 8 8s3.6-3 3.6-6.4z"
    {...line}
  />
);

/** A status without a shape of its own is drawn as pending. */
const SHAPES: Readonly<Partial<Record<AnyStatus, ReactNode>>> = {
  pending: dotted,
  queued: clock,
  running: turning,
  retrying: again,
  waiting: pause,
  paused: pause,
  completed: (
    <>
      {disc}
      <path d="m4.8 8.3 2.2 2.2 4.2-4.6" {...cut} />
    </>
  ),
  failed: (
    <>
      <path d="M5 .9h6L15.1 5v6L11 15.1H5L.9 11V5z" fill="currentColor" />
      <path d="m5.5 5.5 5 5m0-5-5 5" {...cut} />
    </>
  ),
  handled: (
    <>
      <path d="M8 1.2 15.2 14H.8z" fill="currentColor" strokeLinejoin="round" />
      <path d="M8 5.8v3.6M8 11.8v.1" {...cut} />
    </>
  ),
  not_run: (
    <>
      {dotted}
      <path d="M5.5 8h5" {...line} strokeWidth={1.4} />
    </>
  ),
  timed_out: hourglass,
  timeout: hourglass,
  cancelled: (
    <>
      {ring}
      <path d="m4 12 8-8" {...line} />
    </>
  ),
  skipped: (
    <>
      {dotted}
      <path d="M5.5 8h5m-2-2 2 2-2 2" {...line} strokeWidth={1.4} />
    </>
  ),
};

const NAMES: Partial<Record<AnyStatus, string>> = {
  timed_out: "timed out",
  timeout: "timed out",
  handled: "failed, handled",
  not_run: "not run",
};

/** The name of a status for people. */
export const statusName = (status: AnyStatus): string => NAMES[status] ?? status;

export function StatusIcon({ status }: { readonly status: AnyStatus }): ReactNode {
  return (
    <svg
      className={`status-icon is-${status}`}
      viewBox="0 0 16 16"
      width="16"
      height="16"
      aria-hidden="true"
    >
      {SHAPES[status] ?? dotted}
    </svg>
  );
}

export function StatusBadge({ status }: { readonly status: AnyStatus }): ReactNode {
  return (
    <span className={`badge is-${status}`} data-status={status}>
      <StatusIcon status={status} />
      {statusName(status)}
    </span>
  );
}
