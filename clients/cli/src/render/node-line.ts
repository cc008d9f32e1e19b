// The lines of the progress tree: one node, one fold of nodes, or the text that a node streams. A fold is a wide fan in a few lines:
// branches of one fork with one type and the same quiet state become a count. Branches that a person may want to see keep their lines. The
// functions are pure.

import type { NodeView } from "@pawl/core/log/view";
import { heldMs, nodeNote, nodeOf, type Progress, shownStatus } from "./progress-model.ts";
import type { TreeRow } from "./tree.ts";
import { formatDuration } from "./words.ts";
import { displayWidth, type Line, lookOf, padText, safeText, wrapText } from "./spans.ts";

/** A single row, or a fold of many rows of one kind. */
export type Entry =
  | { readonly kind: "row"; readonly row: TreeRow }
  | { readonly kind: "fold"; readonly fold: Fold };

export interface Fold {
  readonly status: string;
  /** The rows from the first to the last. */
  readonly rows: readonly TreeRow[];
}

/** A fan with fewer branches is drawn branch by branch. */
const FOLD_MIN = 8;
const LOUD = new Set(["running", "retrying", "waiting", "failed", "timed_out"]);

/** The rows in drawing order, with fans folded. */
export function foldRows(progress: Progress, nowMs: number): readonly Entry[] {
  const kindOf = ({ fork, type }: TreeRow): string => (fork === "" ? "" : `${fork}\n${type}`);
  const kinds = Map.groupBy(progress.rows, kindOf);
  const folds = Map.groupBy(progress.rows, (row) => {
    const kind = kindOf(row);
    if (kind === "" || (kinds.get(kind)?.length ?? 0) < FOLD_MIN) return "";
    const status = statusOf(progress, row, nowMs);
    return LOUD.has(status) ? "" : `${kind}\n${status}`;
  });
  const alone = new Set(folds.get(""));
  const first = new Map(
    [...folds.entries()].flatMap(([key, rows]) =>
      key === "" || rows[0] === undefined ? [] : [[rows[0], rows] as const],
    ),
  );
  return progress.rows.flatMap((row): Entry[] => {
    const rows = first.get(row);
    if (alone.has(row) || rows?.length === 1) return [{ kind: "row", row }];
    if (rows === undefined) return [];
    return [{ kind: "fold", fold: { status: statusOf(progress, row, nowMs), rows } }];
  });
}

const statusOf = (progress: Progress, { nodeId }: TreeRow, nowMs: number): string =>
  shownStatus(progress, nodeOf(progress, nodeId), nowMs);

interface FoldSpan {
  readonly fastestMs: number;
  readonly slowestMs: number;
  readonly slowest: TreeRow;
}

/** How long the rows of a fold took. Undefined while none of them has ended. */
function spanOf(progress: Progress, { rows }: Fold): FoldSpan | undefined {
  const took = rows.flatMap((row) => {
    const ms = tookMs(nodeOf(progress, row.nodeId));
    return ms === undefined ? [] : [{ row, ms }];
  });
  const sorted = took.toSorted((one, other) => one.ms - other.ms);
  const [fastest, slowest] = [sorted[0], sorted.at(-1)];
  if (fastest === undefined || slowest === undefined) return undefined;
  return { fastestMs: fastest.ms, slowestMs: slowest.ms, slowest: slowest.row };
}

const tookMs = ({ startedAt, settledAt }: NodeView): number | undefined =>
  startedAt === undefined || settledAt === undefined ? undefined : settledAt - startedAt;

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

/** How long the nodes of a fold took. Empty while none of them has ended. */
export function foldText(fold: Fold, progress: Progress): string {
  const span = spanOf(progress, fold);
  if (span === undefined) return "";
  const { fastestMs, slowestMs, slowest } = span;
  return `${formatDuration(fastestMs)} to ${formatDuration(slowestMs)}, slowest ${safeText(slowest.label)}`;
}

const nameText = ({ prefix }: TreeRow, name: string, { nameWidth }: LineContext): string =>
  padText(safeText(name), nameWidth - displayWidth(prefix));

/** How long a node took or takes. For a delay that is not over, the remaining time. */
export function timeText(
  { progress, nowMs }: Pick<LineContext, "progress" | "nowMs">,
  node: NodeView,
): string {
  const leftMs = heldMs(progress, node, nowMs);
  if (leftMs > 0) return `${formatDuration(leftMs)} left`;
  if (node.startedAt === undefined || node.status === "skipped") return "";
  // The duration of a delay includes the time for which it held back the next nodes.
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
