// What a person needs to know of a run while it goes, folded from its events. It is a view: unknown events change nothing.
// Node states: pending → queued → running → (retrying → queued)* → completed | failed | timed_out | cancelled | skipped.

import { timestampMs } from "@bufbuild/protobuf/wkt";
import { type Json, runStatusName } from "@pawl/client";
import type { RunEvent } from "@pawl/proto/pawl/v1/event_pb";
import { causeText } from "./event-line.ts";
import { limitText } from "./limit.ts";
import { type TreeRow, treeRows } from "./tree.ts";

export interface NodeProgress {
  /** Short name of its status. */
  status: string;
  attempt: number;
  startMs: number | undefined;
  endMs: number | undefined;
  /** End of the text it streams, of the newest claim. */
  text: string;
  epoch: bigint;
  /** Why it failed, waits or was skipped. */
  note: string;
  /** Iterations of a map or a loop: how many there are, once known, and how many of them have settled. */
  width: number | undefined;
  settledCount: number;
  /** A delay has completed, and holds back what follows until then. */
  holdsUntilMs: number | undefined;
  /** The approval it waits for; empty when it waits for none. */
  approvalId: string;
}

export interface Progress {
  readonly runId: string;
  readonly title: string;
  readonly self: string;
  readonly rows: readonly TreeRow[];
  readonly nodes: Map<string, NodeProgress>;
  status: string;
  startMs: number | undefined;
  endMs: number | undefined;
  note: string;
  /** Trouble with the connection; empty when there is none. */
  connection: string;
  /** What it waits for when it does not get on; empty while it does. */
  waiting: string;
  /** When the newest event happened, by the server's clock. */
  lastEventMs: number;
}

const TEXT_LENGTH_MAX = 4000;

export interface ProgressSeed {
  readonly runId: string;
  /** What to call the run: its workflow and version. */
  readonly title: string;
  readonly definition: Json | undefined;
  /** How a person calls the command line, for hints; default pawl. */
  readonly self?: string;
}

/** A run of which nothing is known yet. */
export function createProgress(seed: ProgressSeed): Progress {
  const { runId, title, definition, self = "pawl" } = seed;
  const rows = treeRows(definition);
  return {
    runId,
    title,
    self,
    rows,
    nodes: new Map(rows.map(({ nodeId }) => [nodeId, pendingNode()])),
    status: "pending",
    startMs: undefined,
    endMs: undefined,
    note: "",
    connection: "",
    waiting: "",
    lastEventMs: 0,
  };
}

/** A node of which nothing is known yet. */
export const pendingNode = (): NodeProgress => ({
  status: "pending",
  attempt: 0,
  startMs: undefined,
  endMs: undefined,
  text: "",
  epoch: 0n,
  note: "",
  width: undefined,
  settledCount: 0,
  holdsUntilMs: undefined,
  approvalId: "",
});

/** Takes one event in. */
export function applyEvent(progress: Progress, event: RunEvent): void {
  const atMs = event.time === undefined ? undefined : timestampMs(event.time);
  progress.lastEventMs = Math.max(progress.lastEventMs, atMs ?? 0);
  if (event.nodeId !== "") {
    const node = nodeOf(progress, event);
    if (event.iteration > 0) applyToItem(node, event);
    else applyToNode(node, event, atMs);
  } else applyToRun(progress, event, atMs);
  if (event.type === "node.started" && progress.status !== "waiting") progress.status = "running";
}

function nodeOf(progress: Progress, event: RunEvent): NodeProgress {
  const known = progress.nodes.get(event.nodeId) ?? pendingNode();
  progress.nodes.set(event.nodeId, known);
  return known;
}

/** An iteration has no row of its own: its node counts it. */
function applyToItem(node: NodeProgress, { type }: RunEvent): void {
  if (SETTLED.has(type.replace(/^node\./, ""))) node.settledCount += 1;
}

function applyToRun(progress: Progress, { fact }: RunEvent, atMs: number | undefined): void {
  const end = (status: string, note = "") => {
    progress.status = status;
    progress.note = note;
    progress.endMs = atMs;
  };
  if (fact.case === "runStarted") {
    const limits = limitText(fact.value);
    progress.status = limits === "" ? "scheduled" : "pending";
    progress.note = limits;
    progress.startMs = atMs;
  } else if (fact.case === "runStatusChanged") {
    progress.status = runStatusName(fact.value.to);
    progress.note = "";
  } else if (fact.case === "runCompleted") {
    end("completed", fact.value.hasFailures ? "some nodes failed on the way" : "");
  } else if (fact.case === "runFailed") {
    end("failed", fact.value.message);
  } else if (fact.case === "runCancelled") {
    end("cancelled", fact.value.reason);
  } else if (fact.case === "runTimedOut") {
    end("timeout", "its deadline passed");
  }
}

