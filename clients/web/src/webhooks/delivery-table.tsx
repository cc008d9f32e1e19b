// Deliveries of webhooks: what was called, how it ended, why it waits and until when. A row opens to its calls, and its button sends it again.

import { deliveryStateName } from "@pawl/client";
import type { WebhookAttempt, WebhookDelivery } from "@pawl/proto/pawl/v1/webhook_pb";
import { Fragment, type ReactNode, useState } from "react";
import { useAction } from "../api/action.ts";
import { reads, writes } from "../api/gateway.ts";
import { usePoll } from "../api/poll.ts";
import { runPath } from "../route.ts";
import { FaultBox, PollState } from "../ui/fault-box.tsx";
import { Link } from "../ui/navigate.tsx";
import { Cell, TableHead } from "../ui/text-block.tsx";
import { formatTime, wireMs } from "../ui/time.ts";

interface Props {
  readonly deliveries: readonly WebhookDelivery[];
  /** Whether the rows name their run. */
  readonly hasRuns: boolean;
  /** Called after a delivery was sent again. */
  readonly onChanged: () => void;
}

export function DeliveryTable({ deliveries, hasRuns, onChanged }: Props): ReactNode {
  const [openId, setOpenId] = useState("");
  const { isBusy, fault, act } = useAction();
  const redeliver = (deliveryId: string): Promise<void> =>
    act(async () => {
      await writes.webhooks.redeliver(deliveryId);
      onChanged();
    });
  return (
    <>
      <FaultBox fault={fault} />
      <table className="list-table">
        <TableHead
          names={["Event", ...(hasRuns ? ["Run"] : []), "To", "State", "Calls", "Why"]}
          numbers={["Calls"]}
          hidden="Actions"
        />
        <tbody>
          {deliveries.map((each) => (
            <Fragment key={each.deliveryId}>
              <DeliveryRow
                delivery={each}
                {...{ hasRuns, isBusy }}
                isOpen={openId === each.deliveryId}
                onToggle={() => setOpenId(openId === each.deliveryId ? "" : each.deliveryId)}
                onRedeliver={() => void redeliver(each.deliveryId)}
              />
              {openId === each.deliveryId && (
                <tr className="attempts" data-attempts={each.deliveryId}>
                  <td colSpan={hasRuns ? 7 : 6}>
                    <Calls deliveryId={each.deliveryId} attempts={each.attempts} />
                  </td>
                </tr>
              )}
            </Fragment>
          ))}
        </tbody>
      </table>
    </>
  );
}

interface RowProps {
  readonly delivery: WebhookDelivery;
  readonly hasRuns: boolean;
  readonly isBusy: boolean;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
  readonly onRedeliver: () => void;
}

function DeliveryRow(props: RowProps): ReactNode {
  const { delivery, hasRuns, isBusy, isOpen, onToggle, onRedeliver } = props;
  const { deliveryId, runId, state } = delivery;
  const name = deliveryStateName(state);
  return (
    <tr data-delivery={deliveryId} data-state={name}>
      <Cell name="event">{delivery.eventType}</Cell>
      {hasRuns && (
        <Cell name="run">
          <Link to={runPath(runId)} className="mono">
            {runId.slice(-8)}
          </Link>
        </Cell>
      )}
      <Cell name="to">{delivery.endpointId || delivery.url}</Cell>
      <Cell name="state">
        <span className={`state-word ${LOOK[name] ?? ""}`}>{name}</span>
      </Cell>
      <Cell name="calls" isNumber>
        {delivery.attempts}
      </Cell>
      <Cell name="why">{whyText(delivery)}</Cell>
      <td className="actions">
        <button type="button" className="quiet" aria-expanded={isOpen} onClick={onToggle}>
          {isOpen ? "Hide calls" : "Show calls"}
        </button>{" "}
        <button type="button" disabled={isBusy} onClick={onRedeliver}>
          {name === "pending" ? "Call now" : "Send again"}
        </button>
      </td>
    </tr>
  );
}

const LOOK: Readonly<Partial<Record<string, string>>> = { dead: "is-bad", delivered: "is-good" };

/** Why the delivery waits or how its last call ended, and when the next one is due. */
function whyText({ statusCode, error, waitingReason, nextAttemptTime }: WebhookDelivery): string {
  const nextAt = wireMs(nextAttemptTime);
  const last = [statusCode > 0 && `HTTP ${statusCode}`, error].filter(Boolean).join(", ");
  const next = nextAt === undefined ? "" : `Next call at ${formatTime(nextAt)}.`;
  return [waitingReason || last, next].filter((part) => part !== "").join(" ");
}

/** The calls of a delivery. Another count of calls reads them again. */
function Calls(props: { readonly deliveryId: string; readonly attempts: number }): ReactNode {
  const { deliveryId, attempts } = props;
  const polled = usePoll(`${deliveryId} ${attempts}`, 0, (signal) =>
    reads.webhooks.delivery(deliveryId, { signal }),
  );
  const calls = polled.value?.attempts;
  return (
    <>
      <PollState polled={polled} what="the calls" />
      {calls?.length === 0 && <p className="muted">No executor has called it yet.</p>}
      <ol className="calls">
        {calls?.map((call) => (
          <li key={call.number}>{callText(call)}</li>
        ))}
      </ol>
    </>
  );
}

function callText({ number, endTime, latencyMs, statusCode, error }: WebhookAttempt): string {
  const at = wireMs(endTime);
  const answer = statusCode === 0 ? "no answer" : `HTTP ${statusCode}`;
  const words = [answer, error].filter(Boolean).join(", ");
  return `${number}. ${at === undefined ? "" : `${formatTime(at)}: `}${words}, after ${latencyMs} ms`;
}
