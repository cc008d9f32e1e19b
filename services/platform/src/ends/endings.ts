// The runs that ended lately, by the notifications of their ends. A caller that has just started a run asks here before it waits for the
// end, and needs no read.
//
// Race: a run ends before its caller waits at the run's tail. So the caller takes a mark before it starts the run. This file holds a
// notification that came after the mark and before the wait. The tail gets a notification during the wait. The answer is `unknown` if
// notifications may have been lost since the mark, or if too many came. The caller then reads the log. So no end is missed.

import { BoundedMap } from "@pawl/core/data/bounded-map";
import type { RunEvent } from "@pawl/core/log/event";
import type { RunId } from "@pawl/core/name/ids";

/** A moment in the stream of notifications. */
export interface NotificationMark {
  readonly interruptions: number;
  readonly endings: number;
}

interface Ending {
  /** The log reaches at least this seq. */
  readonly seq: number;
  /** Absent if the event was too long to be announced. */
  readonly event?: RunEvent;
}

/** The known state of a run that was started after a mark. */
type EndState = ({ readonly kind: "over" } & Ending) | { readonly kind: "alive" | "unknown" };

/** At least this many ends are kept. They take seconds to arrive, and a caller's own start takes milliseconds. */
export const ENDINGS_MAX = 4_096;

export class Endings {
  readonly #recent = new BoundedMap<RunId, Ending>(ENDINGS_MAX);
  #interruptions = 0;
  #endings = 0;

  /** Notes that a run ended. `event` is its last event, if the notification had it. */
  note(runId: RunId, seq: number, event?: RunEvent): void {
    this.#endings += 1;
    if (event !== undefined) this.#recent.set(runId, { seq, event });
    // The event arrives before the notification that names the same run.
    else if (this.#recent.get(runId) === undefined) this.#recent.set(runId, { seq });
  }

  /** Notes that notifications may have been lost. */
  interrupt(): void {
    this.#interruptions += 1;
  }

  /** The present moment. Take it before you start the run. */
  mark(): NotificationMark {
    return { interruptions: this.#interruptions, endings: this.#endings };
  }

  /** Whether a run that was started after `mark` has ended. */
  stateOf(runId: RunId, mark: NotificationMark): EndState {
    const ending = this.#recent.get(runId);
    if (ending !== undefined) return { kind: "over", ...ending };
    const isWhole =
      this.#interruptions === mark.interruptions && this.#endings - mark.endings <= ENDINGS_MAX;
    return { kind: isWhole ? "alive" : "unknown" };
  }
}
