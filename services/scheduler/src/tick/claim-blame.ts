// Finds the claim that makes ticks fail. A job that comes out of a queue is no input, so it cannot be tried apart: each time a tick fails,
// the next ones claim fewer jobs, until a single run is left. That run is at fault.

import type { RunId } from "@pawl/core/name/ids";

const CLAIMS_MAX = 256;
/** How often a run that failed alone is claimed again, on a fresh fold each time. */
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

  /** A tick failed that claimed jobs of these runs. Gives the run at fault, once it is known. */
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
