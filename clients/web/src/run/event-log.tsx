// The event log: every fact of the run in order. It scrolls to the newest event until the reader scrolls up or pauses it.

import { memo, type ReactNode, useLayoutEffect, useRef, useState } from "react";
import { executionName, isUndo } from "@pawl/core/log/undo-iteration";
import { FindBox } from "../ui/drawer.tsx";
import { formatClock } from "../ui/time.ts";
import { type EventKind, type EventRow, filterRows, toneOf, windowOf } from "./event-rows.ts";
import { prettyJson } from "../ui/json-text.ts";
import type { Looks } from "./looks.ts";
import { nodeKey } from "@pawl/core/log/view";

const ROW_PX = 26;
const BOX_PX = 390;
const NEAR_PX = 8;

interface Props {
  readonly rows: readonly EventRow[];
  readonly looks: Looks;
  readonly onOpen: (key: string) => void;
}

export function EventLog({ rows, looks, onOpen }: Props): ReactNode {
  const [filter, setFilter] = useState<Filter>({ kind: "all", text: "", follows: true });
  const { kind, text, follows } = filter;
  const change = (part: Partial<Filter>): void => setFilter((before) => ({ ...before, ...part }));
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
    change({ follows: at.scrollHeight - at.scrollTop - at.clientHeight < NEAR_PX });
  };
  const chosenRow = rows.find((row) => row.seq === chosen);
  return (
    <section className="panel events" aria-label="Event log">
      <Filters
        count={
          shown.length === rows.length ? `${rows.length}` : `${shown.length} of ${rows.length}`
        }
        filter={filter}
        onChange={change}
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

interface Filter {
  readonly kind: EventKind;
  readonly text: string;
  /** Whether the log stays at its end. */
  readonly follows: boolean;
}

interface FiltersProps {
  readonly count: string;
  readonly filter: Filter;
  readonly onChange: (part: Partial<Filter>) => void;
}

function Filters({ count, filter, onChange }: FiltersProps): ReactNode {
  const { kind, text, follows } = filter;
  return (
    <header className="panel-head">
      <h2>
        Events <span className="count">{count}</span>
      </h2>
      <span className="spacer" />
      <FindBox
        label="Find in events"
        placeholder="Find"
        text={text}
        onText={(wanted) => onChange({ text: wanted })}
      />
      <select
        aria-label="Kind of events"
        value={kind}
        onChange={({ target }) => onChange({ kind: target.value as EventKind })}
      >
        <option value="all">All events</option>
        <option value="states">Without streams</option>
        <option value="failures">Failures and retries</option>
      </select>
      <button
        type="button"
        className="quiet"
        aria-pressed={!follows}
        onClick={() => onChange({ follows: !follows })}
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
            {isUndo(row.iteration) ? executionName(row.nodeId, row.iteration) : key}
          </button>
        )}
        {row.attempt > 1 && <span className="tag">attempt {row.attempt}</span>}
      </span>
      <span className="event-payload">{row.payload === "{}" ? "" : row.payload}</span>
    </div>
  );
});
