// Whether the store accepts commits, by the experience of the loop. Readiness shows it, and the loop waits before the next try.

import type { EngineError } from "@pawl/core/fault/engine-error";
import { createBackoff } from "@pawl/platform/lifecycle/backoff";

const WAIT_MS = { initialMs: 200, maxMs: 1_000 } as const;
/** One failure may be a broken connection. From the second failure in a row on, commands are refused at once. */
const DOWN_FAILURES = 2;

export class StoreHealth {
  readonly #backoff = createBackoff(WAIT_MS);
  #failure: EngineError | undefined;
  #count = 0;

  /** Called when commits begin to fail, and when one succeeds again. */
  onChange: (isServing: boolean) => void = () => {};

  /** Why the last commit failed, if the store was the reason. */
  get failure(): EngineError | undefined {
    return this.#failure;
  }

  /** The same failure, from the second one in a row on. */
  get downFailure(): EngineError | undefined {
    return this.#count >= DOWN_FAILURES ? this.#failure : undefined;
  }

  /** The store refused a commit. Returns the wait before the next one. */
  failed(error: EngineError): number {
    const isNew = this.#failure === undefined;
    this.#failure = error;
    this.#count += 1;
    if (isNew) this.onChange(false);
    return this.#backoff.nextMs();
  }

  /** The store accepted a commit. */
  works(): void {
    if (this.#failure === undefined) return;
    this.#failure = undefined;
    this.#count = 0;
    this.#backoff.reset();
    this.onChange(true);
  }
}
