// What the page knows of one run: the fold of its events, shaped for showing. Values are replaced, never changed in place,
// so that a component draws again exactly when its part became another object.

import type { NodeStatus, RunStatus } from "@pawl/core/log/event";
import type { StreamedMedia } from "./media.ts";

/** How one delivery of a node execution to an executor went. `lost`: its executor vanished and another delivery follows. `held`: a person approved its input, and another follows. */
export type DeliveryEnd =
  | "completed"
  | "failed"
  | "retried"
  | "lost"
  | "timed_out"
  | "cancelled"
  | "skipped"
  | "held";

/** One bar of the timeline: from being queued, over being started, to an end. */
export interface Delivery {
  readonly attempt: number;
  readonly epoch: number;
  readonly executorId: string;
  readonly queuedAt: number;
  readonly notBeforeAt: number | undefined;
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
  readonly end: DeliveryEnd | undefined;
}

export interface LogLine {
  readonly seq: number;
  readonly at: number;
  readonly level: string;
  readonly message: string;
}

/** How a person, or the clock, decided. */
export interface DecisionView {
  readonly decision: string;
  /** Who, as they call themselves; may be empty. */
  readonly by: string;
  readonly comment: string;
  readonly response: string;
  readonly at: number;
}

/** One node execution. */
export interface NodeView {
  readonly key: string;
  readonly nodeId: string;
  readonly iteration: number;
  readonly status: NodeStatus;
  readonly attempt: number;
  readonly deliveries: readonly Delivery[];
  readonly handle: string;
  readonly output: string | undefined;
  /** Machine-readable cause of a failure, a retry or a skip. */
  readonly cause: string;
  readonly message: string;
  readonly details: string;
  /** Text streamed under the newest claim; a new claim starts it over. */
  readonly text: string;
  readonly textEpoch: bigint;
  readonly nextDelta: number;
  /** Pictures and files streamed under the newest claim. */
  readonly media: readonly StreamedMedia[];
  readonly log: readonly LogLine[];
  readonly lostDeliveries: number;
  /** Iterations of a map or a loop: how many there are, once known, and how many of them have settled. */
  readonly width: number | undefined;
  readonly settledCount: number;
  /** The run it waits for. */
  readonly childRunId: string;
  /** The approval by which a person answers it, and what is asked; "" where no person is asked. */
  readonly approvalId: string;
  readonly question: string;
  /** How its waiting for a person ended. */
  readonly decision: DecisionView | undefined;
  readonly settledAt: number | undefined;
  /** Until when it holds back what follows. */
  readonly releaseAt: number | undefined;
}

/** One row of the event log. */
export interface EventRow {
  readonly seq: number;
  readonly type: string;
  readonly nodeId: string;
  readonly iteration: number;
  readonly attempt: number;
  readonly at: number;
  /** The fact as compact JSON text. */
  readonly payload: string;
}

export interface RunView {
  readonly status: RunStatus;
  readonly lastSeq: number;
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
  readonly input: string;
  readonly output: string | undefined;
  readonly message: string;
  /** The node that failed the run; "" where none did. */
  readonly failedNodeId: string;
  readonly hasFailures: boolean;
  /** By key, in order of first mention. */
  readonly nodes: ReadonlyMap<string, NodeView>;
  readonly rows: readonly EventRow[];
}

/** A run of which nothing is known yet. */
export const EMPTY_RUN: RunView = {
  status: "pending",
  lastSeq: 0,
  startedAt: undefined,
  endedAt: undefined,
  input: "",
  output: undefined,
  message: "",
  failedNodeId: "",
  hasFailures: false,
  nodes: new Map(),
  rows: [],
};

/** The key of a node execution: the node's id, with the iteration where there are several. */
export const nodeKey = (nodeId: string, iteration: number): string =>
  iteration === 0 ? nodeId : `${nodeId}#${iteration}`;

/** "n/m" of a map or a loop; only n of a loop that ended before it had to. */
export const iterationsText = ({ width, settledCount, status }: NodeView): string => {
  if (width === undefined) return "";
  const isEarly = status === "completed" && settledCount < width;
  return isEarly ? String(settledCount) : `${settledCount}/${width}`;
};

/** A node execution of which nothing is known yet. */
export const emptyNode = (nodeId: string, iteration: number): NodeView => ({
  key: nodeKey(nodeId, iteration),
  nodeId,
  iteration,
  status: "pending",
  attempt: 0,
  deliveries: [],
  handle: "",
  output: undefined,
  cause: "",
  message: "",
  details: "",
  text: "",
  textEpoch: 0n,
  nextDelta: 0,
  media: [],
  log: [],
  lostDeliveries: 0,
  width: undefined,
  settledCount: 0,
  childRunId: "",
  approvalId: "",
  question: "",
  decision: undefined,
  settledAt: undefined,
  releaseAt: undefined,
});
