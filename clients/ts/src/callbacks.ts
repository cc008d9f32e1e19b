// Callbacks for the steps of a run: they get the state after each step and the result of each node execution. Race: a connection breaks
// while a callback runs. The stream resumes after the last event, so each callback is called once for each event.

import type { RunEvent } from "@pawl/proto/pawl/v1/event_pb";
import { isSettled, type NodeStatus } from "@pawl/core/log/event";
import type { Json } from "./json.ts";
import { membersOf, type StreamItem, type StreamMode, type StreamOptions } from "./stream.ts";
import { isTerminalEventType } from "./status.ts";
import type { WatchOptions } from "./watch.ts";

/** The whole state and context of a run after a step. */
export interface Checkpoint {
  readonly runId: string;
  readonly eventId: bigint;
  /** As `pawl run state --json` prints it. */
  readonly state: Json;
  /** The input, the outputs of the nodes, and the variables. */
  readonly context: Json;
}

/** How one node execution ended. */
export interface TaskResult {
  readonly runId: string;
  readonly eventId: bigint;
  readonly nodeId: string;
  readonly iteration: number;
  readonly attempt: number;
  /** `completed`, `failed`, `timed_out`, `cancelled` or `skipped`. */
  readonly status: NodeStatus;
  /** Undefined if the execution did not complete. */
  readonly output: Json | undefined;
  /** Undefined if the execution completed. */
  readonly error: string | undefined;
}

/** The stream waits for each call. An error that a callback throws ends the stream and reaches the caller. The run continues. */
export interface StepCallbacks {
  /** Called after each step of the run. */
  readonly onCheckpoint?: ((checkpoint: Checkpoint) => void | Promise<void>) | undefined;
  /** Called when a node execution has ended. */
  readonly onTaskResult?: ((result: TaskResult) => void | Promise<void>) | undefined;
}

export const hasCallbacks = ({ onCheckpoint, onTaskResult }: StepCallbacks): boolean =>
  onCheckpoint !== undefined || onTaskResult !== undefined;

type StreamOne = (options: StreamOptions) => AsyncGenerator<StreamItem, void, undefined>;

/** A watch that also calls the callbacks. Its filter on types holds for the events and not for the callbacks. */
export async function* watchWithCallbacks(
  stream: StreamOne,
  { types = [], ...options }: WatchOptions,
  callbacks: StepCallbacks,
): AsyncGenerator<RunEvent, void, undefined> {
  const wanted = new Set(types);
  for await (const item of stream({ ...options, modes: ["debug", ...modesOf(callbacks)] })) {
    await callBack(item, callbacks);
    if (item.event === undefined) continue;
    const { type } = item.event;
    if (wanted.size === 0 || wanted.has(type) || isTerminalEventType(type)) yield item.event;
  }
}

/** Calls the callbacks until the run has ended. */
export async function followWithCallbacks(
  stream: StreamOne,
  options: WatchOptions,
  callbacks: StepCallbacks,
): Promise<void> {
  for await (const item of stream({ ...options, modes: modesOf(callbacks) }))
    await callBack(item, callbacks);
}

const modesOf = ({ onCheckpoint, onTaskResult }: StepCallbacks): readonly StreamMode[] => [
  ...(onTaskResult === undefined ? [] : (["updates"] as const)),
  ...(onCheckpoint === undefined ? [] : (["values"] as const)),
];

async function callBack(item: StreamItem, callbacks: StepCallbacks): Promise<void> {
  const { mode, runId, eventId } = item;
  if (mode === "values") {
    const { state = null, context = null } = membersOf(item.data);
    await callbacks.onCheckpoint?.({ runId, eventId, state, context });
  }
  if (mode !== "updates") return;
  const { nodeId, iteration, attempt, status, output, error } = membersOf(item.data);
  if (typeof nodeId !== "string" || !isSettled(status as NodeStatus)) return;
  await callbacks.onTaskResult?.({
    ...{ runId, eventId, nodeId, iteration: Number(iteration), attempt: Number(attempt) },
    ...{
      status: status as NodeStatus,
      output,
      error: typeof error === "string" ? error : undefined,
    },
  });
}
