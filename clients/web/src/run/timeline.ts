// Where the bars of the timeline lie: pure geometry over the deliveries of a run, in fractions of its span.

import type { DeliveryEnd, NodeView, RunView } from "./view.ts";

export interface Bar {
  readonly key: string;
  readonly attempt: number;
  readonly state: DeliveryEnd | "queued" | "running" | "waiting";
  /** Fractions of the span, 0 to 1: held back from `from` to `ready`, queued to `work`, at work to `to`. */
  readonly from: number;
  readonly ready: number;
  readonly work: number;
  readonly to: number;
  readonly waitMs: number;
  readonly workMs: number;
}

export interface Lane {
  readonly key: string;
  readonly node: NodeView;
  readonly bars: readonly Bar[];
}

export interface Tick {
  readonly at: number;
  readonly ms: number;
}

export interface Timeline {
  readonly spanMs: number;
  readonly lanes: readonly Lane[];
  /** Iterations without a lane of their own. */
  readonly hiddenCount: number;
  readonly ticks: readonly Tick[];
}

const STEPS_MS = [1, 2, 5].flatMap((step) =>
  [0, 1, 2, 3, 4, 5, 6, 7, 8].map((power) => step * 10 ** power),
);
const TICK_COUNT = 6;
/** Iterations of one node that get a lane each; a map may have ten thousand. */
const ITERATION_LANES_MAX = 10;

/** Lays out a run as of `nowMs` on the clock of its events. A lane per node execution that was ever queued. */
export function layoutTimeline(view: RunView, nowMs: number): Timeline {
  const start = view.startedAt ?? nowMs;
  const end = view.endedAt ?? Math.max(nowMs, start);
  const spanMs = Math.max(end - start, 1);
  const at = (ms: number): number => Math.min(Math.max((ms - start) / spanMs, 0), 1);
  const queued = [...view.nodes.values()].filter((node) => node.deliveries.length > 0);
  const lanes = inOrder(queued.filter(({ iteration }) => iteration <= ITERATION_LANES_MAX)).map(
    (node) => ({ key: node.key, node, bars: barsOf(node, end, at) }),
  );
  return { spanMs, lanes, hiddenCount: queued.length - lanes.length, ticks: ticksOf(spanMs) };
}

/** Nodes in the order in which they were first queued, each followed by its iterations. */
function inOrder(nodes: readonly NodeView[]): NodeView[] {
  return [...Map.groupBy(nodes, ({ nodeId }) => nodeId).values()].flatMap((own) =>
    own.toSorted((one, other) => one.iteration - other.iteration),
  );
}

function barsOf(node: NodeView, end: number, at: (ms: number) => number): Bar[] {
  return node.deliveries.map((delivery, index) => {
    const to = Math.max(delivery.endedAt ?? end, delivery.queuedAt);
    const work = delivery.startedAt ?? to;
    const ready = Math.min(delivery.notBeforeAt ?? delivery.queuedAt, work);
    const open = node.status === "waiting" ? "waiting" : "running";
    const state = delivery.end ?? (delivery.startedAt === undefined ? "queued" : open);
    return {
      key: `${node.key}/${index}`,
      attempt: delivery.attempt,
      state,
      from: at(delivery.queuedAt),
      ready: at(ready),
      work: at(work),
      to: at(to),
      waitMs: work - ready,
      workMs: to - work,
    };
  });
}

/** Round marks, at most six, never past the end. */
export function ticksOf(spanMs: number): Tick[] {
  const steps = STEPS_MS.toSorted((a, b) => a - b);
  const step = steps.find((ms) => spanMs / ms <= TICK_COUNT) ?? spanMs;
  const count = Math.floor(spanMs / step) + 1;
  return Array.from({ length: count }, (_, index) => ({
    at: (index * step) / spanMs,
    ms: index * step,
  }));
}
