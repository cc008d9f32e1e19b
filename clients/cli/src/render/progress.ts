// Draws the progress of a run: a head with a bar, a tree of nodes with their states, the text that streams. Pure: the same
// progress, canvas and time give the same lines, never more of them than the terminal is high.

import { formatDuration } from "./duration.ts";
import { type NodeProgress, type Progress, hasEnded, isSettled } from "./progress-model.ts";
import {
  type Canvas,
  type Line,
  displayWidth,
  padText,
  paintLine,
  safeText,
  wrapText,
} from "./spans.ts";
import { lookOf, statusSpan } from "./symbols.ts";
import type { TreeRow } from "./tree.ts";

export interface ProgressCanvas extends Canvas {
  readonly height: number;
  readonly nowMs: number;
}

const BAR_WIDTH = 24;
const NAME_WIDTH_MAX = 40;
const TYPE_WIDTH_MAX = 16;
const TEXT_LINES = 3;
const SPINNER = ["◐", "◓", "◑", "◒"];
const SPIN_MS = 150;

/** The lines to show now. */
export function progressLines(progress: Progress, canvas: ProgressCanvas): readonly string[] {
  const head = [headLine(progress, canvas)];
  const foot = footLines(progress);
  const room = Math.max(1, canvas.height - head.length - foot.length - 1);
  const body = bodyLines(progress, canvas, room);
  return [...head, ...body, ...foot].map((line) => paintLine(line, canvas));
}

function headLine(progress: Progress, canvas: ProgressCanvas): Line {
  const nodes = [...progress.nodes.values()];
  const settled = nodes.filter(isSettled).length;
  const filled = nodes.length === 0 ? 0 : Math.floor((settled / nodes.length) * BAR_WIDTH);
  const elapsedMs =
    progress.startMs === undefined ? 0 : (progress.endMs ?? canvas.nowMs) - progress.startMs;
  return [
    { text: progress.title, style: "bold" },
    { text: "  " },
    statusSpan(progress.status),
    { text: "  " },
    { text: `${settled}/${nodes.length}  ${formatDuration(elapsedMs)}  ` },
    // Last, so that a narrow terminal loses the bar and not the numbers.
    { text: "━".repeat(filled), style: lookOf(progress.status).style },
    { text: "─".repeat(BAR_WIDTH - filled), style: "dim" },
  ];
}

function footLines(progress: Progress): readonly Line[] {
  const lines: Line[] = [];
  if (progress.note !== "") {
    lines.push([{ text: progress.note, style: lookOf(progress.status).style }]);
  }
  if (progress.waiting !== "") lines.push([{ text: progress.waiting, style: "yellow" }]);
  if (progress.connection !== "") lines.push([{ text: progress.connection, style: "yellow" }]);
  if (!hasEnded(progress)) {
    lines.push([{ text: "Ctrl-C detaches; the run goes on.", style: "dim" }]);
  }
  return lines;
}

/** Every node when there is room; otherwise those that matter now, and how many are not shown. */
function bodyLines(progress: Progress, canvas: ProgressCanvas, room: number): readonly Line[] {
  const widths = progress.rows.map((row) => displayWidth(row.prefix + safeText(row.label)));
  const nameWidth = Math.min(
    NAME_WIDTH_MAX,
    widths.reduce((a, b) => Math.max(a, b), 0),
  );
  const typeWidth = Math.min(
    TYPE_WIDTH_MAX,
    progress.rows.reduce((width, { type }) => Math.max(width, type.length), 0),
  );
  const draw = (row: TreeRow, textLines: number): readonly Line[] => {
    const node = progress.nodes.get(row.nodeId);
    if (node === undefined) return [];
    return [
      nodeLine(row, node, { nameWidth, typeWidth, nowMs: canvas.nowMs }),
      ...textOf(row, node, { lineCount: textLines, width: canvas.width }),
    ];
  };
  const whole = progress.rows.flatMap((row) => draw(row, TEXT_LINES));
  if (whole.length <= room) return whole;
  const bare = progress.rows.flatMap((row) => draw(row, 0));
  if (bare.length <= room) return bare;
  const shown = new Set(
    progress.rows
      .toSorted((one, other) => urgency(progress, other) - urgency(progress, one))
      .slice(0, room - 1),
  );
  const hiddenCount = progress.rows.length - shown.size;
  return [
    ...progress.rows.filter((row) => shown.has(row)).flatMap((row) => draw(row, 0)),
    [{ text: `… and ${hiddenCount} more nodes`, style: "dim" }],
  ];
}

/** What is under way first, then what went wrong, what is done last. */
function urgency(progress: Progress, row: TreeRow): number {
  const node = progress.nodes.get(row.nodeId);
  if (node === undefined) return 0;
  if (["running", "retrying", "waiting"].includes(node.status)) return 4;
  if (["failed", "timed_out"].includes(node.status)) return 3;
  if (node.status === "queued") return 2;
  return isSettled(node) ? 0 : 1;
}

/** A loop that ended early had fewer rounds than it was allowed. */
function iterationsText({ width, settledCount, status }: NodeProgress): string {
  if (width === undefined) return "";
  const isEarly = status === "completed" && settledCount < width;
  return isEarly ? `${settledCount} rounds` : `${settledCount}/${width}`;
}

function nodeLine(
  row: TreeRow,
  node: NodeProgress,
  { nameWidth, typeWidth, nowMs }: { nameWidth: number; typeWidth: number; nowMs: number },
): Line {
  const { shape, style } = lookOf(node.status);
  const spin = SPINNER[Math.floor(nowMs / SPIN_MS) % SPINNER.length] ?? shape;
  const name = padText(safeText(row.label), nameWidth - displayWidth(row.prefix));
  const facts = [
    node.startMs === undefined || node.status === "skipped"
      ? ""
      : formatDuration((node.endMs ?? nowMs) - node.startMs),
    iterationsText(node),
    node.attempt > 1 ? `attempt ${node.attempt}` : "",
    node.note,
  ].filter((fact) => fact !== "");
  const isBad = ["failed", "timed_out", "retrying"].includes(node.status);
  return [
    { text: row.prefix, style: "dim" },
    { text: node.status === "running" ? spin : shape, style },
    { text: ` ${name}`, style: node.status === "running" ? "bold" : "plain" },
    { text: `  ${padText(safeText(row.type), typeWidth)}`, style: "dim" },
    { text: `  ${facts.join("  ")}`, style: isBad ? style : "dim" },
  ];
}

/** The end of what a running node streams, wrapped so that its newest words are seen. */
function textOf(
  row: TreeRow,
  node: NodeProgress,
  { lineCount, width }: { lineCount: number; width: number },
): readonly Line[] {
  if (node.status !== "running" || node.text === "" || lineCount === 0) return [];
  const indent = `${row.prefix.replaceAll("├─ ", "│  ").replaceAll("└─ ", "   ")}  ▏ `;
  const room = Math.max(10, width - displayWidth(indent));
  return node.text
    .split(/\r?\n/)
    .map(safeText)
    .filter((line) => line.trim() !== "")
    .flatMap((line) => wrapText(line, room))
    .slice(-lineCount)
    .map((line) => [
      { text: indent, style: "dim" },
      { text: line, style: "cyan" },
    ]);
}
