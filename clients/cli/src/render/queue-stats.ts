// The samples of the system as lines: the present, a table of the queues, and plots of the past. The functions are pure.

import { durationMs as msOf, timestampMs } from "@bufbuild/protobuf/wkt";
import type { GetQueueStatsResponse, QueueStats } from "@pawl/proto/pawl/v1/queue_service_pb";
import { largest, onTimeline, sparkLine } from "./sparkline.ts";
import type { Canvas } from "./spans.ts";
import { factLines, tableLines } from "./table.ts";
import { formatDuration, isoText } from "./words.ts";

const NAME_WIDTH = 16;
/** The widest plot, and the room behind it for the largest value. */
const PLOT_WIDTH_MAX = 60;
const PEAK_WIDTH = 14;

export function statsLines(stats: GetQueueStatsResponse, canvas: Canvas): readonly string[] {
  const { total, queues, pools, points, step } = stats;
  if (total === undefined) return ["No scheduler has taken a sample yet."];
  const facts: readonly (readonly [string, string])[] = [
    ["sampled", isoText(total.time)],
    ["slots", `${total.active} active, ${total.available} available, ${total.slots} max`],
    ["runs", `${total.runsPending} pending${waitText(total)}, ${total.runsRunning} running`],
    ["nodes", `${total.waiting} waiting${ageText(total.oldestMs, total.medianMs)}`],
    ["connections", `${total.connectionsInUse} in use, ${total.connections} max`],
  ];
  return [
    ...facts.flatMap(([name, text]) => factLines(name, { text }, canvas, NAME_WIDTH)),
    ...(queues.length === 0 ? [] : ["", ...queueTable(queues, canvas)]),
    ...(pools.length === 0 ? [] : ["", ...poolTable(pools, canvas)]),
    ...(points.length < 2 ? [] : ["", ...plotLines(points, stepOf(step), canvas)]),
  ];
}

const stepOf = (step: GetQueueStatsResponse["step"]): number =>
  step === undefined ? 1 : Math.max(1, msOf(step));

const waitText = ({ pendingOldestMs, pendingMedianMs }: QueueStats): string =>
  ageText(pendingOldestMs, pendingMedianMs);

function ageText(oldest: bigint | undefined, median: bigint | undefined): string {
  if (oldest === undefined || median === undefined) return "";
  return ` (oldest ${ageOf(oldest)}, median ${ageOf(median)})`;
}

const ageOf = (ms: bigint | undefined): string =>
  ms === undefined ? "-" : formatDuration(Number(ms));

const queueTable = (queues: readonly QueueStats[], canvas: Canvas): readonly string[] =>
  tableLines(
    ["TYPE", "WAITING", "OLDEST", "MEDIAN", "ACTIVE", "SLOTS"],
    queues.map((queue) => [
      queue.nodeType,
      String(queue.waiting),
      ageOf(queue.oldestMs),
      ageOf(queue.medianMs),
      String(queue.active),
      String(queue.slots),
    ]),
    canvas,
  );

const poolTable = (pools: GetQueueStatsResponse["pools"], canvas: Canvas): readonly string[] =>
  tableLines(
    ["PROCESS", "KIND", "POOL", "IN USE", "IDLE", "MAX"],
    pools.map(({ service, processId, kind, pool, inUse, idle, size }) => [
      `${service} ${processId.slice(-8)}`,
      ...[kind, pool],
      ...[inUse, idle, size].map(String),
    ]),
    canvas,
  );

interface Plot {
  readonly name: string;
  readonly valueOf: (point: QueueStats) => number;
  readonly textOf: (value: number) => string;
}

const count = (name: string, valueOf: Plot["valueOf"]): Plot => ({ name, valueOf, textOf: String });
const age = (name: string, valueOf: (point: QueueStats) => bigint | undefined): Plot => ({
  ...{ name, textOf: formatDuration },
  valueOf: (point) => Number(valueOf(point) ?? 0),
});

const PLOTS: readonly Plot[] = [
  count("active", (point) => point.active),
  count("waiting", (point) => point.waiting),
  age("oldest wait", (point) => point.oldestMs),
  age("median wait", (point) => point.medianMs),
  count("runs running", (point) => point.runsRunning),
  count("runs pending", (point) => point.runsPending),
  age("oldest pending", (point) => point.pendingOldestMs),
  count("connections", (point) => point.connectionsInUse),
];

/** The plots of the past. A plot in which every value is 0 is left out. */
function plotLines(
  points: readonly QueueStats[],
  stepMs: number,
  canvas: Canvas,
): readonly string[] {
  const room = canvas.width - NAME_WIDTH - PEAK_WIDTH;
  const width = Math.max(10, Math.min(PLOT_WIDTH_MAX, room));
  const placed = points.map((point) => ({ point, at: point.time ? timestampMs(point.time) : 0 }));
  const line = onTimeline(placed, stepMs, Math.max(points.length, width));
  const lines = PLOTS.flatMap(({ name, valueOf, textOf }) => {
    const values = line.map((each) => (each === undefined ? undefined : valueOf(each.point)));
    const peak = largest(values) ?? 0;
    if (peak === 0) return [];
    return [`${name.padEnd(NAME_WIDTH)}${sparkLine(values, width)} max ${textOf(peak)}`];
  });
  const span = formatDuration(line.length * stepMs);
  return [`the last ${span}, ${formatDuration(stepMs)} a point`, ...lines];
}

/** The points of the past as a table, oldest first. */
export const historyLines = (
  { points }: GetQueueStatsResponse,
  canvas: Canvas,
): readonly string[] =>
  points.length === 0
    ? ["No samples in this range."]
    : tableLines(
        ["TIME", "ACTIVE", "SLOTS", "WAITING", "OLDEST", "MEDIAN", "RUNNING", "PENDING"],
        points.map((point) => [
          isoText(point.time).replace(".000Z", "Z"),
          ...[point.active, point.slots, point.waiting].map(String),
          ...[ageOf(point.oldestMs), ageOf(point.medianMs)],
          ...[point.runsRunning, point.runsPending].map(String),
        ]),
        canvas,
      );
