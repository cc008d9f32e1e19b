// Checks the events of a log before a fold reads them. A gap, a second beginning or an event behind the end is corruption. The reader
// refuses a corrupt log whole, because a state folded from it could be wrong.
//
// When a service loads a run, it checks the events after the snapshot, or all events if there is no snapshot. When it updates a cached
// fold, it checks the new events. `RecheckRun` reads and checks the whole log.

import { EngineError } from "../fault/engine-error.ts";
import { isTerminalType } from "./event.ts";

interface CheckLogOptions {
  /** The caller left out the streamed types: seq must still grow, but may jump. */
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

/** The part of a log after a cursor, with the counts that the store knows. */
export interface ReadLog {
  /** The cursor: the last seq that the reader already has. 0 for the whole log. */
  readonly afterSeq: number;
  /** The last seq of the log, by the run's row. */
  readonly lastSeq: number;
  /** In order of seq, without the streamed types. */
  readonly events: readonly { readonly seq: number; readonly type: string }[];
  /** How many events the log has from the cursor's event (or the first) to the last, with the streamed ones. */
  readonly eventCount: number;
}

/**
 * Checks the events after a cursor. The reader does not read stream deltas, so the number of all events must show a gap or a repeat among
 * them. The cursor's own event must still be in the log: otherwise the log was cut and grew again.
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
      throw corrupt(seq, `is ${type}, and the log continues to ${lastSeq}: nothing may follow it`);
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
