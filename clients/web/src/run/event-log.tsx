// The event log: every fact of the run in order. It follows its end until the reader scrolls up or pauses it.

import type { ReactNode } from "react";
import { memo, useLayoutEffect, useRef, useState } from "react";
import { formatClock } from "../ui/time.ts";
import { filterRows, windowOf } from "./event-filter.ts";
import type { EventKind } from "./event-filter.ts";
import { prettyJson } from "../ui/json-text.ts";
import { toneOf } from "./event-tone.ts";
import type { Looks } from "./looks.ts";
import { nodeKey } from "@pawl/core/log/view";
import type { EventRow } from "./event-row.ts";

const ROW_PX = 26;
const BOX_PX = 390;
const NEAR_PX = 8;

interface Props {
  readonly rows: readonly EventRow[];
  readonly looks: Looks;
  readonly onOpen: (key: string) => void;
}

/** The log with its filters. */
export function EventLog({ rows, looks, onOpen }: Props): ReactNode {
  const [kind, setKind] = useState<EventKind>("all");
  const [text, setText] = useState("");
  const [follows, setFollows] = useState(true);
  const [chosen, setChosen] = useState<number>();
  const [scrollPx, setScrollPx] = useState(0);
  const box = useRef<HTMLDivElement>(null);
  const shown = filterRows(rows, kind, text);
  const { first, last } = windowOf(shown.length, scrollPx, BOX_PX, ROW_PX);
  useLayoutEffect(() => {
    if (follows && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [follows, shown.length]);
  const onScroll = (at: HTMLDivElement): void => {
    setScrollPx(at.scrollTop);
    setFollows(at.scrollHeight - at.scrollTop - at.clientHeight < NEAR_PX);
  };
  const chosenRow = rows.find((row) => row.seq === chosen);
  return (
    <section className="panel events" aria-label="Event log">
      <Filters
        count={
          shown.length === rows.length ? `${rows.length}` : `${shown.length} of ${rows.length}`
        }
        kind={kind}
        text={text}
        follows={follows}
        onKind={setKind}
        onText={setText}
        onFollow={setFollows}
      />
      <div
        className="event-box"
        ref={box}
        style={{ maxHeight: BOX_PX }}
        onScroll={(event) => onScroll(event.currentTarget)}
      >
        <div
          style={{
            height: shown.length * ROW_PX,
            paddingTop: first * ROW_PX,
            boxSizing: "border-box",
          }}
        >
          {shown.slice(first, last).map((row) => (
            <Row
              key={row.seq}
              row={row}
              tone={toneOf(row, looks)}
              chosen={row.seq === chosen}
              onChoose={setChosen}
              onOpen={onOpen}
            />
          ))}
        </div>
      </div>
      {shown.length === 0 && (
        <p className="muted">{rows.length === 0 ? "No event yet." : "No event matches."}</p>
      )}
      {chosenRow !== undefined && (
        <pre className="event-detail" tabIndex={0}>
          {prettyJson(chosenRow.payload)}
        </pre>
      )}
    </section>
  );
}

interface FiltersProps {
  readonly count: string;
  readonly kind: EventKind;
  readonly text: string;
  readonly follows: boolean;
  readonly onKind: (kind: EventKind) => void;
  readonly onText: (text: string) => void;
  readonly onFollow: (follows: boolean) => void;
}

function Filters(props: FiltersProps): ReactNode {
  const { count, kind, text, follows, onKind, onText, onFollow } = props;
  return (
    <header className="panel-head">
      <h2>
        Events <span className="count">{count}</span>
      </h2>
      <span className="spacer" />
      <input
        type="search"
        aria-label="Find in events"
        placeholder="Find"
        value={text}
        onChange={(event) => onText(event.target.value)}
      />
      <select
        aria-label="Kind of events"
        value={kind}
        onChange={(event) => onKind(event.target.value as EventKind)}
      >
        <option value="all">All events</option>
        <option value="states">Without streams</option>
        <option value="failures">Failures and retries</option>
      </select>
      <button
        type="button"
        className="quiet"
        aria-pressed={!follows}
        onClick={() => onFollow(!follows)}
      >
        {follows ? "Pause" : "Follow"}
      </button>
    </header>
  );
}

interface RowProps {
  readonly row: EventRow;
  readonly tone: string;
  readonly chosen: boolean;
  readonly onChoose: (seq: number | undefined) => void;
  readonly onOpen: (key: string) => void;
}

const Row = memo(function Row({ row, tone, chosen, onChoose, onOpen }: RowProps): ReactNode {
  const key = nodeKey(row.nodeId, row.iteration);
  const choose = (): void => onChoose(chosen ? undefined : row.seq);
  return (
    <div
      className="event"
      style={{ height: ROW_PX }}
      data-seq={row.seq}
      data-type={row.type}
      data-node={row.nodeId}
      data-chosen={chosen || undefined}
      onClick={choose}
    >
      <button
        type="button"
        className="event-seq"
        aria-expanded={chosen}
        aria-label={`Event ${row.seq}, ${row.type}`}
        onClick={(event) => {
          event.stopPropagation();
          choose();
        }}
      >
        {row.seq}
      </button>
      <time>{formatClock(row.at)}</time>
      <span className={`event-type is-${tone}`}>{row.type}</span>
      <span className="event-node">
        {row.nodeId !== "" && (
          <button
            type="button"
            onClick={(event) => {
              event.stopPropagation();
              onOpen(key);
            }}
          >
            {key}
          </button>
        )}
        {row.attempt > 1 && <span className="tag">attempt {row.attempt}</span>}
      </span>
      <span className="event-payload">{row.payload === "{}" ? "" : row.payload}</span>
    </div>
  );
});
