// The labels of a node execution, and the events on their way to it. It is in the drawer of the node.

import type { NodeView } from "@pawl/core/log/view";
import { labelText } from "@pawl/core/log/view-taint";
import type { TaintStep } from "@pawl/proto/pawl/v1/explain_pb";
import type { ReactNode } from "react";
import { reads } from "../api/gateway.ts";
import { usePoll } from "../api/poll.ts";
import { TAINT_SIGN } from "../graph/taint.ts";
import { Clamped } from "../ui/text-block.tsx";

interface Props {
  readonly runId: string;
  readonly node: NodeView;
}

/** Draws nothing for a node that has had no labels. */
export function TaintPath({ runId, node }: Props): ReactNode {
  if (node.taint.length === 0 && node.dropped.length === 0) return null;
  return (
    <section className="taint" aria-label="Untrusted data" data-taint={node.taint.length}>
      <h3>Untrusted data</h3>
      {node.taint.length > 0 && (
        <Clamped>
          {TAINT_SIGN} {labelText(node)}
        </Clamped>
      )}
      {node.dropped.length > 0 && (
        <Clamped>
          Dropped here: {node.dropped.join(", ")}. Reason: {node.dropReason}
        </Clamped>
      )}
      <Path runId={runId} node={node} />
    </section>
  );
}

/** The events from the origins of the labels. Empty until the gateway answers. */
function Path({ runId, node }: Props): ReactNode {
  const { nodeId, iteration, status, key } = node;
  const { value } = usePoll(`${runId} taint ${key} ${status}`, 0, (signal) =>
    reads.runs.explainTaint(runId, { nodeId, iteration }, { signal }),
  );
  if (value === undefined || value.steps.length === 0) return null;
  return (
    <ol className="taint-path">
      {value.steps.map((step) => (
        <li key={String(step.eventId)}>
          <span className="mono">#{String(step.eventId)}</span> {wordsOf(step)}
        </li>
      ))}
    </ol>
  );
}

function wordsOf({ nodeId, type, labels, added, dropped, reason }: TaintStep): string {
  const about = nodeId === "" ? "the input" : nodeId;
  const what = type.replace("node.", "");
  const marks = [
    labels.filter((label) => !added.includes(label)).join(", "),
    added.length === 0 ? "" : `adds ${added.join(", ")}`,
    dropped.length === 0 ? "" : `drops ${dropped.join(", ")}`,
    reason,
  ].filter((mark) => mark !== "");
  return `${about} ${what}: ${marks.join("; ")}`;
}
