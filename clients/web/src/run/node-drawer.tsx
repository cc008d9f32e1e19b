// The drawer of one node execution: its streamed text, its output or error, its deliveries and its log lines.

import { APPROVAL } from "@pawl/core/log/event";
import type { ReactNode } from "react";
import { ApprovalPanel } from "../approvals/approval-panel.tsx";
import type { DrawnGraph, DrawnNode } from "../graph/definition.ts";
import { runPath } from "../route.ts";
import { Clamped } from "../ui/clamped.tsx";
import { CodeBlock } from "../ui/code-block.tsx";
import { useKeys } from "../ui/keys.ts";
import { Link } from "../ui/link.tsx";
import { StatusBadge } from "../ui/status-icon.tsx";
import { formatClock, formatDuration, formatTime } from "../ui/time.ts";
import { prettyJson } from "../ui/json-text.ts";
import { DecideNode } from "./decide-node.tsx";
import { culpritOf } from "./looks.ts";
import type { Look } from "./looks.ts";
import { nodeInput } from "./node-input.ts";
import { NodeWhy } from "./node-why.tsx";
import { StreamMedia } from "./stream-media.tsx";
import { StreamText } from "./stream-text.tsx";
import type { RunLooks } from "./use-looks.ts";
import { iterationsText } from "./iterations-text.ts";
import type { Delivery, NodeView, RunView } from "@pawl/core/log/view";

interface Props {
  readonly runId: string;
  readonly node: NodeView;
  readonly graph: DrawnGraph;
  readonly view: RunView;
  readonly runLooks: RunLooks;
  readonly onOpen: (key: string) => void;
  readonly onClose: () => void;
}

/** The drawer beside the graph. */
export function NodeDrawer(props: Props): ReactNode {
  const { runId, node, graph, view, runLooks, onClose } = props;
  useKeys({ Escape: onClose });
  const drawn = graph.nodes.find(({ id }) => id === node.nodeId);
  const look = runLooks.looks.get(node.key)?.look ?? node.status;
  return (
    <aside className="panel drawer" aria-label={`Node ${node.key}`} data-node-drawer={node.key}>
      <header>
        <h2>{drawn?.label || node.key}</h2>
        <button
          type="button"
          className="quiet close"
          aria-label="Close"
          title="Close (Esc)"
          onClick={onClose}
        >
          ✕
        </button>
      </header>
      <Facts node={node} drawn={drawn} look={look} />
      <NodeNote {...props} look={look} />
      {isHeld(node) && <DecideNode runId={runId} node={node} />}
      {asksPerson(node) && (
        // The key changes with the decision, so the panel reads the approval again and shows the name of the person.
        <ApprovalPanel
          key={`${node.approvalId} ${node.decision?.at}`}
          approvalId={node.approvalId}
        />
      )}
      {node.details !== "" && <CodeBlock text={prettyJson(node.details)} what="details" empty="" />}
      {node.text !== "" && <StreamText text={node.text} isLive={node.status === "running"} />}
      <StreamMedia media={node.media} />
      <h3>Output</h3>
      <CodeBlock
        text={prettyJson(node.output ?? "")}
        what="output"
        empty={
          node.settledAt === undefined
            ? "Comes when the node completes."
            : "The node gave no output."
        }
      />
      <h3>Input</h3>
      <CodeBlock
        text={nodeInput(graph, view, node.nodeId)}
        what="input"
        empty="Nothing has reached the node."
      />
      {drawn !== undefined && drawn.config !== "{}" && (
        <>
          <h3>Configuration</h3>
          <CodeBlock text={drawn.config} what="configuration" empty="" />
        </>
      )}
      {node.releaseAt === undefined && <Deliveries deliveries={node.deliveries} />}
      <LogLines lines={node.log} />
    </aside>
  );
}

