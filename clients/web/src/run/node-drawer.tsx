// The drawer of one node execution: its streamed text, its output or error, its deliveries and its log lines.

import { APPROVAL, isSettled, SIGNAL } from "@pawl/core/log/event";
import type { ReactNode } from "react";
import { ApprovalPanel } from "../approvals/approval-panel.tsx";
import { labelOf, nodeInput } from "../graph/definition.ts";
import type { DrawnNode } from "@pawl/client";
import { runPath } from "../route.ts";
import { Clamped, CodeBlock, TableHead } from "../ui/text-block.tsx";
import { Drawer } from "../ui/drawer.tsx";
import { Link } from "../ui/navigate.tsx";
import { StatusBadge } from "../ui/status-icon.tsx";
import { formatClock, formatDuration, formatTime } from "../ui/time.ts";
import { prettyJson } from "../ui/json-text.ts";
import { DecideNode } from "./decide-node.tsx";
import { FailureCause } from "./failure-cause.tsx";
import { culpritOf, iterationsText, type Look, roundText } from "./looks.ts";
import { StreamMedia, StreamText } from "./node-stream.tsx";
import { SignalForm } from "./signal-form.tsx";
import { TaintPath } from "./taint-path.tsx";
import { nodeUsageText } from "./usage-text.ts";
import type { RunScene } from "./use-run.ts";
import { executionName } from "@pawl/core/log/undo-iteration";
import type { NodeView } from "@pawl/core/log/view";
import type { Delivery } from "@pawl/core/log/view-parts";
import { reads } from "../api/gateway.ts";
import { usePoll } from "../api/poll.ts";

interface Props extends RunScene {
  readonly node: NodeView;
  readonly onClose: () => void;
}

export function NodeDrawer(props: Props): ReactNode {
  const { runId, node, graph, view, runLooks, onClose } = props;
  const drawn = graph.nodes.find(({ id }) => id === node.nodeId);
  const look = runLooks.looks.get(node.key)?.look ?? node.status;
  return (
    <Drawer
      label={`Node ${node.key}`}
      title={titleOf(node, drawn?.label ?? "")}
      onClose={onClose}
      data-node-drawer={node.key}
    >
      <Facts node={node} drawn={drawn} look={look} />
      <NodeNote {...props} look={look} />
      {isHeld(node) && <DecideNode runId={runId} node={node} />}
      {awaitsSignal(node) && (
        <SignalForm key={node.key} runId={runId} node={node} config={drawn?.config ?? ""} />
      )}
      {asksPerson(node) && (
        // The key changes with the decision, so the panel reads the approval again and shows the name of the person.
        <ApprovalPanel
          key={`${node.approvalId} ${node.decision?.at}`}
          approvalId={node.approvalId}
        />
      )}
      <TaintPath runId={runId} node={node} />
      {node.details !== "" && <CodeBlock text={prettyJson(node.details)} what="details" />}
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
      {node.undoes === undefined && (
        <>
          <h3>Input</h3>
          <CodeBlock
            text={nodeInput(graph, view, node.nodeId)}
            what="input"
            empty="The node has no input yet."
          />
        </>
      )}
      {node.undoes === undefined && drawn !== undefined && drawn.config !== "{}" && (
        <>
          <h3>Configuration</h3>
          <CodeBlock text={drawn.config} what="configuration" />
        </>
      )}
      {node.releaseAt === undefined && <Deliveries deliveries={node.deliveries} />}
      <LogLines lines={node.log} />
    </Drawer>
  );
}

/** The label of a node, or its key. A compensation says what it undoes. */
const titleOf = ({ nodeId, key, iteration, undoes }: NodeView, label: string): string =>
  undoes === undefined ? label || key : executionName(label || nodeId, iteration);

/** Why the node is in its state. The page has a short text for some states. For others it shows the explanation of the gateway. */
function NodeNote({
  runId,
  node,
  graph,
  view,
  runLooks,
  onOpen,
  look,
}: Props & { readonly look: Look }): ReactNode {
  const { links, nowMs } = runLooks;
  if (node.releaseAt !== undefined)
    return <DelayNote node={node} isWaiting={look === "waiting"} nowMs={nowMs} />;
  if (look === "not_run") {
    const culpritId = culpritOf(node.nodeId, links, view);
    const label = labelOf(graph, culpritId);
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
          <FailureCause cause={node.cause} failureClass={node.failure?.failureClass} />
          {node.message !== "" && <Clamped>{node.message}</Clamped>}
        </div>
      )}
    </>
  );
}

/** How long a delay holds back the next nodes. */
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
        ? `Holds back the next nodes for ${formatDuration(releaseAt - nowMs)} more, until ${formatTime(releaseAt)}.`
        : `Held back the next nodes for ${formatDuration(tookMs)}, until ${formatTime(releaseAt)}.`}
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

/** Moderation, or a policy about labels, holds the node for a person. The node does not wait for its iterations or a child run. */
const isHeld = ({ status, cause, width, childRunId }: NodeView): boolean =>
  status === "waiting" &&
  width === undefined &&
  childRunId === "" &&
  cause !== APPROVAL &&
  cause !== SIGNAL;

const awaitsSignal = ({ status, cause }: NodeView): boolean =>
  status === "waiting" && cause === SIGNAL;

/** Whether the node waits, or waited, for a person. The drawer also shows the answer. */
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
      {node.tool !== "" && <span className="tag">tool {node.tool}</span>}
      {node.round > 0 && <span className="tag">{roundText(node)}</span>}
      {node.width !== undefined && <span className="tag">{iterationsText(node)} items</span>}
      {node.childRunId !== "" && (
        <Link className="tag" to={runPath(node.childRunId)}>
          child run
        </Link>
      )}
      {node.handle !== "" && <span className="tag">left by {node.handle}</span>}
      {node.usage !== undefined && <span className="tag">{nodeUsageText(node.usage)}</span>}
    </p>
  );
}

function Deliveries({ deliveries }: { readonly deliveries: readonly Delivery[] }): ReactNode {
  if (deliveries.length === 0) return null;
  return (
    <>
      <h3>Attempts</h3>
      <table className="deliveries">
        <TableHead
          names={["#", "Queued", "Waited", "Worked", "End"]}
          numbers={["Waited", "Worked"]}
        />
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

const ASK_MS = 3_000;

/** One sentence, the next step, and the events that prove it. Empty until the gateway answers. */
function NodeWhy({ runId, node }: Pick<Props, "runId" | "node">): ReactNode {
  const { nodeId, iteration, status } = node;
  const key = `${runId} ${node.key} ${status} ${node.deliveries.length}`;
  const everyMs = isSettled(status) ? 0 : ASK_MS;
  const { value } = usePoll(key, everyMs, (signal) =>
    reads.runs.explain(runId, nodeId, { iteration, signal }),
  );
  if (value === undefined) return null;
  const proofs = value.evidence.map(({ eventId }) => `#${eventId}`).join(", ");
  return (
    <div className="why" data-why={value.reason}>
      <Clamped>
        {value.summary}
        {proofs !== "" && <span className="mono"> ({proofs})</span>}
      </Clamped>
      {!isSettled(status) && <span className="why-next">{value.next}</span>}
    </div>
  );
}
