// The rows of `run get` for a run's nodes. A wide fan is folded as in the live tree. A wide map may have thousands of iterations: the table
// shows the urgent ones and counts the others.

import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { type Json, jsonOf, nodeStatusName, runStatusName } from "@pawl/client";
import { type NodeRun, NodeStatus, type Run } from "@pawl/proto/pawl/v1/run_pb";
import { failureText, formatDuration } from "./words.ts";
import { countText, type Fold, foldRows, foldText, timeText } from "./node-line.ts";
import { createProgress, nodeOf, type Progress, roundText, shownStatus } from "./progress-model.ts";
import { cutText, shortId, statusSpan } from "./spans.ts";
import type { Cell } from "./table.ts";
import { emptyNode, EMPTY_VIEW, type NodeView, type RunView } from "@pawl/core/log/view";

/** The most iterations of one node that get a row. */
const ITERATIONS_MAX = 10;
/** The whole value is in the console and in -o json. */
const VALUE_WIDTH = 400;

interface RowsOptions {
  /** The definition of the run. Without it nothing is folded. */
  readonly definition: Json | undefined;
  readonly nowMs: number;
  /** The command by which a person calls the command line. */
  readonly self: string;
  /** Whether a person reads the rows on a terminal: ids are short then. */
  readonly isTty: boolean;
}

interface RowsContext extends RowsOptions {
  readonly runId: string;
  readonly progress: Progress;
}

/** A row for each node, each fold of nodes and each urgent iteration. */
export function nodeRows(run: Run, options: RowsOptions): Cell[][] {
  const { runId, nodes } = run;
  const progress = progressOfRun(run, options.definition);
  const context: RowsContext = { ...options, runId, progress };
  const folds = new Map(
    foldRows(progress, options.nowMs).flatMap((entry) =>
      entry.kind === "fold" ? entry.fold.rows.map(({ nodeId }) => [nodeId, entry.fold]) : [],
    ),
  );
  const iterations = Map.groupBy(nodes.filter(isItem), ({ nodeId }) => nodeId);
  return nodes
    .filter((node) => !isItem(node))
    .flatMap((node) => {
      const fold = folds.get(node.nodeId);
      if (fold !== undefined)
        return fold.rows[0]?.nodeId === node.nodeId ? [foldRow(fold, progress)] : [];
      const own = iterations.get(node.nodeId) ?? [];
      const shown = new Set(
        own.toSorted((one, other) => urgency(other) - urgency(one)).slice(0, ITERATIONS_MAX),
      );
      const hidden = own.length - shown.size;
      return [
        nodeRow(node, context),
        ...own.filter((item) => shown.has(item)).map((item) => nodeRow(item, context)),
        ...(hidden > 0 ? [[{ text: `… and ${hidden} more`, style: "dim" as const }]] : []),
      ];
    });
}

/** An item of a map or a loop. Gateways of earlier versions name no item; they have no rounds either. */
const isItem = ({ item, round, iteration }: NodeRun): boolean =>
  item > 0 || (round === 0 && iteration > 0);

/** The id of a node, with its round from the second one on; of an item with its iteration, and with the turn or tool of an agent. */
function nameOf(node: NodeRun): string {
  if (node.turn > 0) return `${node.nodeId}#${node.iteration} ${node.tool || `turn ${node.turn}`}`;
  if (isItem(node)) return `${node.nodeId}#${node.iteration}`;
  return node.round > 0 ? `${node.nodeId} (${roundText(node.round)})` : node.nodeId;
}

/** Waiting executions come first, then failed ones, then active ones. */
function urgency({ status }: NodeRun): number {
  if (status === NodeStatus.WAITING) return 3;
  if (status === NodeStatus.FAILED || status === NodeStatus.TIMED_OUT) return 2;
  return status === NodeStatus.COMPLETED ? 0 : 1;
}

const foldRow = (fold: Fold, progress: Progress): Cell[] => [
  `${countText(fold.rows)} ${fold.rows[0]?.type ?? ""}`,
  statusSpan(fold.status),
  "",
  "",
  foldText(fold, progress),
];

function nodeRow(node: NodeRun, context: RowsContext): Cell[] {
  const { progress, nowMs } = context;
  const known = isItem(node) ? undefined : nodeOf(progress, node.nodeId);
  const [status, took] =
    known === undefined
      ? [nodeStatusName(node.status), spanText(node.startTime, node.endTime, nowMs)]
      : [shownStatus(progress, known, nowMs), timeText(context, known)];
  return [
    nameOf(node),
    statusSpan(status),
    node.attempt > 0 ? String(node.attempt) : "",
    took,
    resultText(node, context),
  ];
}

function resultText(node: NodeRun, { runId, self, isTty }: RowsContext): string {
  const { hold } = node;
  if (hold !== undefined) {
    // Older runs have holds without an approval: the command then names the node.
    const command =
      hold.approvalId === ""
        ? decideCommand(self, isTty ? shortId(runId) : runId, node)
        : `${self} approval approve ${isTty ? shortId(hold.approvalId) : hold.approvalId}`;
    return `decide with \`${command}\``;
  }
  if (node.signal !== undefined)
    return `waits for \`${signalCommand(self, isTty ? shortId(runId) : runId, node.signal.name)}\``;
  if (node.errorMessage === "") return valueText(node.outputJson);
  return failureText(node);
}

/** The command by which a person decides about a held node. */
export const decideCommand = (
  self: string,
  runId: string,
  { nodeId, iteration }: { readonly nodeId: string; readonly iteration: number },
): string =>
  `${self} run decide ${runId} ${nodeId} approve${iteration > 0 ? ` --iteration ${iteration}` : ""}`;

/** The command by which a person sends the signal that a node waits for. */
const signalCommand = (self: string, runId: string, name: string): string =>
  `${self} run signal ${runId} ${name}`;

/** A value on one line, cut if it is long. */
export const valueText = (bytes: Uint8Array): string => {
  const value = jsonOf(bytes);
  return value === undefined ? "" : cutText(JSON.stringify(value), VALUE_WIDTH);
};

/** The time from start to end, or to now. */
export const spanText = (
  from: Timestamp | undefined,
  to: Timestamp | undefined,
  nowMs: number,
): string =>
  from === undefined
    ? ""
    : formatDuration((to === undefined ? nowMs : timestampMs(to)) - timestampMs(from));

const msOf = (time: Timestamp | undefined): number | undefined =>
  time === undefined ? undefined : timestampMs(time);

/** The progress of a run and its nodes. Iterations have no progress of their own. */
function progressOfRun(run: Run, definition: Json | undefined): Progress {
  const view = viewOfRun(run);
  return {
    ...createProgress({ title: "", definition }),
    view: () => view,
  };
}

function viewOfRun({ status, nodes }: Run): RunView {
  const times = nodes.flatMap(({ startTime, endTime }) => [msOf(startTime), msOf(endTime)]);
  const whole = nodes.filter((node) => !isItem(node));
  return {
    ...EMPTY_VIEW,
    status: runStatusName(status),
    lastAt: times.reduce<number>((last, ms = 0) => Math.max(last, ms), 0),
    nodes: new Map(whole.map((node) => [node.nodeId, nodeView(node)])),
  };
}

const nodeView = ({
  nodeId,
  round,
  status,
  attempt,
  startTime,
  endTime,
  releaseTime,
}: NodeRun): NodeView => ({
  ...emptyNode(nodeId, 0),
  round,
  status: nodeStatusName(status),
  attempt,
  startedAt: msOf(startTime),
  settledAt: msOf(endTime),
  releaseAt: msOf(releaseTime),
});
