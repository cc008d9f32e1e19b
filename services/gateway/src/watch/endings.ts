// Which runs were said to be over lately, so that a caller who waits for the end of a run it has only just started need not look
// whether that has been already.
//
// The race it survives: a run may end before its caller sits at its tail. The caller takes a mark before it asks for the run, so a
// hint of the end either came after the mark and before the seat (it is remembered here, also when somebody else watched the run
// and has left), or it comes after the seat was taken (the seat gets it), or hints were interrupted since the mark, or more of
// them came than are remembered (the answer is `unheard`, and the caller looks for itself). So nothing is missed.

import type { RunEvent } from "@pawl/core/log/event";
import type { RunId } from "@pawl/core/name/ids";

/** A moment in the stream of hints. */
export interface HintMark {
  readonly interruptions: number;
  readonly endings: number;
}

/** What hints have said of a run since a mark: that it is over, nothing of the kind, or that they cannot tell. */
export type Heard =
  | { readonly kind: "over"; readonly seq: number; readonly event?: RunEvent }
  | { readonly kind: "alive" }
  | { readonly kind: "unheard" };

interface Ending {
  readonly seq: number;
  readonly event?: RunEvent;
}

/** So many are remembered at least; a gateway hears of that many ends in seconds, and of its own caller's start in milliseconds. */
export const ENDINGS_MAX = 4_096;

export class Endings {
  #interruptions = 0;
  #endings = 0;
  // Two halves, the older of which is dropped whole: nothing is searched for or deleted one by one.
  #newer = new Map<RunId, Ending>();
  #older: ReadonlyMap<RunId, Ending> = new Map();

  /** The run is said to be over, its log reaching `seq`, perhaps with its last event. */
  note(runId: RunId, seq: number, event?: RunEvent): void {
    if (this.#newer.size >= ENDINGS_MAX) {
      this.#older = this.#newer;
      this.#newer = new Map();
    }
    this.#endings += 1;
    if (event !== undefined) this.#newer.set(runId, { seq, event });
    // The event comes before the hint that names the run among others.
    else if (!this.#newer.has(runId)) this.#newer.set(runId, { seq });
  }

  /** Hints may have been lost. */
  interrupt(): void {
    this.#interruptions += 1;
  }

  /** To be taken before a run is asked for. */
  mark(): HintMark {
    return { interruptions: this.#interruptions, endings: this.#endings };
  }

  /** What was heard since `mark` of a run that was not there before it. */
  heard(runId: RunId, mark: HintMark): Heard {
    const ending = this.#newer.get(runId) ?? this.#older.get(runId);
    if (ending !== undefined) return { kind: "over", ...ending };
    const isWhole =
      this.#interruptions === mark.interruptions && this.#endings - mark.endings <= ENDINGS_MAX;
    return { kind: isWhole ? "alive" : "unheard" };
  }
}