function applyToNode(node: NodeProgress, event: RunEvent, atMs: number | undefined): void {
  const { fact } = event;
  if (event.attempt > 0) node.attempt = event.attempt;
  switch (fact.case) {
    case "nodeQueued":
      node.status = node.attempt > 0 && node.status === "retrying" ? "retrying" : "queued";
      if (node.status === "queued") node.note = limitText(fact.value);
      break;
    case "nodeStarted":
      Object.assign(node, {
        status: "running",
        startMs: atMs,
        endMs: undefined,
        note: "",
        text: "",
        holdsUntilMs: undefined,
      });
      node.epoch = event.eventId;
      break;
    case "nodeStreamDelta":
      if (event.epoch !== node.epoch) node.text = "";
      node.epoch = event.epoch;
      node.text = (node.text + fact.value.text).slice(-TEXT_LENGTH_MAX);
      break;
    case "nodeRetried":
      node.status = "retrying";
      node.note = causeText(fact.value);
      break;
    case "runRecovered":
      node.note = "its executor was lost; trying again";
      break;
    case "nodeBlocked":
      node.status = "waiting";
      node.note = blockedText(fact.value);
      node.approvalId = fact.value.approvalId;
      break;
    case "nodeExpanded":
      node.status = "waiting";
      node.width = fact.value.width;
      break;
    case "nodeCompleted":
    case "nodeFailed":
    case "nodeTimedOut":
    case "nodeCancelled":
    case "nodeSkipped":
      Object.assign(node, settled(fact), { endMs: atMs, approvalId: "" });
      if (fact.case === "nodeCompleted" && fact.value.queueDelayMs > 0n && atMs !== undefined)
        node.holdsUntilMs = atMs + Number(fact.value.queueDelayMs);
      break;
    case "nodeInvalidated":
      node.status = "invalidated";
      break;
    // Events of the run, and those that change no state; a fact this client does not know has no case at all.
    case "runStarted":
    case "runStatusChanged":
    case "runCompleted":
    case "runFailed":
    case "runCancelled":
    case "runTimedOut":
    case "runMetadataSet":
    case "nodeLog":
    case "nodeDecided":
    case "moderationFlagged":
    case "contractViolated":
    case "heartbeat":
    case undefined:
    default:
  }
}

interface Blocked {
  readonly reason: string;
  readonly childRunId: string;
  readonly message: string;
}

/** The question where a person is asked, else what it waits for. */
const blockedText = ({ reason, childRunId, message }: Blocked): string =>
  message === ""
    ? [reason.replaceAll("_", " "), childRunId].filter((part) => part !== "").join(" ")
    : message;

type Settling = Extract<
  RunEvent["fact"],
  { case: "nodeCompleted" | "nodeFailed" | "nodeTimedOut" | "nodeCancelled" | "nodeSkipped" }
>;

/** What a final fact makes of a node. */
function settled(fact: Settling): Pick<NodeProgress, "status" | "note"> {
  switch (fact.case) {
    case "nodeCompleted":
      return {
        status: "completed",
        note: fact.value.handle === "" ? "" : `→ ${fact.value.handle}`,
      };
    case "nodeFailed":
      return { status: "failed", note: fact.value.message || fact.value.cause };
    case "nodeTimedOut":
      return { status: "timed_out", note: `after ${fact.value.timeoutMs} ms` };
    case "nodeCancelled":
      return { status: "cancelled", note: fact.value.reason };
    case "nodeSkipped":
    default:
      return { status: "skipped", note: fact.value.reason.replaceAll("_", " ") };
  }
}

const SETTLED: ReadonlySet<string> = new Set([
  "completed",
  "failed",
  "timed_out",
  "cancelled",
  "skipped",
]);

/** Whether nothing more is to come of a node. */
export const isSettled = (node: NodeProgress): boolean => SETTLED.has(node.status);

/**
 * How long a delay still holds back what follows, 0 when it does not. In the log a delay completes at once and its children start
 * later; a person sees a delay that waits. An event from behind its end says that it is over, whatever the reader's own clock says.
 */
export function heldMs(progress: Progress, { holdsUntilMs }: NodeProgress, nowMs: number): number {
  if (holdsUntilMs === undefined || hasEnded(progress)) return 0;
  return Math.max(0, holdsUntilMs - Math.max(nowMs, progress.lastEventMs));
}

/** The status a person sees: a delay waits until it lets go. */
export const shownStatus = (progress: Progress, node: NodeProgress, nowMs: number): string =>
  heldMs(progress, node, nowMs) > 0 ? "waiting" : node.status;

/** Whether the run has ended. */
export const hasEnded = (progress: Progress): boolean =>
  ["completed", "failed", "cancelled", "timeout"].includes(progress.status);
