// Decides what happens while the store does not accept commits. Commands are refused with STORE_UNAVAILABLE. Reports of executors are kept
// and tried again at growing intervals, without an end. If the server answers at all, it may fail on one run only. Smaller batches find
// that run, and it waits aside. If no input waits, a probe finds out when the store accepts commits again.

import { EngineError } from "@pawl/core/fault/engine-error";
import { isOfServer, storeUnavailable } from "@pawl/platform/db/failure";
import type { Recovery } from "@pawl/platform/store/recovery/recovery";
import type { Aside } from "./aside.ts";
import type { Inbox } from "../inputs/inbox.ts";
import { isCommand } from "../inputs/command.ts";
import { type Input, rejectAll, runsOf } from "../inputs/input.ts";
import type { StoreHealth } from "./store-health.ts";
import type { TickReport } from "./tick.ts";

const BATCH_MAX = 256;

interface StoreWaitParts {
  readonly recovery: Pick<Recovery, "probe">;
  readonly store: StoreHealth;
  readonly inbox: Inbox;
  readonly aside: Aside;
}

export class StoreWait {
  readonly #parts: StoreWaitParts;
  #batchMax = BATCH_MAX;

  constructor(parts: StoreWaitParts) {
    this.#parts = parts;
  }

  /** How many inputs a tick takes: fewer while the store fails, so that one run cannot block all others. */
  get batchMax(): number {
    return this.#batchMax;
  }

  /** A tick was committed. */
  succeeded({ hasWritten }: Pick<TickReport, "hasWritten">): void {
    const { store, aside } = this.#parts;
    this.#batchMax = Math.min(BATCH_MAX, this.#batchMax * 4);
    if (!hasWritten || store.failure === undefined) return;
    store.works();
    aside.hurry();
  }

  /** Finds out whether the store accepts commits again. */
  async probe(): Promise<void> {
    try {
      await this.#parts.recovery.probe();
    } catch (error) {
      return await this.after(error, [], { isAlone: false });
    }
    this.succeeded({ hasWritten: true });
  }

  /** Keeps the reports of executors, and waits. It does not wait for one run that was tried alone (`isAlone`). */
  async after(
    error: unknown,
    batch: readonly Input[],
    { isAlone }: { readonly isAlone: boolean },
  ): Promise<void> {
    const { store, inbox, aside } = this.#parts;
    const failure = error instanceof EngineError ? error : storeUnavailable(error);
    rejectAll(batch.filter(isCommand), failure);
    const rest = batch.filter((input) => !isCommand(input));
    const runs = runsOf(rest);
    if (runs.length === 1 && (isAlone || this.#batchMax === 1))
      for (const runId of runs) aside.hold(runId, rest, { error: failure });
    else inbox.putBack(rest);
    const mayBeOneRun = !isOfServer(error);
    if (isAlone && mayBeOneRun && store.failure === undefined) return;
    if (mayBeOneRun && batch.length > 0)
      this.#batchMax = Math.max(1, Math.floor(Math.min(this.#batchMax, batch.length) / 2));
    const waitMs = store.failed(failure);
    // With smaller batches, callers would wait longer for the error.
    if (store.downFailure !== undefined) rejectAll(inbox.pull(isCommand), failure);
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}
