// Logs of runs for the cases.

import type { EventInit } from "./watch-stream.ts";

export const NODE = "write";
/** The claim under which the node of most logs runs. */
const EPOCH = 2n;

/** Numbers events from 1. */
export const logOf = (...events: readonly EventInit[]): readonly EventInit[] =>
  events.map((event, index) => ({ ...event, eventId: BigInt(index + 1) }));

export const STARTED: EventInit = { type: "run.started" };
export const COMPLETED: EventInit = {
  type: "run.completed",
  fact: { case: "runCompleted", value: {} },
};

export const nodeStarted = (nodeId = NODE, iteration = 0): EventInit => ({
  type: "node.started",
  nodeId,
  iteration,
});

export const nodeCompleted = (nodeId = NODE): EventInit => ({ type: "node.completed", nodeId });

/** A piece of output. */
export const delta = (
  deltaIndex: number,
  { nodeId = NODE, iteration = 0, epoch = EPOCH } = {},
): EventInit => ({
  type: "node.stream.delta",
  nodeId,
  iteration,
  epoch,
  fact: {
    case: "nodeStreamDelta",
    value: { deltaIndex, text: `${nodeId} ${iteration} ${epoch} ${deltaIndex}` },
  },
});

/** A whole log of six events. */
export const LOG = logOf(STARTED, nodeStarted(), delta(0), delta(1), nodeCompleted(), COMPLETED);
