import { expect, test } from "vitest";
import type { Looks } from "./looks.ts";
import { layoutTimeline as layout, ticksOf, type Timeline } from "./timeline.ts";
import { emptyNode, EMPTY_VIEW, type RunView } from "@pawl/core/log/view";
import type { Delivery } from "@pawl/core/log/view-parts";

const layoutTimeline = (view: RunView, nowMs: number, looks: Looks = new Map()): Timeline =>
  layout(view, nowMs, looks);

const delivery = (more: Partial<Delivery>): Delivery => ({
  attempt: 1,
  epoch: 0,
  executorId: "",
  queuedAt: 1000,
  notBeforeAt: undefined,
  startedAt: undefined,
  endedAt: undefined,
  end: undefined,
  ...more,
});

const runOf = (deliveries: readonly Delivery[], more: Partial<RunView> = {}): RunView => ({
  ...EMPTY_VIEW,
  startedAt: 1000,
  nodes: new Map([
    ["a", { ...emptyNode("a", 0), deliveries }],
    ["idle", emptyNode("idle", 0)],
  ]),
  ...more,
});

test("a finished attempt waits and works in its own part of the span", () => {
  const done = delivery({ startedAt: 1250, endedAt: 1500, end: "completed" });
  const { lanes, spanMs } = layoutTimeline(runOf([done], { endedAt: 2000 }), 99_999);
  expect(spanMs).toBe(1000);
  expect(lanes.map((lane) => lane.key)).toEqual(["a"]);
  expect(lanes[0]?.bars[0]).toMatchObject({
    from: 0,
    work: 0.25,
    to: 0.5,
    waitMs: 250,
    workMs: 250,
  });
});

test("an open bar reaches to the present: a running node works, a queued node waits", () => {
  const running = layoutTimeline(runOf([delivery({ startedAt: 1500 })]), 2000).lanes[0]?.bars[0];
  expect(running).toMatchObject({ state: "running", work: 0.5, to: 1 });
  const queued = layoutTimeline(runOf([delivery({})]), 2000).lanes[0]?.bars[0];
  expect(queued).toMatchObject({ state: "queued", from: 0, work: 1, to: 1, workMs: 0 });
});

test("a node that ran again has the bars of every round in one lane, also if its last round was skipped", () => {
  const first = delivery({ startedAt: 1000, endedAt: 1250, end: "completed" });
  const second = delivery({ queuedAt: 1500, startedAt: 1500, endedAt: 1750, end: "completed" });
  const round = (at: number, deliveries: readonly Delivery[]) => ({
    ...emptyNode("a", 0),
    ...{ round: at, deliveries, status: "completed" as const },
  });
  const node = { ...round(2, []), status: "skipped" as const };
  const earlier = [round(0, [first]), round(1, [second])];
  const view = runOf([], { endedAt: 2000, nodes: new Map([["a", { ...node, earlier }]]) });
  const { lanes } = layoutTimeline(view, 0);
  expect(lanes.map(({ key }) => key)).toEqual(["a"]);
  expect(lanes[0]?.bars).toMatchObject([
    { round: 0, work: 0, to: 0.25 },
    { round: 1, work: 0.5, to: 0.75 },
  ]);
  expect(new Set(lanes[0]?.bars.map(({ key }) => key)).size).toBe(2);
});

test("the time of a backoff does not count as waiting in the queue", () => {
  const times = { notBeforeAt: 1400, startedAt: 1500, endedAt: 2000 };
  const held = delivery({ ...times, attempt: 2, end: "completed" });
  const bar = layoutTimeline(runOf([held], { endedAt: 2000 }), 0).lanes[0]?.bars[0];
  expect(bar).toMatchObject({ from: 0, ready: 0.4, work: 0.5, to: 1, waitMs: 100, workMs: 500 });
});

