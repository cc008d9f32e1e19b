// A node that moderation holds: the output that waits, and the buttons to approve or reject it.

import type { ReactNode } from "react";
import { useEffect, useState } from "react";
import { decideNode, getRun } from "../api/gateway.ts";
import { readFault } from "../api/fault.ts";
import type { Fault } from "../api/fault.ts";
import { freshRequestId } from "../api/request-id.ts";
import { CodeBlock } from "../ui/code-block.tsx";
import { FaultBox } from "../ui/fault-box.tsx";
import { jsonText, prettyJson } from "../ui/json-text.ts";
import type { NodeView } from "@pawl/core/log/view";

interface Props {
  readonly runId: string;
  readonly node: NodeView;
}

/** Shown while the node waits, until the log has the decision. */
export function DecideNode({ runId, node }: Props): ReactNode {
  const [held, setHeld] = useState("");
  const [comment, setComment] = useState("");
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<Fault>();
  const { nodeId, iteration } = node;
  useEffect(() => {
    const controller = new AbortController();
    // The events do not carry the held output, so the page reads it from the gateway.
    const read = async (): Promise<void> => {
      try {
        const { run } = await getRun(runId, controller.signal);
        const same = run.nodes.find(
          (each) => each.nodeId === nodeId && each.iteration === iteration,
        );
        setHeld(jsonText(same?.hold?.outputJson ?? new Uint8Array()));
      } catch (error) {
        if (!controller.signal.aborted) setFault(readFault(error));
      }
    };
    void read(); // never rejects: a fault is shown
    return () => controller.abort();
  }, [runId, nodeId, iteration]);
  const decide = async (decision: "approve" | "reject"): Promise<void> => {
    setBusy(true);
    setFault(undefined);
    try {
      await decideNode(runId, {
        nodeId,
        iteration,
        decision,
        comment,
        requestId: freshRequestId(),
      });
    } catch (error) {
      setFault(readFault(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <section className="decide" aria-label="Decide">
      {held !== "" && <CodeBlock text={prettyJson(held)} what="held output" empty="" />}
      {fault !== undefined && <FaultBox fault={fault} />}
      <input
        type="text"
        aria-label="Comment"
        placeholder="Comment, for people"
        value={comment}
        onChange={({ target }) => setComment(target.value)}
      />
      <div className="dialog-actions">
        <button
          type="button"
          className="danger"
          disabled={busy}
          onClick={() => void decide("reject")}
        >
          Reject
        </button>
        <button type="button" disabled={busy} onClick={() => void decide("approve")}>
          Approve
        </button>
      </div>
    </section>
  );
}
