// The timeline of a run: a lane per node execution, a bar per attempt, the wait in the queue in a lighter shade.

import { isFinal } from "@pawl/core/log/event";
import { type ReactNode, useMemo } from "react";
import { useMedia, useNow } from "../ui/browser-hooks.ts";
import { StatusIcon, statusName } from "../ui/status-icon.tsx";
import { formatDuration } from "../ui/time.ts";
import { roundText } from "./looks.ts";
import { type Bar, type Lane, layoutTimeline, type Tick } from "./timeline.ts";
import type { RunScene } from "./use-run.ts";

const TICK_MS = 200;
const LANE_PX = 26;
const BAR_PX = 12;
const THIN_BAR = 0.0025;
const PHONE = "(max-width: 700px)";
/** More labels would overlap. */
const PHONE_TICKS = 3;

interface Props extends RunScene {
  readonly clockSkewMs: number;
}

/** Draws the timeline, which moves while the run is live. */
export function TimelineChart(props: Props): ReactNode {
  const { graph, view, clockSkewMs, openKey, onOpen } = props;
  const { looks } = props.runLooks;
  const nowMs = useNow(TICK_MS, !isFinal(view.status)) + clockSkewMs;
  const tickCount = useMedia(PHONE) ? PHONE_TICKS : undefined;
  const timeline = useMemo(
    () => layoutTimeline(view, nowMs, looks, tickCount),
    [view, nowMs, looks, tickCount],
  );
  const labels = useMemo(() => new Map(graph.nodes.map(({ id, label }) => [id, label])), [graph]);
  const height = timeline.lanes.length * LANE_PX;
  return (
    <section className="panel timeline" aria-label="Timeline">
      <header className="panel-head">
        <h2>Timeline</h2>
        <ul className="legend">
          <li className="legend-held">backoff</li>
          <li className="legend-wait">queued</li>
          <li className="legend-work">running</li>
          <li className="legend-delay">waiting</li>
          <li className="legend-lost">retried</li>
        </ul>
      </header>
      {timeline.lanes.length === 0 && <p className="muted">Nothing was queued yet.</p>}
      <div className="lanes">
        <ol className="lane-names">
          {timeline.lanes.map((lane) => (
            <li key={lane.key} style={{ height: LANE_PX }}>
              <button
                type="button"
                aria-pressed={lane.key === openKey}
                title={lane.key}
                data-lane={lane.key}
                onClick={() => onOpen(lane.key)}
              >
                <StatusIcon status={lane.look} />
                <LaneName lane={lane} labels={labels} />
              </button>
            </li>
          ))}
        </ol>
        <div className="lane-chart">
          <svg width="100%" height={height} role="img" aria-label={summary(timeline.lanes)}>
            {timeline.ticks.map((tick) => (
              <line
                key={tick.ms}
                className="grid"
                x1={percent(tick.at)}
                x2={percent(tick.at)}
                y1={0}
                y2={height}
              />
            ))}
            {timeline.lanes.map((lane, index) => (
              <g key={lane.key} className="lane" onClick={() => onOpen(lane.key)}>
                {lane.bars.map((bar) => (
                  <BarMark key={bar.key} bar={bar} y={index * LANE_PX + (LANE_PX - BAR_PX) / 2} />
                ))}
              </g>
            ))}
          </svg>
          <Axis ticks={timeline.ticks} />
        </div>
      </div>
      {timeline.hiddenCount > 0 && <p className="muted">… and {timeline.hiddenCount} more</p>}
    </section>
  );
}

/**
 * The label, or else the id, with the iteration or the round, and with the tool that an agent calls. On a narrow page the label shrinks
 * first and the iteration never does, so the turns of an agent, and what is undone, differ.
 */
function LaneName(props: {
  readonly lane: Lane;
  readonly labels: ReadonlyMap<string, string>;
}): ReactNode {
  const { node } = props.lane;
  const name = props.labels.get(node.nodeId) || node.nodeId;
  const isUndo = node.undoes !== undefined;
  const iteration = node.undoes ?? node.iteration;
  const item = (isUndo || node.item > 0) && iteration > 0 ? `#${iteration}` : "";
  const round = isUndo || node.item > 0 ? "" : roundText(node);
  return (
    <>
      {isUndo && <span className="lane-item">undo</span>}
      <span className="lane-label">{name}</span>
      {item !== "" && <span className="lane-item">{item}</span>}
      {round !== "" && <span className="lane-round">{round}</span>}
      {node.tool !== "" && <span className="lane-tool">{node.tool}</span>}
    </>
  );
}

const percent = (fraction: number): string => `${(fraction * 100).toFixed(3)}%`;

function BarMark({ bar, y }: { readonly bar: Bar; readonly y: number }): ReactNode {
  const wait = { x: percent(bar.ready), width: percent(bar.work - bar.ready) };
  const middle = y + BAR_PX / 2;
  const work = { x: percent(bar.work), width: percent(Math.max(bar.to - bar.work, THIN_BAR)) };
  return (
    <g className={`bar is-${bar.state}`} data-bar={bar.state}>
      <title>{barText(bar)}</title>
      {bar.ready > bar.from && (
        <line
          className="held"
          x1={percent(bar.from)}
          x2={percent(bar.ready)}
          y1={middle}
          y2={middle}
        />
      )}
      <rect className="wait" {...wait} y={y + BAR_PX / 4} height={BAR_PX / 2} />
      {bar.state !== "queued" && <rect className="work" {...work} y={y} height={BAR_PX} rx={3} />}
    </g>
  );
}

function barText({ state, attempt, round, waitMs, workMs }: Bar): string {
  const which = round === 0 ? "" : `round ${round + 1}, `;
  if (state === "delayed") return `${which}held back the next nodes for ${formatDuration(workMs)}`;
  return attempt === 0
    ? `${which}waited ${formatDuration(workMs)} before its start`
    : `${which}attempt ${attempt}: ${statusWord(state)}, waited ${formatDuration(waitMs)}, worked ${formatDuration(workMs)}`;
}

const statusWord = (state: Bar["state"]): string =>
  state === "handled" ? "failed, handled" : state.replace("_", " ");

function Axis({ ticks }: { readonly ticks: readonly Tick[] }): ReactNode {
  return (
    <div className="axis" aria-hidden="true">
      {ticks.map((tick) => (
        <span key={tick.ms} style={{ left: percent(tick.at) }}>
          {formatDuration(tick.ms)}
        </span>
      ))}
    </div>
  );
}

const summary = (lanes: readonly Lane[]): string =>
  lanes.map((lane) => `${lane.key} ${statusName(lane.look)}, ${lane.bars.length} bars`).join("; ");
