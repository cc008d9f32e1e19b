// The positions of the bars of the timeline: pure geometry over the deliveries of a run, in fractions of its span.

import type { Look, Looks } from "./looks.ts";
import type { NodeView, RunView } from "@pawl/core/log/view";
import type { DeliveryEnd } from "@pawl/core/log/view-parts";

export interface Bar {
  readonly key: string;
  /** 0 while the node is held before its start. */
  readonly attempt: number;
  /** From 0: which pass of the node, if a loop edge leads back to it. */
  readonly round: number;
  /** `delayed`: a delay that holds back the next nodes. */
  readonly state: DeliveryEnd | "queued" | "running" | "waiting" | "handled" | "delayed";
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
  readonly look: Look;
  readonly bars: readonly Bar[];
}

export interface Tick {
  readonly at: number;
  readonly ms: number;
}

export interface Timeline {
  readonly spanMs: number;
  readonly lanes: readonly Lane[];
  /** Node executions without a lane of their own. */
  readonly hiddenCount: number;
  readonly ticks: readonly Tick[];
}

const STEPS_MS = [1, 2, 5].flatMap((step) =>
  [0, 1, 2, 3, 4, 5, 6, 7, 8].map((power) => step * 10 ** power),
);
const TICK_COUNT = 6;
/** The most lanes that the page draws. If there are more than fit a screen, failures come first. */
const LANES_MAX = 200;
const LANES_SEEN = 15;
/** The iterations of one node that get a lane. A map may have ten thousand. */
const ITERATION_LANES_MAX = 10;

const URGENT: ReadonlySet<Look> = new Set(["failed", "timed_out", "handled"]);

/** Whether an execution was ever queued or held, in this round or in an earlier one. */
const wasPlaced = ({ deliveries, heldAt, earlier }: NodeView): boolean =>
  deliveries.length > 0 || heldAt !== undefined || earlier.some(wasPlaced);

/** Lays out a run as of `nowMs` on the clock of its events. A lane per node that was ever queued or held, and per item of one. */
export function layoutTimeline(
  view: RunView,
  nowMs: number,
  looks: Looks,
  tickCount: number = TICK_COUNT,
): Timeline {
  const start = view.startedAt ?? nowMs;
  const end = view.endedAt ?? Math.max(nowMs, start);
  const spanMs = Math.max(end - start, 1);
  const at = (ms: number): number => Math.min(Math.max((ms - start) / spanMs, 0), 1);
  const queued = [...view.nodes.values()].filter(wasPlaced);
  const lookAt = (node: NodeView): Look => looks.get(node.key)?.look ?? node.status;
  const isUrgent = (node: NodeView): boolean => URGENT.has(lookAt(node));
  const ordered = inOrder(
    queued.filter((node) => node.item <= ITERATION_LANES_MAX || isUrgent(node)),
  );
  const isLong = ordered.length > LANES_SEEN;
  const shown = isLong
    ? ordered.toSorted((one, other) => +isUrgent(other) - +isUrgent(one))
    : ordered;
  const lanes = shown.slice(0, LANES_MAX).map((node) => {
    const look = lookAt(node);
    const before = node.earlier.flatMap((round) => barsOf(round, round.status, { end, at }));
    return { key: node.key, node, look, bars: [...before, ...barsOf(node, look, { end, at })] };
  });
  const ticks = ticksOf(spanMs, tickCount);
  return { spanMs, lanes, hiddenCount: queued.length - lanes.length, ticks };
}

/** Nodes in the order in which they were first queued, each followed by its iterations of all rounds. */
function inOrder(nodes: readonly NodeView[]): NodeView[] {
  return [...Map.groupBy(nodes, ({ nodeId }) => nodeId).values()].flatMap((own) =>
    own.toSorted(
      (one, other) => +(one.item > 0) - +(other.item > 0) || one.iteration - other.iteration,
    ),
  );
}

interface Span {
  readonly end: number;
  readonly at: (ms: number) => number;
}

function barsOf(node: NodeView, look: Look, { end, at }: Span): Bar[] {
  const last = node.deliveries.length - 1;
  const bars = node.deliveries.map((delivery, index): Bar => {
    const to = Math.max(delivery.endedAt ?? end, delivery.queuedAt);
    const work = delivery.startedAt ?? to;
    const ready = Math.min(delivery.notBeforeAt ?? delivery.queuedAt, work);
    const open = node.status === "waiting" ? "waiting" : "running";
    const state = delivery.end ?? (delivery.startedAt === undefined ? "queued" : open);
    return {
      key: `${node.key}/${node.round}/${index}`,
      attempt: delivery.attempt,
      round: node.round,
      state: look === "handled" && index === last ? "handled" : state,
      // The lane of a delay shows the time for which it holds back this node. A later attempt waits for its own backoff.
      from: at(delivery.attempt > 1 ? delivery.queuedAt : ready),
      ready: at(ready),
      work: at(work),
      to: at(to),
      waitMs: work - ready,
      workMs: to - work,
    };
  });
  if (node.heldAt !== undefined) bars.unshift(holdBar(node, { end, at }));
  return node.releaseAt === undefined ? bars : [...bars, delayBar(node, { end, at })];
}

/** The bar of a node that waits for a person or a signal before its start. */
function holdBar({ key, round, heldAt = 0, heldUntil }: NodeView, { end, at }: Span): Bar {
  const to = Math.max(heldUntil ?? end, heldAt);
  const begin = at(heldAt);
  const fractions = { from: begin, ready: begin, work: begin, to: at(to) };
  return {
    key: `${key}/${round}/hold`,
    attempt: 0,
    round,
    state: "waiting",
    ...fractions,
    waitMs: 0,
    workMs: to - heldAt,
  };
}

/** The bar of a delay after its handler is done, while it holds back the next nodes. */
function delayBar(
  { key, attempt, round, settledAt = 0, releaseAt = 0 }: NodeView,
  { end, at }: Span,
): Bar {
  const to = Math.max(Math.min(releaseAt, end), settledAt);
  const from = at(settledAt);
  const workMs = to - settledAt;
  return {
    key: `${key}/${round}/delay`,
    attempt,
    round,
    state: "delayed",
    from,
    ready: from,
    work: from,
    to: at(to),
    waitMs: 0,
    workMs,
  };
}

/** Round marks within the span, at most `tickCount` + 1. */
export function ticksOf(spanMs: number, tickCount: number = TICK_COUNT): Tick[] {
  const steps = STEPS_MS.toSorted((a, b) => a - b);
  const step = steps.find((ms) => spanMs / ms <= tickCount) ?? spanMs;
  const count = Math.floor(spanMs / step) + 1;
  return Array.from({ length: count }, (_, index) => ({
    at: (index * step) / spanMs,
    ms: index * step,
  }));
}
