// Is this a log? Asked whenever events are read for a fold: a gap, a second beginning or anything behind the end is corruption, and
// a corrupt log is refused whole rather than folded into a state nobody can trust.
//
// What is checked when: loading a run checks everything after its snapshot, or everything when it has none; bringing a cached fold up
// to date checks what is new; `RecheckRun` reads and checks the whole log. What a snapshot stands for is not read again by a load.

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

/** What was read of a log after a cursor, and what else is known of it. */
export interface ReadLog {
  /** The last seq that is taken as read; 0 for the whole log. */
  readonly afterSeq: number;
  /** The last seq there is, as the run's row says. */
  readonly lastSeq: number;
  /** In order of seq, without the streamed types. */
  readonly events: readonly { readonly seq: number; readonly type: string }[];
  /** How many events there are from the cursor's own (or the first) to the last, the streamed ones too. */
  readonly eventCount: number;
}

/**
 * Checks what was read after a cursor. The number of all events shows a gap, or a repeat, that lies behind partial output, which is
 * not read; that the cursor's own event is there shows a log that was cut and grew again.
 * @throws EVENT_LOG_CORRUPTION
 */
export function checkRead({ afterSeq, lastSeq, events, eventCount }: ReadLog): void {
  if (afterSeq > lastSeq)
    throw corrupt(afterSeq, `was folded, and the log ends at ${lastSeq}: it has lost its end`);
  if (afterSeq === 0) checkLog(events, { streamedLeftOut: true });
  let last = afterSeq;
  for (const { seq, type } of events) {
    if (seq <= last) throw corrupt(seq, `follows ${last}: the log has a repeat`);
    if (afterSeq > 0 && type === "run.started")
      throw corrupt(seq, "is run.started: it must be the first event, and only the first");
    if (isTerminalType(type) && seq !== lastSeq)
      throw corrupt(seq, `is ${type}, and the log goes on to ${lastSeq}: nothing may follow it`);
    last = seq;
  }
  const first = Math.max(afterSeq, 1);
  const due = lastSeq - first + 1;
  if (eventCount !== due)
    throw corrupt(
      first,
      `begins ${due} events up to ${lastSeq}, of which the log has ${eventCount}: it has ${eventCount < due ? "a gap" : "repeats"}`,
    );
}

const corrupt = (seq: number, what: string): EngineError =>
  new EngineError("EVENT_LOG_CORRUPTION", `event ${seq} ${what}`, {
    metadata: { seq: String(seq) },
  });
