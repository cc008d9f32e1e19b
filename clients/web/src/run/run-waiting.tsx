// Under the head of a live run that does not get on: the questions it asks people, each with a way to its form; else one line on
// what it waits for, such as a type nobody serves.

import { APPROVAL } from "@pawl/core/log/event";
import type { ReactNode } from "react";
import { getRun } from "../api/gateway.ts";
import { usePoll } from "../api/poll.ts";
import type { NodeView, RunView } from "./view.ts";

const ASK_MS = 5_000;
const QUESTIONS_MAX = 3;

interface Props {
  readonly runId: string;
  readonly view: RunView;
  readonly openKey: string;
  readonly onOpen: (key: string) => void;
}

/** Asks only while the run has not begun, or some node is ready or waits, and nothing while the run gets on. */
export function RunWaiting({ runId, view, openKey, onOpen }: Props): ReactNode {
  const nodes = [...view.nodes.values()];
  const asking = nodes.filter(({ status, cause }) => status === "waiting" && cause === APPROVAL);
  if (asking.length > 0) return <Questions {...{ asking, openKey, onOpen }} />;
  const held =
    view.status === "pending" ||
    nodes.some(
      ({ status }) => status === "queued" || status === "retrying" || status === "waiting",
    );
  return held ? <Asked runId={runId} /> : null;
}

function Questions({
  asking,
  openKey,
  onOpen,
}: Pick<Props, "openKey" | "onOpen"> & { readonly asking: readonly NodeView[] }): ReactNode {
  const more = asking.length - QUESTIONS_MAX;
  return (
    <ul className="outcome is-waiting questions" role="status" data-waiting>
      {asking.slice(0, QUESTIONS_MAX).map(({ key, question }) => (
        <li key={key}>
          <span>
            Waiting for a person: <strong>{question === "" ? key : question}</strong>
          </span>
          {key !== openKey && (
            <button type="button" className="primary" onClick={() => onOpen(key)}>
              Answer
            </button>
          )}
        </li>
      ))}
      {more > 0 && <li>… and {more} more questions</li>}
    </ul>
  );
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
