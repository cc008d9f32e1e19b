// One line under the head of a live run that does not get on: what it waits for, such as a type nobody serves.

import type { ReactNode } from "react";
import { getRun } from "../api/gateway.ts";
import { usePoll } from "../api/poll.ts";
import type { RunView } from "./view.ts";

const ASK_MS = 5_000;

/** Asks only while the run has not begun, or some node is ready or waits, and nothing while the run gets on. */
export function RunWaiting({ runId, view }: { readonly runId: string; readonly view: RunView }) {
  const held =
    view.status === "pending" ||
    [...view.nodes.values()].some(
      ({ status }) => status === "queued" || status === "retrying" || status === "waiting",
    );
  return held ? <Asked runId={runId} /> : null;
}

function Asked({ runId }: { readonly runId: string }): ReactNode {
  const { value } = usePoll(runId, ASK_MS, (signal) => getRun(runId, signal));
  const reason = value?.run.waitingReason ?? "";
  if (reason === "") return null;
  return (
    <p className="outcome is-waiting" role="status" data-waiting>
      Waiting: {reason}
    </p>
  );
}
