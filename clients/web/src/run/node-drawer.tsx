// One node execution from near: its text as it streams in, its output or error, its deliveries and its log lines.

import { APPROVAL } from "@pawl/core/log/event";
import type { ReactNode } from "react";
import { ApprovalPanel } from "../approvals/approval-panel.tsx";
import type { DrawnNode } from "../graph/definition.ts";
import { runPath } from "../route.ts";
import { CodeBlock } from "../ui/code-block.tsx";
import { useKeys } from "../ui/keys.ts";
import { Link } from "../ui/link.tsx";
import { StatusBadge } from "../ui/status-icon.tsx";
import { formatClock, formatDuration } from "../ui/time.ts";
import { prettyJson } from "../ui/json-text.ts";
import { DecideNode } from "./decide-node.tsx";
import { NodeWhy } from "./node-why.tsx";
import { StreamMedia } from "./stream-media.tsx";
import { StreamText } from "./stream-text.tsx";
import { iterationsText } from "./view.ts";
import type { Delivery, NodeView } from "./view.ts";

interface Props {
  readonly runId: string;
  readonly node: NodeView;
  readonly drawn: DrawnNode | undefined;
  readonly input: string;
  readonly onClose: () => void;
}

/** The drawer beside the graph. */
export function NodeDrawer({ runId, node, drawn, input, onClose }: Props): ReactNode {
  useKeys({ Escape: onClose });
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
      <Facts node={node} drawn={drawn} />
      {!asksPerson(node) && <NodeWhy runId={runId} node={node} />}
      {(node.message !== "" || node.cause !== "") && !asksPerson(node) && (
        <div className={`outcome is-${node.status}`}>
          {node.cause !== "" && <code>{node.cause}</code>} {node.message}
        </div>
      )}
      {isHeld(node) && <DecideNode runId={runId} node={node} />}
      {asksPerson(node) && (
        // Decided: it is read anew, to say by whom.
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
      <CodeBlock text={input} what="input" empty="Nothing has reached the node." />
      {drawn !== undefined && drawn.config !== "{}" && (
        <>
          <h3>Configuration</h3>
          <CodeBlock text={drawn.config} what="configuration" empty="" />
        </>
      )}
      <Deliveries deliveries={node.deliveries} />
      {node.log.length > 0 && (
        <>
          <h3>Log</h3>
          <ol className="log-lines">
            {node.log.map((line) => (
              <li key={line.seq} className={`level-${line.level}`}>
                <time>{formatClock(line.at)}</time> {line.message}
              </li>
            ))}
          </ol>
        </>
      )}
    </aside>
  );
}

/** Moderation holds it for a person; it does not wait for its iterations or a child run. */
const isHeld = ({ status, cause, width, childRunId }: NodeView): boolean =>
  status === "waiting" && width === undefined && childRunId === "" && cause !== APPROVAL;

/** It asks a person something, or has asked: the answer is shown too. */
const asksPerson = (node: NodeView): boolean =>
  node.approvalId !== "" &&
  (node.status === "waiting" ? node.cause === APPROVAL : node.decision !== undefined);

function Facts({ node, drawn }: Pick<Props, "node" | "drawn">): ReactNode {
  return (
    <p className="drawer-facts">
      <StatusBadge status={node.status} />
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
