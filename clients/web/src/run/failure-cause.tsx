// The cause of a failure with its class: what Pawl promises after it.

import { FAILURE_CLASSES, type FailureClass } from "@pawl/core/fault/class";
import type { ReactNode } from "react";

export const NO_FAILURE = { cause: "", failureClass: undefined };

/** Shows nothing without a cause. A node that waits has a cause and no class. */
export function FailureCause({
  cause,
  failureClass,
}: {
  readonly cause: string;
  readonly failureClass: FailureClass | undefined;
}): ReactNode {
  if (cause === "") return null;
  return (
    <>
      <code>{cause}</code>
      <FailureClassName failureClass={failureClass} />
    </>
  );
}

/** The class in words, with its promise under the pointer. Shows nothing without a class. */
export function FailureClassName({
  failureClass,
}: {
  readonly failureClass: FailureClass | undefined;
}): ReactNode {
  if (failureClass === undefined) return null;
  return (
    <span className="muted" data-failure-class={failureClass} title={FAILURE_CLASSES[failureClass]}>
      {failureClass.replace("_", " ")}
    </span>
  );
}
