// Why the node is in its state, as the gateway explains it. The page asks again when the status changes, and from time to time while
// the node waits, because executors come and go without an event.

import { isSettled } from "@pawl/core/log/event";
import type { ReactNode } from "react";
import { explainNode } from "../api/gateway.ts";
import { usePoll } from "../api/poll.ts";
import { Clamped } from "../ui/clamped.tsx";
import type { NodeView } from "@pawl/core/log/view";

const ASK_MS = 3_000;

interface Props {
  readonly runId: string;
  readonly node: NodeView;
}

/** One sentence, the next step, and the events that prove it. Empty until the gateway answers. */
export function NodeWhy({ runId, node }: Props): ReactNode {
  const { nodeId, iteration, status } = node;
  const key = `${runId} ${node.key} ${status} ${node.deliveries.length}`;
  const everyMs = isSettled(status) ? 0 : ASK_MS;
  const { value } = usePoll(key, everyMs, (signal) =>
    explainNode(runId, nodeId, iteration, signal),
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
