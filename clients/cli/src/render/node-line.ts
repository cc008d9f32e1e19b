// One node, one fold of nodes, or the text a node streams, as lines of the progress tree. Pure.

import type { NodeView } from "@pawl/core/log/view";
import { formatDuration } from "./duration.ts";
import { type Fold, spanOf } from "./fold-rows.ts";
import { type Progress, heldMs, nodeNote, shownStatus } from "./progress-model.ts";
import { type Line, displayWidth, padText, safeText, wrapText } from "./spans.ts";
import { lookOf } from "./symbols.ts";
import type { TreeRow } from "./tree.ts";

/** The width of the columns of the tree, and the time. */
export interface LineContext {
  readonly progress: Progress;
  readonly nameWidth: number;
  readonly typeWidth: number;
  readonly nowMs: number;
}

const SPINNER = ["◐", "◓", "◑", "◒"];
const SPIN_MS = 150;
/** The end of a streamed text that a frame may need. */
const TEXT_LENGTH_MAX = 4000;

/** A node with its state, its duration and a note. */
export function nodeLine(row: TreeRow, node: NodeView, context: LineContext): Line {
  const { progress, nowMs } = context;
  const status = shownStatus(progress, node, nowMs);
  const { shape, style } = lookOf(status);
  const spin = SPINNER[Math.floor(nowMs / SPIN_MS) % SPINNER.length] ?? shape;
  const facts = [
    timeText(context, node),
    iterationsText(node),
    node.attempt > 1 ? `attempt ${node.attempt}` : "",
    nodeNote(node),
  ].filter((fact) => fact !== "");
  const isBad = ["failed", "timed_out", "retrying"].includes(status);
  return [
    { text: row.prefix, style: "dim" },
    { text: status === "running" ? spin : shape, style },
    {
      text: ` ${nameText(row, row.label, context)}`,
      style: status === "running" ? "bold" : "plain",
    },
    { text: `  ${padText(safeText(row.type), context.typeWidth)}`, style: "dim" },
    { text: `  ${facts.join("  ")}`, style: isBad ? style : "dim" },
  ];
}

/** The name of a fold in the column of names, with its box-drawing. */
export const foldName = ({ rows }: Fold): string => `${rows[0]?.prefix ?? ""}${countText(rows)}`;

/** How many rows a fold counts. */
export const countText = (rows: readonly TreeRow[]): string => `${rows.length} ×`;

/** Many nodes of one kind and state. */
export function foldLine(fold: Fold, context: LineContext): Line {
  const [row] = fold.rows;
  if (row === undefined) return [];
  const { shape, style } = lookOf(fold.status);
  return [
    { text: row.prefix, style: "dim" },
    { text: shape, style },
    { text: ` ${nameText(row, countText(fold.rows), context)}` },
    { text: `  ${padText(safeText(row.type), context.typeWidth)}`, style: "dim" },
    { text: `  ${foldText(fold, context.progress)}`, style: "dim" },
  ];
}

/** How long the nodes of a fold took; empty while none of them has ended. */
export function foldText(fold: Fold, progress: Progress): string {
  const span = spanOf(progress, fold);
  if (span === undefined) return "";
  const { fastestMs, slowestMs, slowest } = span;
  return `${formatDuration(fastestMs)} to ${formatDuration(slowestMs)}, slowest ${safeText(slowest.label)}`;
}

const nameText = ({ prefix }: TreeRow, name: string, { nameWidth }: LineContext): string =>
  padText(safeText(name), nameWidth - displayWidth(prefix));

/** How long a node took or takes; for a delay that is not over, how much is left. */
export function timeText(
  { progress, nowMs }: Pick<LineContext, "progress" | "nowMs">,
  node: NodeView,
): string {
  const leftMs = heldMs(progress, node, nowMs);
  if (leftMs > 0) return `${formatDuration(leftMs)} left`;
  if (node.startedAt === undefined || node.status === "skipped") return "";
  // A delay took as long as it held back the nodes behind it.
  const endMs = Math.max(node.settledAt ?? nowMs, node.releaseAt ?? 0);
  return formatDuration(endMs - node.startedAt);
}

/** A loop that ended early had fewer rounds than its limit. */
function iterationsText({ width, settledCount, status }: NodeView): string {
  if (width === undefined) return "";
  const isEarly = status === "completed" && settledCount < width;
  return isEarly ? `${settledCount} rounds` : `${settledCount}/${width}`;
}

/** The end of the text that a running node streams, wrapped so that its newest words are visible. */
export function textLines(
  row: TreeRow,
  node: NodeView,
  { lineCount, width }: { readonly lineCount: number; readonly width: number },
): readonly Line[] {
  if (node.status !== "running" || node.text === "" || lineCount === 0) return [];
  const indent = `${row.prefix.replaceAll("├─ ", "│  ").replaceAll("└─ ", "   ")}  ▏ `;
  const room = Math.max(10, width - displayWidth(indent));
  return node.text
    .slice(-TEXT_LENGTH_MAX)
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
