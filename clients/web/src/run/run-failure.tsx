// Why a run did not complete, at its head: the node that failed it, the cause, and the first lines of the message.

import type { ReactNode } from "react";
import type { DrawnGraph } from "../graph/definition.ts";
import { Clamped } from "../ui/clamped.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import type { RunView } from "@pawl/core/log/view";

interface Props {
  readonly view: RunView;
  readonly graph: DrawnGraph;
  readonly onOpen: (key: string) => void;
}

const WORDS: Readonly<Record<string, string>> = {
  failed: "The run failed",
  timeout: "The run timed out",
  cancelled: "The run was cancelled",
};

/** Shows nothing for a run that is live or completed. */
export function RunFailure({ view, graph, onOpen }: Props): ReactNode {
  const word = WORDS[view.status];
  if (word === undefined) return null;
  const { failedNodeId } = view;
  const node = view.nodes.get(failedNodeId);
  const label = graph.nodes.find(({ id }) => id === failedNodeId)?.label ?? "";
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
        {node !== undefined && node.cause !== "" && <code>{node.cause}</code>}
        <span className="spacer" />
        {message !== "" && <CopyButton text={message} what="failure message" />}
      </header>
      {message !== "" && <Clamped>{message}</Clamped>}
    </section>
  );
}
