// A node that moderation or a policy about labels holds: the output that waits, and the buttons to approve or reject it.

import { jsonTextOf } from "@pawl/client";
import { TAINT_HOLD } from "@pawl/core/log/event";
import type { NodeView } from "@pawl/core/log/view";
import { type ReactNode, useState } from "react";
import { useAction } from "../api/action.ts";
import { reads, writes } from "../api/gateway.ts";
import { usePoll } from "../api/poll.ts";
import { FaultBox } from "../ui/fault-box.tsx";
import { prettyJson } from "../ui/json-text.ts";
import { CodeBlock } from "../ui/text-block.tsx";

interface Props {
  readonly runId: string;
  readonly node: NodeView;
}

/** Draws the buttons while the node waits, until the log has the decision. */
export function DecideNode({ runId, node }: Props): ReactNode {
  const [comment, setComment] = useState("");
  const { isBusy, fault, act } = useAction();
  const { nodeId, iteration } = node;
  // An approval drops the labels, so it needs a reason.
  const isRelease = node.cause === TAINT_HOLD;
  // The events do not carry the held output, so the page reads it from the gateway.
  const read = usePoll(`${runId} ${node.key}`, 0, (signal) => reads.runs.get(runId, { signal }));
  const same = read.value?.run.nodes.find(
    (each) => each.nodeId === nodeId && each.iteration === iteration,
  );
  const held = jsonTextOf(same?.hold?.outputJson) ?? "";
  const decide = (decision: "approve" | "reject"): void =>
    void act(() => writes.runs.decide(runId, nodeId, decision, { iteration, comment }));
  return (
    <section className="decide" aria-label="Decide">
      {isRelease && <p>{node.question}</p>}
      {held !== "" && <CodeBlock text={prettyJson(held)} what="held output" />}
      <FaultBox fault={fault ?? read.fault} />
      <input
        type="text"
        aria-label={isRelease ? "Reason" : "Comment"}
        placeholder={isRelease ? "Why this data may be used" : "Comment, for people"}
        value={comment}
        onChange={({ target }) => setComment(target.value)}
      />
      <div className="dialog-actions">
        <button type="button" className="danger" disabled={isBusy} onClick={() => decide("reject")}>
          Reject
        </button>
        <button
          type="button"
          disabled={isBusy || (isRelease && comment.trim() === "")}
          onClick={() => decide("approve")}
        >
          Approve
        </button>
      </div>
    </section>
  );
}
