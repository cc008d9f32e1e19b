// The webhook deliveries of a run, on its page. Nothing for a run without any.

import { deliveryStateName } from "@pawl/client";
import { type ReactNode, useState } from "react";
import { reads } from "../api/gateway.ts";
import { usePoll } from "../api/poll.ts";
import { DeliveryTable } from "./delivery-table.tsx";

/** Polls more often while a delivery is pending, and not at all when all are over and the run has ended. */
const PENDING_MS = 2_000;
const LIVE_MS = 10_000;
const SHOWN = 20;

interface Props {
  readonly runId: string;
  readonly hasEnded: boolean;
}

export function RunWebhooks({ runId, hasEnded }: Props): ReactNode {
  const [changes, setChanges] = useState(0);
  const [isPending, setPending] = useState(false);
  const restMs = hasEnded ? 0 : LIVE_MS;
  const { value } = usePoll(
    `${runId} ${changes}`,
    isPending ? PENDING_MS : restMs,
    async (signal) => {
      const page = await reads.webhooks.deliveries({ runId, pageSize: SHOWN, signal });
      setPending(page.deliveries.some(({ state }) => deliveryStateName(state) === "pending"));
      return page.deliveries;
    },
  );
  if (value === undefined || value.length === 0) return null;
  return (
    <section className="panel" aria-label="Webhooks" data-run-webhooks={value.length}>
      <h2>Webhooks</h2>
      <DeliveryTable deliveries={value} hasRuns={false} onChanged={() => setChanges(changes + 1)} />
    </section>
  );
}