/** Why the node is in its state: a short text of the page where it knows, else the explanation of the gateway. */
function NodeNote({ runId, node, graph, view, runLooks, onOpen, look }: NoteProps): ReactNode {
  const { links, nowMs } = runLooks;
  if (node.releaseAt !== undefined)
    return <DelayNote node={node} isWaiting={look === "waiting"} nowMs={nowMs} />;
  if (look === "not_run") {
    const culpritId = culpritOf(node.nodeId, links, view);
    const label = graph.nodes.find(({ id }) => id === culpritId)?.label;
    return (
      <p className="outcome is-not_run" data-note="not_run">
        Not run{culpritId === "" ? "." : ", because "}
        {culpritId !== "" && (
          <button type="button" className="link-button" onClick={() => onOpen(culpritId)}>
            {label || culpritId}
          </button>
        )}
        {culpritId !== "" && " failed."}
      </p>
    );
  }
  if (asksPerson(node)) return null;
  return (
    <>
      <NodeWhy runId={runId} node={node} />
      {(node.message !== "" || node.cause !== "") && (
        <div className={`outcome is-${look}`}>
          {node.cause !== "" && <code>{node.cause}</code>}
          {node.message !== "" && <Clamped>{node.message}</Clamped>}
        </div>
      )}
    </>
  );
}

interface NoteProps extends Props {
  readonly look: Look;
}

/** How long a delay holds back the nodes behind it. */
function DelayNote({
  node,
  isWaiting,
  nowMs,
}: {
  readonly node: NodeView;
  readonly isWaiting: boolean;
  readonly nowMs: number;
}): ReactNode {
  const releaseAt = node.releaseAt ?? 0;
  const tookMs = releaseAt - (node.settledAt ?? releaseAt);
  return (
    <p className={`outcome is-${isWaiting ? "waiting" : "completed"}`} data-note="delay">
      {isWaiting
        ? `Holds back what follows for ${formatDuration(releaseAt - nowMs)} more, until ${formatTime(releaseAt)}.`
        : `Held back what follows for ${formatDuration(tookMs)}, until ${formatTime(releaseAt)}.`}
    </p>
  );
}

function LogLines({ lines }: { readonly lines: NodeView["log"] }): ReactNode {
  if (lines.length === 0) return null;
  return (
    <>
      <h3>Log</h3>
      <ol className="log-lines">
        {lines.map((line) => (
          <li key={line.seq} className={`level-${line.level}`}>
            <time>{formatClock(line.at)}</time> {line.message}
          </li>
        ))}
      </ol>
    </>
  );
}

/** Moderation holds the node for a person. The node does not wait for its iterations or a child run. */
const isHeld = ({ status, cause, width, childRunId }: NodeView): boolean =>
  status === "waiting" && width === undefined && childRunId === "" && cause !== APPROVAL;

/** The node asks a person, or has asked: the drawer shows the answer too. */
const asksPerson = (node: NodeView): boolean =>
  node.approvalId !== "" &&
  (node.status === "waiting" ? node.cause === APPROVAL : node.decision !== undefined);

interface FactsProps {
  readonly node: NodeView;
  readonly drawn: DrawnNode | undefined;
  readonly look: Look;
}

function Facts({ node, drawn, look }: FactsProps): ReactNode {
  return (
    <p className="drawer-facts">
      <StatusBadge status={look} />
      <span className="mono">{node.key}</span>
      {drawn !== undefined && <span className="tag">{drawn.type}</span>}
      {node.width !== undefined && <span className="tag">{iterationsText(node)} items</span>}
      {node.childRunId !== "" && (
        <Link className="tag" to={runPath(node.childRunId)}>
          child run
        </Link>
      )}
      {node.handle !== "" && <span className="tag">left by {node.handle}</span>}
    </p>
  );
}

function Deliveries({ deliveries }: { readonly deliveries: readonly Delivery[] }): ReactNode {
  if (deliveries.length === 0) return null;
  return (
    <>
      <h3>Attempts</h3>
      <table className="deliveries">
        <thead>
          <tr>
            <th scope="col">#</th>
            <th scope="col">Queued</th>
            <th scope="col" className="number">
              Waited
            </th>
            <th scope="col" className="number">
              Worked
            </th>
            <th scope="col">End</th>
          </tr>
        </thead>
        <tbody>
          {deliveries.map((delivery) => (
            <tr key={delivery.queuedAt + delivery.epoch}>
              <td>{delivery.attempt}</td>
              <td>{formatClock(delivery.queuedAt)}</td>
              <td className="number">{span(delivery.queuedAt, delivery.startedAt)}</td>
              <td className="number">{span(delivery.startedAt, delivery.endedAt)}</td>
              <td className={`outcome-word is-${delivery.end ?? "running"}`}>
                {delivery.end ?? "…"}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

const span = (from: number | undefined, to: number | undefined): string =>
  from === undefined || to === undefined ? "–" : formatDuration(to - from);
