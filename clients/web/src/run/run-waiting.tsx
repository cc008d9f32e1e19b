// What a live run without progress waits for, below its head: its questions to people, each with a button to its form; or its delays;
// or one line from the gateway, for example that no executor serves a node type.

import { APPROVAL } from "@pawl/core/log/event";
import type { ReactNode } from "react";
import { getRun } from "../api/gateway.ts";
import { usePoll } from "../api/poll.ts";
import type { DrawnGraph } from "../graph/definition.ts";
import { formatDuration } from "../ui/time.ts";
import type { RunLooks } from "./use-looks.ts";
import type { NodeView, RunView } from "@pawl/core/log/view";

const ASK_MS = 5_000;
const QUESTIONS_MAX = 3;

interface Props {
  readonly runId: string;
  readonly graph: DrawnGraph;
  readonly runLooks: RunLooks;
  readonly view: RunView;
  readonly openKey: string;
  readonly onOpen: (key: string) => void;
}

/** Asks the gateway only while the run is pending or some node is queued, retrying or waiting. */
export function RunWaiting(props: Props): ReactNode {
  const { runId, view, runLooks, openKey, onOpen } = props;
  const nodes = [...view.nodes.values()];
  const asking = nodes.filter(({ status, cause }) => status === "waiting" && cause === APPROVAL);
  if (asking.length > 0) return <Questions {...{ asking, openKey, onOpen }} />;
  const isMoving = nodes.some(({ status }) => status === "running");
  const delays = nodes.filter(({ key }) => runLooks.looks.get(key)?.releaseAt !== undefined);
  if (delays.length > 0 && !isMoving) return <Delays {...props} delays={delays} />;
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
    <div className="outcome is-waiting" role="status" data-waiting>
      <ul className="questions">
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
    </div>
  );
}

/** The delays that hold back the run now. */
function Delays({
  graph,
  runLooks,
  delays,
}: Pick<Props, "graph" | "runLooks"> & { readonly delays: readonly NodeView[] }): ReactNode {
  const texts = delays.map(({ nodeId, key, releaseAt = 0 }) => {
    const label = graph.nodes.find(({ id }) => id === nodeId)?.label || key;
    return `${label} holds back what follows for ${formatDuration(releaseAt - runLooks.nowMs)} more`;
  });
  return (
    <p className="outcome is-waiting" role="status" data-waiting>
      Waiting: {texts.join("; ")}.
    </p>
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
