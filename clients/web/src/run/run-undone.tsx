// The compensation of a run in words: what is being undone, and what was not.

import type { ReactNode } from "react";
import { isSettled } from "@pawl/core/log/event";
import type { RunView } from "@pawl/core/log/view";
import type { RunScene } from "./use-run.ts";

const ENDS: Readonly<Record<string, string>> = {
  failed: "fails",
  cancelled: "is cancelled",
  timeout: "times out",
};

/** Empty for a run that is not compensated. */
export function RunUndone({ view, onOpen }: Pick<RunScene, "view" | "onOpen">): ReactNode {
  const { ending, compensation } = view;
  if (ending !== undefined)
    return (
      <p className="outcome is-waiting" role="status" data-undoing>
        Undoing what the run did: {doneText(view)}. Then the run {ENDS[ending.end] ?? "ends"}.
      </p>
    );
  if (compensation === undefined) return null;
  const { undone, left, named } = compensation;
  return (
    <section
      className={`outcome ${left > 0 ? "is-failed" : ""}`}
      role="status"
      aria-label="Compensation"
      data-undone={undone}
    >
      <strong>
        {undone} undone{left > 0 && `, ${left} not undone`}
      </strong>
      <p className="muted">
        Its results no longer hold, so the run cannot be retried or repaired. Start a new run.
      </p>
      {left > 0 && (
        <ul>
          {named.map(({ nodeId, iteration, why }) => (
            <li key={`${nodeId}#${iteration}`}>
              <button type="button" className="link-button" onClick={() => onOpen(nodeId)}>
                {iteration === 0 ? nodeId : `${nodeId}#${iteration}`}
              </button>{" "}
              {why}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function doneText({ nodes }: RunView): string {
  const undos = [...nodes.values()].filter(({ undoes }) => undoes !== undefined);
  const done = undos.filter(({ status }) => isSettled(status)).length;
  return `${done} of ${undos.length} begun are done`;
}