test("a delay is drawn in its own lane until its end, and the next node begins there", () => {
  const done = delivery({ startedAt: 1000, endedAt: 1001, end: "completed" });
  const child = delivery({ queuedAt: 1001, notBeforeAt: 1800 });
  const nodes = new Map([
    ["wait", { ...emptyNode("wait", 0), deliveries: [done], settledAt: 1001, releaseAt: 1800 }],
    ["next", { ...emptyNode("next", 0), deliveries: [child] }],
  ]);
  const at = (nowMs: number) =>
    layoutTimeline({ ...EMPTY_VIEW, startedAt: 1000, nodes }, nowMs).lanes.map(({ bars }) => bars);
  const [waiting, held] = at(1500);
  expect(waiting?.at(-1)).toMatchObject({ state: "delayed", to: 1, workMs: 499 });
  expect(held).toMatchObject([{ state: "queued", from: 1, waitMs: 0 }]);
  const [waited, queued] = at(2000);
  expect(waited?.at(-1)).toMatchObject({ state: "delayed", to: 0.8, workMs: 799 });
  expect(queued).toMatchObject([{ state: "queued", from: 0.8, work: 1, waitMs: 200 }]);
});

test("where there are many lanes, failures come first, and not all are drawn", () => {
  const names = Array.from({ length: 300 }, (_, index) => `n${index}`);
  const deliveries = [delivery({ startedAt: 1100, endedAt: 1200, end: "completed" })];
  const nodes = new Map(names.map((name) => [name, { ...emptyNode(name, 0), deliveries }]));
  const looks: Looks = new Map([["n250", { look: "failed", releaseAt: undefined }]]);
  const timeline = layoutTimeline({ ...EMPTY_VIEW, startedAt: 1000, nodes }, 2000, looks);
  expect(timeline.lanes.slice(0, 3).map(({ key }) => key)).toEqual(["n250", "n0", "n1"]);
  expect([timeline.lanes.length, timeline.hiddenCount]).toEqual([200, 100]);
});

test("retries lie one after the other in the lane of their node", () => {
  const first = delivery({ startedAt: 1100, endedAt: 1200, end: "retried" });
  const second = delivery({
    attempt: 2,
    queuedAt: 1200,
    startedAt: 1400,
    endedAt: 1500,
    end: "completed",
  });
  const { lanes } = layoutTimeline(runOf([first, second], { endedAt: 2000 }), 0);
  expect(lanes[0]?.bars.map(({ attempt, state }) => [attempt, state])).toEqual([
    [1, "retried"],
    [2, "completed"],
  ]);
});

test("a clock that runs behind the database's never turns a bar around", () => {
  const { lanes } = layoutTimeline(runOf([delivery({ queuedAt: 5000 })]), 900);
  const bar = lanes[0]?.bars[0];
  expect(bar).toBeDefined();
  expect((bar?.to ?? 0) - (bar?.from ?? 0)).toBeGreaterThanOrEqual(0);
});

test("ticks are round, few and within the span", () => {
  expect(ticksOf(4481).map((tick) => tick.ms)).toEqual([0, 1000, 2000, 3000, 4000]);
  for (const spanMs of [1, 7, 60, 999, 12_345, 3_600_000, 86_400_000]) {
    const ticks = ticksOf(spanMs);
    expect(ticks.length).toBeLessThanOrEqual(7);
    expect(ticks.every((tick) => tick.at <= 1)).toBe(true);
  }
});

test("a node that is held before its start has a lane with its wait until it is released", () => {
  const held = { ...emptyNode("pay", 0), status: "waiting" as const, heldAt: 1200 };
  const bars = (node: typeof held, nowMs: number) =>
    layoutTimeline({ ...EMPTY_VIEW, startedAt: 1000, nodes: new Map([["pay", node]]) }, nowMs)
      .lanes[0]?.bars;
  expect(bars(held, 2000)).toMatchObject([
    { attempt: 0, state: "waiting", from: 0.2, work: 0.2, to: 1, waitMs: 0, workMs: 800 },
  ]);
  expect(bars({ ...held, heldUntil: 1500 }, 2000)).toMatchObject([{ to: 0.5, workMs: 300 }]);
});
