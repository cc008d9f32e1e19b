// Draws the progress of a run: a head with a bar, a tree of nodes with their states, and streamed text. It is pure: the same progress,
// canvas and time give the same lines. There are never more lines than the terminal has.

import type { NodeView } from "@pawl/core/log/view";
import { formatDuration } from "./words.ts";
import {
  type Entry,
  foldLine,
  foldName,
  foldRows,
  type LineContext,
  nodeLine,
  textLines,
} from "./node-line.ts";
import {
  hasEnded,
  hasSettled,
  heldMs,
  nodeOf,
  nodesOf,
  type Progress,
  runNote,
  shownStatus,
} from "./progress-model.ts";
import {
  type Canvas,
  displayWidth,
  type Line,
  lookOf,
  paintLine,
  safeText,
  shortId,
  statusSpan,
  type Style,
  wrapText,
} from "./spans.ts";
import type { TreeRow } from "./tree.ts";

interface ProgressCanvas extends Canvas {
  readonly height: number;
  readonly nowMs: number;
}

const BAR_WIDTH = 24;
const NAME_WIDTH_MAX = 40;
const TYPE_WIDTH_MAX = 16;
const TEXT_LINES = 3;
/** The most lines of a sentence below the tree. */
const SENTENCE_LINES = 3;
/** The most questions to people that get a line. */
const QUESTIONS_MAX = 3;

/** The lines to show now. */
export function progressLines(progress: Progress, canvas: ProgressCanvas): readonly string[] {
  const head = [headLine(progress, canvas)];
  const foot = footLines(progress, canvas);
  const room = Math.max(1, canvas.height - head.length - foot.length - 1);
  const body = bodyLines(progress, canvas, room);
  return [...head, ...body, ...foot].map((line) => paintLine(line, canvas));
}

function headLine(progress: Progress, canvas: ProgressCanvas): Line {
  const nodes = nodesOf(progress);
  const { status, startedAt, endedAt } = progress.view();
  const isDone = (node: NodeView): boolean =>
    hasSettled(node) && heldMs(progress, node, canvas.nowMs) === 0;
  const settled = nodes.filter(isDone).length;
  const filled = nodes.length === 0 ? 0 : Math.floor((settled / nodes.length) * BAR_WIDTH);
  const elapsedMs = startedAt === undefined ? 0 : (endedAt ?? canvas.nowMs) - startedAt;
  return [
    { text: progress.title, style: "bold" },
    { text: "  " },
    statusSpan(status),
    { text: "  " },
    { text: `${settled}/${nodes.length}  ${formatDuration(elapsedMs)}  ` },
    // The bar comes last, so a narrow terminal cuts the bar and not the numbers.
    { text: "━".repeat(filled), style: lookOf(status).style },
    { text: "─".repeat(BAR_WIDTH - filled), style: "dim" },
  ];
}

function footLines(progress: Progress, { width }: Canvas): readonly Line[] {
  const say = (text: string, style: Style): readonly Line[] =>
    text === ""
      ? []
      : wrapText(safeText(text), width)
          .slice(0, SENTENCE_LINES)
          .map((line) => [{ text: line, style }]);
  const view = progress.view();
  const note = say(runNote(view), lookOf(view.status).style);
  if (hasEnded(progress)) return note;
  const questions = nodesOf(progress).filter(
    ({ status, approvalId, signal }) => status === "waiting" && (approvalId || signal) !== "",
  );
  return [
    ...note,
    ...questions.slice(0, QUESTIONS_MAX).flatMap(({ approvalId, signal }) => {
      const { self, runId } = progress;
      const send = `${self} run signal ${runId === "" ? "RUN" : shortId(runId)} ${signal} --payload JSON`;
      const answer = `${self} approval approve ${shortId(approvalId)}, or reject`;
      return say(`→ ${signal === "" ? answer : send}`, "magenta");
    }),
    ...say(progress.waiting, "yellow"),
    ...say(progress.connection, "yellow"),
    ...say("Ctrl-C detaches; the run continues.", "dim"),
  ];
}

/** Every node if the terminal has room. Otherwise with fans folded. Otherwise the urgent nodes and a count of the others. */
function bodyLines(progress: Progress, canvas: ProgressCanvas, room: number): readonly Line[] {
  const { rows } = progress;
  const folded = foldRows(progress, canvas.nowMs);
  const names = [
    ...rows.map(({ prefix, label }) => prefix + safeText(label)),
    ...folded.flatMap((entry) => (entry.kind === "fold" ? [foldName(entry.fold)] : [])),
  ];
  const types = rows.map(({ type }) => type);
  const context: LineContext = {
    progress,
    nowMs: canvas.nowMs,
    nameWidth: widest(names, NAME_WIDTH_MAX),
    typeWidth: widest(types, TYPE_WIDTH_MAX),
  };
  const drawRow = (row: TreeRow, lineCount: number): readonly Line[] => {
    const node = nodeOf(progress, row.nodeId);
    const text = textLines(row, node, { lineCount, width: canvas.width });
    return [nodeLine(row, node, context), ...text];
  };
  const draw = (entry: Entry, lineCount: number): readonly Line[] =>
    entry.kind === "row" ? drawRow(entry.row, lineCount) : [foldLine(entry.fold, context)];
  const each = rows.map((row): Entry => ({ kind: "row", row }));
  for (const [entries, lineCount] of [
    [each, TEXT_LINES],
    [each, 0],
    [folded, TEXT_LINES],
    [folded, 0],
  ] as const) {
    const lines = entries.flatMap((entry) => draw(entry, lineCount));
    if (lines.length <= room) return lines;
  }
  const shown = new Set(
    folded
      .toSorted((one, other) => urgency(context, other) - urgency(context, one))
      .slice(0, room - 1),
  );
  const hiddenCount = folded.filter((entry) => !shown.has(entry)).reduce(countRows, 0);
  return [
    ...folded.filter((entry) => shown.has(entry)).flatMap((entry) => draw(entry, 0)),
    [{ text: `… and ${hiddenCount} more nodes`, style: "dim" }],
  ];
}

const widest = (texts: readonly string[], max: number): number =>
  texts.reduce((width, text) => Math.min(max, Math.max(width, displayWidth(text))), 0);

const countRows = (sum: number, entry: Entry): number =>
  sum + (entry.kind === "row" ? 1 : entry.fold.rows.length);

/** Folds come first, then active nodes, failed nodes and queued nodes; settled nodes come last. */
function urgency({ progress, nowMs }: LineContext, entry: Entry): number {
  if (entry.kind === "fold") return 5;
  const node = nodeOf(progress, entry.row.nodeId);
  const status = shownStatus(progress, node, nowMs);
  if (["running", "retrying", "waiting"].includes(status)) return 4;
  if (["failed", "timed_out"].includes(status)) return 3;
  if (status === "queued") return 2;
  return hasSettled(node) ? 0 : 1;
}
