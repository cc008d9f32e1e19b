// The state of a run in words: why it failed, what it waits for, and its input and output.

import type { ReactNode } from "react";
import { labelOf } from "../graph/definition.ts";
import { Clamped, CodeBlock, CopyButton } from "../ui/text-block.tsx";
import type { NodeView, RunView } from "@pawl/core/log/view";
import { APPROVAL, SIGNAL } from "@pawl/core/log/event";
import { reads } from "../api/gateway.ts";
import { usePoll } from "../api/poll.ts";
import { formatDuration } from "../ui/time.ts";
import type { RunScene } from "./use-run.ts";
import { FailureCause, NO_FAILURE } from "./failure-cause.tsx";
import { prettyJson } from "../ui/json-text.ts";

const WORDS: Readonly<Record<string, string>> = {
  failed: "The run failed",
  timeout: "The run timed out",
  cancelled: "The run was cancelled",
};

/** Shows the failure. Empty for a run that is live or completed. */
export function RunFailure({ view, graph, onOpen }: RunScene): ReactNode {
  const word = WORDS[view.status];
  if (word === undefined) return null;
  const { failedNodeId } = view;
  const node = view.nodes.get(failedNodeId);
  const label = labelOf(graph, failedNodeId);
  const message = node === undefined || node.message === "" ? view.message : node.message;
  return (
    <section
      className={`outcome run-failure is-${view.status}`}
      role="status"
      aria-label="Failure"
      data-failure={failedNodeId}
    >
      <header>
        <strong>
          {failedNodeId === "" ? (
            word
          ) : (
            <>
              <button type="button" className="link-button" onClick={() => onOpen(failedNodeId)}>
                {label === "" ? failedNodeId : label}
              </button>{" "}
              failed
            </>
          )}
        </strong>
        {label !== "" && <span className="mono muted">{failedNodeId}</span>}
        <FailureCause {...(node?.failure ?? view.failure ?? NO_FAILURE)} />
        <span className="spacer" />
        {message !== "" && <CopyButton text={message} what="failure message" />}
      </header>
      {message !== "" && <Clamped>{message}</Clamped>}
    </section>
  );
}

const ASK_MS = 5_000;
const QUESTIONS_MAX = 3;

/** Asks the gateway only while the run is pending or some node is queued, retrying or waiting. */
export function RunWaiting(props: RunScene): ReactNode {
  const { runId, view, runLooks, openKey, onOpen } = props;
  const nodes = [...view.nodes.values()];
  const asking = nodes.filter(
    ({ status, cause }) => status === "waiting" && (cause === APPROVAL || cause === SIGNAL),
  );
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
}: Pick<RunScene, "openKey" | "onOpen"> & { readonly asking: readonly NodeView[] }): ReactNode {
  const more = asking.length - QUESTIONS_MAX;
  return (
    <div className="outcome is-waiting" role="status" data-waiting>
      <ul className="questions">
        {asking.slice(0, QUESTIONS_MAX).map(({ key, question, signal }) => (
          <li key={key}>
            <span>
              {signal === "" ? "Waiting for a person: " : "Waiting for a signal: "}
              <strong>{signal || question || key}</strong>
            </span>
            {key !== openKey && (
              <button type="button" className="primary" onClick={() => onOpen(key)}>
                {signal === "" ? "Answer" : "Send"}
              </button>
            )}
          </li>
        ))}
        {more > 0 && <li>… and {more} more</li>}
      </ul>
    </div>
  );
}

/** The delays that hold back the run now. */
function Delays({
  graph,
  runLooks,
  delays,
}: Pick<RunScene, "graph" | "runLooks"> & { readonly delays: readonly NodeView[] }): ReactNode {
  const texts = delays.map(({ nodeId, key, releaseAt = 0 }) => {
    const label = labelOf(graph, nodeId) || key;
    return `${label} holds back the next nodes for ${formatDuration(releaseAt - runLooks.nowMs)} more`;
  });
  return (
    <p className="outcome is-waiting" role="status" data-waiting>
      Waiting: {texts.join("; ")}.
    </p>
  );
}

function Asked({ runId }: { readonly runId: string }): ReactNode {
  const { value } = usePoll(runId, ASK_MS, (signal) => reads.runs.get(runId, { signal }));
  const reason = value?.run.waitingReason ?? "";
  if (reason === "") return null;
  return (
    <p className="outcome is-waiting" role="status" data-waiting>
      Waiting: {reason}
    </p>
  );
}

function emptyWord({ status, endedAt }: RunView): string {
  if (endedAt === undefined) return "Comes when the run completes.";
  return status === "completed" ? "The run gave no output." : "None: the run did not complete.";
}

/** The input, and after the end of the run its output or the reason why there is none. */
export function RunResult({ view }: { readonly view: RunView }): ReactNode {
  const hasOutput = view.output !== undefined && view.output !== "";
  return (
    <div className="result">
      <section className="panel" aria-label="Input">
        <h2>Input</h2>
        <CodeBlock text={prettyJson(view.input)} what="input" empty="No input was given." />
      </section>
      <section className="panel" aria-label="Output">
        <h2>Output</h2>
        <CodeBlock
          text={hasOutput ? prettyJson(view.output ?? "") : ""}
          what="output"
          empty={emptyWord(view)}
        />
      </section>
    </div>
  );
}
