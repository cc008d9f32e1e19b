// The receivers of webhooks, switched on and off here, and the deliveries of all runs, newest first.

import type { DeliveryState } from "@pawl/client";
import type { WebhookEndpoint } from "@pawl/proto/pawl/v1/webhook_pb";
import { type ReactNode, useState } from "react";
import { useAction } from "../api/action.ts";
import { PAGE_SIZE, reads, writes } from "../api/gateway.ts";
import { usePoll } from "../api/poll.ts";
import { webhooksPath } from "../route.ts";
import { useTitle } from "../ui/browser-hooks.ts";
import { FaultBox, PollState } from "../ui/fault-box.tsx";
import { Link, navigate } from "../ui/navigate.tsx";
import { Cell, TableHead } from "../ui/text-block.tsx";
import { DeliveryTable } from "./delivery-table.tsx";

const EVERY_MS = 5_000;
const ENDPOINTS_MAX = 200;
const STATES: readonly DeliveryState[] = ["pending", "delivered", "dead"];

interface Props {
  readonly endpointId: string;
  readonly state: string;
  readonly pageToken: string;
}

export function WebhooksPage(props: Props): ReactNode {
  useTitle("Webhooks");
  return (
    <section className="list" aria-label="Webhooks">
      <h1>Webhooks</h1>
      <Endpoints />
      <Deliveries key={JSON.stringify(props)} {...props} />
    </section>
  );
}

function Endpoints(): ReactNode {
  const [changes, setChanges] = useState(0);
  const polled = usePoll(`endpoints ${changes}`, EVERY_MS, async (signal) => {
    const page = await reads.webhooks.list({ pageSize: ENDPOINTS_MAX, signal });
    return page.endpoints;
  });
  const { isBusy, fault, act } = useAction();
  /** Race: another user changes the endpoint meanwhile. The scheduler refuses this change by its version. */
  const turn = ({ endpointId, version, disabled }: WebhookEndpoint): Promise<void> =>
    act(async () => {
      const options = { disabled: !disabled, expectedVersion: version };
      await writes.webhooks.update(endpointId, undefined, options);
      setChanges(changes + 1);
    });
  const { value } = polled;
  return (
    <section className="panel" aria-label="Endpoints">
      <h2>Endpoints</h2>
      <FaultBox fault={fault} />
      <PollState polled={polled} what="the endpoints" />
      {value?.length === 0 && (
        <p className="muted">
          No endpoint gets events of all runs. Make one with{" "}
          <code>pawl webhook create ID --url URL</code>.
        </p>
      )}
      {value !== undefined && value.length > 0 && (
        <table className="list-table">
          <TableHead
            names={["Endpoint", "Address", "Events", "Runs of", "State"]}
            numbers={[]}
            hidden="Actions"
          />
          <tbody>
            {value.map((each) => (
              <EndpointRow
                key={each.endpointId}
                endpoint={each}
                isBusy={isBusy}
                onTurn={() => void turn(each)}
              />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

interface EndpointProps {
  readonly endpoint: WebhookEndpoint;
  readonly isBusy: boolean;
  readonly onTurn: () => void;
}

function EndpointRow({ endpoint, isBusy, onTurn }: EndpointProps): ReactNode {
  const { endpointId, spec, disabled, disabledReason } = endpoint;
  const events = spec?.events.join(", ") ?? "";
  const workflows = spec?.workflowIds.join(", ") ?? "";
  return (
    <tr data-endpoint={endpointId} data-state={disabled ? "off" : "on"}>
      <Cell name="endpoint">
        <Link to={webhooksPath({ endpointId })} className="mono">
          {endpointId}
        </Link>
      </Cell>
      <Cell name="address">{spec?.url}</Cell>
      <Cell name="events">{events || "the end of a run"}</Cell>
      <Cell name="runs of">
        {spec?.byReference === true ? "runs that name it" : workflows || "all workflows"}
      </Cell>
      <Cell name="state">
        <span className={`state-word ${disabled ? "is-bad" : "is-good"}`}>
          {disabled ? "off" : "on"}
        </span>
        {disabledReason !== "" && ` ${disabledReason}`}
      </Cell>
      <td className="actions">
        <button type="button" className="quiet" disabled={isBusy} onClick={onTurn}>
          {disabled ? "Switch on" : "Switch off"}
        </button>
      </td>
    </tr>
  );
}

function Deliveries({ endpointId, state, pageToken }: Props): ReactNode {
  const [changes, setChanges] = useState(0);
  const states = STATES.filter((each) => each === state);
  const polled = usePoll(`deliveries ${changes}`, EVERY_MS, (signal) =>
    reads.webhooks.deliveries({ endpointId, states, pageSize: PAGE_SIZE, pageToken, signal }),
  );
  const { value } = polled;
  const next = value?.nextPageToken ?? "";
  return (
    <section className="panel" aria-label="Deliveries">
      <header className="panel-head">
        <h2>Deliveries{endpointId === "" ? "" : ` to ${endpointId}`}</h2>
        <label>
          <span className="hidden">State of the deliveries</span>
          <select
            value={states[0] ?? ""}
            onChange={({ target }) => navigate(webhooksPath({ endpointId, state: target.value }))}
          >
            <option value="">all states</option>
            {STATES.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
        {endpointId !== "" && <Link to={webhooksPath({ state })}>To all endpoints</Link>}
      </header>
      <PollState polled={polled} what="the deliveries" />
      {value?.deliveries.length === 0 && <p className="muted">No deliveries.</p>}
      {value !== undefined && value.deliveries.length > 0 && (
        <DeliveryTable
          deliveries={value.deliveries}
          hasRuns
          onChanged={() => setChanges(changes + 1)}
        />
      )}
      {next !== "" && (
        <p className="pager">
          <Link to={webhooksPath({ endpointId, state, pageToken: next })}>Older deliveries</Link>
        </p>
      )}
    </section>
  );
}
