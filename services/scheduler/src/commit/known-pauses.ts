// What this scheduler knows of pauses. A belief only: whatever starts or claims something names the epoch it was decided on, and
// the store refuses an older one, so a scheduler that has heard nothing of a pause reads the pauses again instead of breaking one.
// News come by notification, with every look at the queues, and by that refusal.
//
// The race it survives: two readings under way at once, of which the older is answered last. The higher epoch stays.

import type { Pauses } from "@pawl/platform/store/pauses/pauses";
import { NOTHING_KNOWN, type PauseView, viewOf } from "./pause-view.ts";

export interface KnownPausesOptions {
  readonly pauses: Pick<Pauses, "read">;
  /** Node types of which claims may go on. */
  readonly onResumed: (nodeTypes: readonly string[]) => void;
  /** Some workflow's runs have yet to follow. */
  readonly onUnsettled: () => void;
  readonly onError: (error: unknown) => void;
}

export class KnownPauses {
  readonly #options: KnownPausesOptions;
  #current = NOTHING_KNOWN;

  constructor(options: KnownPausesOptions) {
    this.#options = options;
  }

  get current(): PauseView {
    return this.#current;
  }

  /** Reads the pauses. @throws STORE_UNAVAILABLE */
  async reload(): Promise<PauseView> {
    const { pauses, onResumed, onUnsettled } = this.#options;
    const view = viewOf(await pauses.read());
    const before = this.#current;
    if (view.epoch < before.epoch) return before;
    this.#current = view;
    const resumed = [...before.queues].filter((type) => !view.isQueuePaused(type));
    if (resumed.length > 0) onResumed(resumed);
    if (view.unsettled.length > 0) onUnsettled();
    return view;
  }

  /** Somebody says that the pauses are of this epoch; read if that is news. Never throws, never waits. */
  heard(epoch: number): void {
    if (epoch > this.#current.epoch) this.look();
  }

  /** Reads the pauses behind everybody's back. */
  look(): void {
    this.reload().catch(this.#options.onError);
  }
}
