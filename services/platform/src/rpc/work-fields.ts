// The tags of the worker protocol's hot messages, for the hand-made codec: every field of each message by name, with the byte that
// stands before it on the wire. A test compares them with the descriptors, so that a field added to a message is not forgotten here.

/** Tag of a number or a boolean. */
const varint = (number: number): number => number * 8;
/** Tag of text, bytes or a message: its length follows. */
const delimited = (number: number): number => number * 8 + 2;

/** Of WorkRequest and WorkResponse alike. */
export const MESSAGE = { items: delimited(1) } as const;

/** The cases written and read by hand; what they leave out is any other case. */
export const SCHEDULER_ITEM = { assignment: delimited(2), settled: delimited(3) } as const;
export const WORKER_ITEM = { outcome: delimited(6) } as const;

export const CLAIM = {
  runId: delimited(1),
  nodeId: delimited(2),
  iteration: varint(3),
  epoch: varint(4),
} as const;

export const ASSIGNMENT = {
  claim: delimited(1),
  attempt: varint(2),
  nodeType: delimited(3),
  nodeJson: delimited(4),
  contextJson: delimited(5),
  timeoutMs: varint(6),
  traceparent: delimited(7),
  effectKey: delimited(8),
  workflowId: delimited(9),
  inputApproved: varint(10),
} as const;

export const SETTLED = { claim: delimited(1) } as const;

/** Any result but `completed`, and any gate, is left to protobuf-es. */
export const OUTCOME = {
  claim: delimited(1),
  durationMs: varint(2),
  completed: delimited(3),
  failed: delimited(4),
  expanded: delimited(6),
  childRun: delimited(7),
  held: delimited(8),
  gates: delimited(5),
} as const;

/** One with `usage` is left to protobuf-es. */
export const COMPLETED = {
  outputJson: delimited(1),
  handle: delimited(2),
  queueDelayMs: varint(3),
  usage: delimited(4),
  stop: varint(5),
} as const;
