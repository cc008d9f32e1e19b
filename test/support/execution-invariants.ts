// Invariants of the events of one node execution.
import type { LoggedFact } from "@pawl/core/log/event";

const SETTLING: ReadonlySet<string> = new Set([
  "node.completed",
  "node.failed",
  "node.timed_out",
  "node.cancelled",
  "node.skipped",
]);
/** Only an executor can be the cause, timeouts aside; others carry epoch 0 where the engine decided. */
const BY_EXECUTOR: ReadonlySet<string> = new Set([
  "node.completed",
  "node.retried",
  "node.timed_out",
  "node.stream.delta",
  "node.log",
  "run.recovered",
]);

/** The engine ended a claim that was past its node's timeout: failed, tried again, or handled. */
const isOverdue = (event: LoggedFact): boolean =>
  event.type === "node.timed_out" ||
  (event.type === "node.retried" && event.payload.cause === "timeout") ||
  (event.type === "node.completed" && event.payload.handle === "error");

const ENDS_CLAIM: ReadonlySet<string> = new Set(["node.completed", "node.blocked"]);

/** One node execution: claims in order, each after its own queueing, and at most one end. */
export function checkExecution(
  events: readonly LoggedFact[],
  report: (seq: number, rule: string) => void,
): void {
  let epoch = 0;
  let queuedAttempt = 0;
  let settled = 0;
  /** It gave its claim back and waits for its iterations or its child run: the engine decides its end. */
  let waits = false;
  let previous = "";
  let previousSeq = 0;
  for (const event of events) {
    const { seq, type, attempt } = event;
    if (type === "node.expanded" || type === "node.blocked") waits = true;
    // The scheduler itself completes a node without a claim: a glue node, or a failure that error handling turns into handle `error`.
    const isUnclaimed = epoch === 0 || previous === "run.recovered" || previous === "node.queued";
    const isHandled = type === "node.completed" && isUnclaimed;
    // An execution writes the memory directly behind the event that ended its claim, in the same commit.
    if (type === "memory.updated") {
      // A repaired run takes writes over without the executions that made them.
      if (event.payload.reused !== undefined) continue;
      if (!ENDS_CLAIM.has(previous) || seq !== previousSeq + 1)
        report(seq, `${type} of ${event.nodeId}, which follows no end of a claim`);
      continue;
    }
    previous = type;
    if (type === "node.invalidated") {
      if (settled === 0) report(seq, `${type} of ${event.nodeId}, which is not settled`);
      if (event !== events.at(-1)) report(seq, `${event.nodeId} moves after its round`);
      continue;
    }
    previousSeq = seq;
    if (settled > 0) report(seq, `${type} of ${event.nodeId}, which settled at ${settled}`);
    if (SETTLING.has(type)) settled = seq;
    if (type === "node.queued") {
      if (queuedAttempt !== 0) report(seq, `${event.nodeId} is queued twice`);
      queuedAttempt = attempt;
    } else if (type === "node.started") {
      if (queuedAttempt !== attempt) report(seq, `${event.nodeId} starts ${attempt}, not queued`);
      if (event.epoch !== seq) report(seq, `the epoch ${event.epoch} is not its own seq`);
      if (event.epoch <= epoch) report(seq, `the epoch ${event.epoch} follows ${epoch}`);
      ({ epoch } = event);
      queuedAttempt = 0;
    } else if (
      event.epoch === 0
        ? BY_EXECUTOR.has(type) && !waits && !isHandled && !isOverdue(event)
        : event.epoch !== epoch
    )
      report(seq, `${type} of epoch ${event.epoch} under claim ${epoch}`);
  }
}
