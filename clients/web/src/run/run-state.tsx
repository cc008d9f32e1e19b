// The state of a run, now or after an event that the reader picks. It is read only while the panel is open.

import { isFinal } from "@pawl/core/log/event";
import type { RunView } from "@pawl/core/log/view";
import { fieldsOf } from "@pawl/core/log/workflow-state-diff";
import { type ReactNode, useState } from "react";
import { reads } from "../api/gateway.ts";
import { usePoll } from "../api/poll.ts";
import { FaultBox } from "../ui/fault-box.tsx";

interface Props {
  readonly runId: string;
  readonly view: RunView;
}

/** How often the state of a live run is read while the panel is open. */
const LIVE_MS = 2_000;
/** Values that say nothing. */
const EMPTY: ReadonlySet<string> = new Set(['""', "[]", "{}"]);

export function RunStatePanel(props: Props): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <details
      className="panel state-panel"
      data-state-panel
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>
        <h2>State</h2>
      </summary>
      {isOpen && <StateAt {...props} />}
    </details>
  );
}

function StateAt({ runId, view }: Props): ReactNode {
  const [asked, setAsked] = useState<number>();
  const isOver = isFinal(view.status);
  const everyMs = asked === undefined && !isOver ? LIVE_MS : 0;
  const key = `${runId}/${asked ?? (isOver ? "end" : "now")}`;
  const { value, fault } = usePoll(key, everyMs, (signal) =>
    reads.runs.state(runId, { signal, atEventId: asked }),
  );
  const last = Math.max(1, view.lastSeq);
  const ask = (text: string): void => {
    const event = Math.round(Number(text));
    if (event >= 1) setAsked(Math.min(event, last));
  };
  const at = asked ?? last;
  return (
    <>
      <div className="state-at">
        <label htmlFor="state-event">After event</label>
        <input
          id="state-event"
          type="number"
          min={1}
          max={last}
          value={at}
          onChange={(event) => ask(event.currentTarget.value)}
        />
        <input
          type="range"
          aria-label="Event"
          min={1}
          max={last}
          value={at}
          onChange={(event) => ask(event.currentTarget.value)}
        />
        <button type="button" disabled={asked === undefined} onClick={() => setAsked(undefined)}>
          {isOver ? "At the end" : "Now"}
        </button>
      </div>
      {fault !== undefined && <FaultBox fault={fault} />}
      {value !== undefined && (
        <table className="state-fields" data-state-at={value.eventId}>
          <tbody>
            {[...fieldsOf(value)]
              .filter(([, json]) => !EMPTY.has(json))
              .map(([field, json]) => (
                <tr key={field}>
                  <th scope="row">{field}</th>
                  <td>{shown(json)}</td>
                </tr>
              ))}
          </tbody>
        </table>
      )}
    </>
  );
}

/** A JSON text for people: a string without its quotes. */
function shown(json: string): string {
  const value: unknown = json.startsWith('"') ? JSON.parse(json) : json;
  return String(value);
}
