// Whether the store takes commits, as the tick found out: what readiness tells, and how long to wait before the next try.

import type { EngineError } from "@pawl/core/fault/engine-error";
import { createBackoff } from "@pawl/platform/lifecycle/backoff";

const WAIT_MS = { initialMs: 200, maxMs: 1_000 } as const;
/** One failure may be a connection that broke; commands are refused at once from the second in a row on. */
const DOWN_FAILURES = 2;

export class StoreHealth {
  readonly #backoff = createBackoff(WAIT_MS);
  #failure: EngineError | undefined;
  #count = 0;

  /** Hears when commits begin to fail, and when one succeeds again. */
  onChange: (isServing: boolean) => void = () => {};

  /** Why the last commit failed, where that was the store's fault. */
  get failure(): EngineError | undefined {
    return this.#failure;
  }

  /** The same, once it is more than a connection that broke. */
  get downFailure(): EngineError | undefined {
    return this.#count >= DOWN_FAILURES ? this.#failure : undefined;
  }

  /** The store refused a commit; says how long to wait before the next one. */
  failed(error: EngineError): number {
    const isNew = this.#failure === undefined;
    this.#failure = error;
    this.#count += 1;
    if (isNew) this.onChange(false);
    return this.#backoff.nextMs();
  }

  /** The store took a commit. */
  works(): void {
    if (this.#failure === undefined) return;
    this.#failure = undefined;
    this.#count = 0;
    this.#backoff.reset();
    this.onChange(true);
  }
}
