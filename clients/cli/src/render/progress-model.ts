// The progress of a run for the tree: the rows of its definition, the view that its events fold to (`core/log/view.ts`), and the state of
// the connection. An event that this client does not know changes nothing.

import { type Json, fromWire } from "@pawl/client";
import { isFinal, isSettled } from "@pawl/core/log/event";
import { type NodeView, type RunView, ViewFold, emptyNode } from "@pawl/core/log/view";
import type { RunEvent } from "@pawl/proto/pawl/v1/event_pb";
import { causeText, limitText } from "./words.ts";
import { type TreeRow, treeRows } from "./tree.ts";

export interface Progress {
  readonly title: string;
  readonly self: string;
  /** For hints. Empty if it is not known. */
  readonly runId: string;
  readonly rows: readonly TreeRow[];
  readonly fold: ViewFold;
  /** The run after all events so far. */
  readonly view: () => RunView;
  /** Trouble with the connection. Empty when there is none. */
  connection: string;
  /** The reason why the run makes no progress. Empty while it does. */
  waiting: string;
}

interface ProgressSeed {
  /** The name of the run for people: its workflow and version. */
  readonly title: string;
  readonly definition: Json | undefined;
  /** The command by which a person calls the command line, for hints; default pawl. */
  readonly self?: string;
  readonly runId?: string;
}

export function createProgress(seed: ProgressSeed): Progress {
  const { title, definition, self = "pawl", runId = "" } = seed;
  const fold = new ViewFold();
  return {
    title,
    self,
    runId,
    rows: treeRows(definition),
    fold,
    view: () => fold.view(),
    connection: "",
    waiting: "",
  };
}

export function applyEvent(progress: Progress, wire: RunEvent): void {
  const event = fromWire(wire);
  if (event !== undefined) progress.fold.add(event);
}

export const nodeOf = (progress: Progress, nodeId: string): NodeView =>
  progress.view().nodes.get(nodeId) ?? emptyNode(nodeId, 0);

/** Every node: those of the definition, and those that only the events name. Iterations have no row: their node counts them. */
export function nodesOf(progress: Progress): readonly NodeView[] {
  const drawn = progress.rows.map(({ nodeId }) => nodeOf(progress, nodeId));
  const known = new Set(progress.rows.map(({ nodeId }) => nodeId));
  const others = [...progress.view().nodes.values()].filter(
    ({ nodeId, item, undoes }) => item === 0 && undoes === undefined && !known.has(nodeId),
  );
  return [...drawn, ...others];
}

/** A note about the run besides its status. */
export function runNote({ status, limits, hasFailures, message }: RunView): string {
  if (status === "pending") return limitText(limits);
  return status === "completed" && hasFailures ? "some nodes failed on the way" : message;
}

/** The round of a node that ran before, as people count: the second one is round 2. */
export const roundText = (round: number): string => `round ${round + 1}`;

/** A note about a node besides its status. */
export const nodeNote = (node: NodeView): string =>
  [node.round > 0 ? roundText(node.round) : "", statusNote(node)].filter(Boolean).join("  ");

function statusNote(node: NodeView): string {
  switch (node.status) {
    case "queued":
      return limitText(node.limits) || reasonText(node);
    case "retrying":
      return reasonText(node);
    case "waiting":
      if (node.signal !== "") return `signal ${node.signal}`;
      return node.question || [words(node.cause), node.childRunId].filter(Boolean).join(" ");
    case "completed":
      return node.handle === "" ? "" : `→ ${node.handle}`;
    case "skipped":
      return words(node.cause);
    case "pending":
    case "running":
    case "failed":
    case "timed_out":
    case "cancelled":
    case "invalidated":
    default:
      return node.message || node.cause;
  }
}

const words = (name: string): string => name.replaceAll("_", " ");

/** Why the last delivery ended. A lost executor has a cause and no message. */
const reasonText = ({ cause, message, deliveries }: NodeView): string =>
  deliveries.findLast(({ end }) => end !== undefined)?.end === "lost"
    ? "its executor was lost; trying again"
    : causeText({ cause, message });

/** Whether nothing more will happen to a node. */
export const hasSettled = ({ status }: NodeView): boolean => isSettled(status);

/**
 * How long a delay still holds back the next nodes. 0 if it does not. A delay completes at once in the log and its children start later,
 * but a person sees a delay that waits. If a later event is newer than the end of the delay, the delay is over, even if the reader's clock
 * is slow.
 */
export function heldMs(progress: Progress, { releaseAt }: NodeView, nowMs: number): number {
  if (releaseAt === undefined || hasEnded(progress)) return 0;
  return Math.max(0, releaseAt - Math.max(nowMs, progress.view().lastAt));
}

/** The status that a person sees. A delay waits until its time is over. */
export const shownStatus = (progress: Progress, node: NodeView, nowMs: number): string =>
  heldMs(progress, node, nowMs) > 0 ? "waiting" : node.status;

export const hasEnded = (progress: Progress): boolean => isFinal(progress.view().status);
