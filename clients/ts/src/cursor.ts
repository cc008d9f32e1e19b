// The place of a watch in one run's log: the last event seen, and the last delta seen of each node execution. The index of a delta grows
// over all claims of an execution. In logs of older releases each claim counts from 0. Race: the stream repeats, skips or resumes.

import type { RunEvent } from "@pawl/proto/pawl/v1/event_pb";

/**
 * take: the event is new and in order. drop: it was seen before, or is not in the log. gap: an event before it is missing, and the cursor
 * stays.
 */
export type Verdict = "take" | "drop" | "gap";

interface Mark {
  readonly epoch: bigint;
  readonly deltaIndex: number;
}

export interface CursorOptions {
  readonly afterEventId: bigint;
  /** A filter on types makes holes in the ids, so a hole does not mean a lost event. */
  readonly isFiltered: boolean;
}

export class Cursor {
  /** The newest event seen. A resumed stream begins after it. */
  lastEventId: bigint;
  readonly #startEventId: bigint;
  readonly #isFiltered: boolean;
  readonly #marks = new Map<string, Mark>();
  /** The event before which deltas are missing. If they are missing again after a reconnect, the log itself has the gap. */
  #questionedEventId = 0n;

  constructor(options: CursorOptions) {
    this.lastEventId = options.afterEventId;
    this.#startEventId = options.afterEventId;
    this.#isFiltered = options.isFiltered;
  }

  /** Judges one event, and moves past it unless there is a gap. */
  judge(event: RunEvent): Verdict {
    if (event.eventId === 0n || event.eventId <= this.lastEventId) return "drop";
    if (!this.#isFiltered && event.eventId !== this.lastEventId + 1n) return "gap";
    const verdict = event.fact.case === "nodeStreamDelta" ? this.#judgeDelta(event) : "take";
    if (verdict !== "gap") this.lastEventId = event.eventId;
    return verdict;
  }

  #judgeDelta(event: RunEvent): Verdict {
    if (event.fact.case !== "nodeStreamDelta") return "take";
    const { deltaIndex } = event.fact.value;
    const key = `${event.iteration}/${event.nodeId}`;
    const mark = this.#marks.get(key);
    if (mark !== undefined && event.epoch < mark.epoch) return "drop";
    if (mark?.epoch === event.epoch && deltaIndex <= mark.deltaIndex) return "drop";
    if (deltaIndex > this.#expected(mark) && this.#questionedEventId !== event.eventId) {
      this.#questionedEventId = event.eventId;
      return "gap";
    }
    this.#marks.set(key, { epoch: event.epoch, deltaIndex });
    return "take";
  }

  /**
   * The next index of an execution: after its mark, or 0 if the watch began with the log. It is unknown if the watch joined in the middle.
   */
  #expected(mark: Mark | undefined): number {
    if (mark !== undefined) return mark.deltaIndex + 1;
    return this.#startEventId === 0n ? 0 : Number.POSITIVE_INFINITY;
  }
}
