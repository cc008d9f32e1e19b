// Is this a log? Asked once, when a run is loaded: a gap, a second beginning or anything behind the end is corruption, and
// a corrupt log is refused whole rather than folded into a state nobody can trust (S0.37).

import { EngineError } from "../fault/engine-error.ts";
import { isTerminalType } from "./event.ts";

export interface CheckLogOptions {
  /** The caller left the streamed types out: seq must still grow, but may jump. */
  readonly streamedLeftOut?: boolean;
}

/**
 * Checks that seq is contiguous from 1, that run.started is first and only first, and that a terminal event is last.
 * @throws EVENT_LOG_CORRUPTION naming the seq at fault.
 */
export function checkLog(
  events: readonly { readonly seq: number; readonly type: string }[],
  options: CheckLogOptions = {},
): void {
  let last = 0;
  let ended = false;
  for (const { seq, type } of events) {
    const follows = options.streamedLeftOut === true && last > 0 ? seq > last : seq === last + 1;
    if (!follows) throw corrupt(seq, `follows ${last}: the log has a gap or a repeat`);
    if (ended) throw corrupt(seq, "lies behind the end of the run");
    if ((type === "run.started") !== (seq === 1))
      throw corrupt(seq, `is ${type}: run.started must be the first event, and only the first`);
    ended = isTerminalType(type);
    last = seq;
  }
}

const corrupt = (seq: number, what: string): EngineError =>
  new EngineError("EVENT_LOG_CORRUPTION", `event ${seq} ${what}`, {
    metadata: { seq: String(seq) },
  });
