// Finds the claim that makes ticks fail. A claimed job is no input, so the loop cannot try it apart. After each failed tick the next ticks
// claim fewer jobs, until a tick claims jobs of one run only. That run is at fault.

import type { RunId } from "@pawl/core/name/ids";

const CLAIMS_MAX = 256;
/** How often the scheduler claims a run again that failed alone, on a fresh fold each time. */
const TRIES_MAX = 2;

export class ClaimBlame {
  readonly #faults = new Map<RunId, number>();
  #max = CLAIMS_MAX;

  /** How many jobs a tick may claim of each type. */
  get max(): number {
    return this.#max;
  }

  /** A tick was committed. */
  succeeded(): void {
    this.#max = Math.min(CLAIMS_MAX, this.#max * 2);
  }

  /** A tick failed that claimed jobs of these runs. Returns the run at fault, once it is known. */
  failed(claimed: readonly RunId[]): RunId | undefined {
    this.#max = Math.max(1, Math.floor(Math.min(this.#max, claimed.length) / 2));
    const [runId, ...others] = claimed;
    if (runId === undefined || others.length > 0) return undefined;
    const faults = (this.#faults.get(runId) ?? 0) + 1;
    this.#faults.set(runId, faults);
    if (faults <= TRIES_MAX) return undefined;
    this.#faults.clear();
    return runId;
  }
}
