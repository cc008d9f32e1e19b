// Keeps every claim alive with one message per period. Each renewal names what is held, so a claim the scheduler thinks is here
// and is not can be taken back. When nothing was heard for a whole lease the claims may be somebody else's by now: the handlers go
// on (their outcomes are fenced if so), and whoever asks is told. A scheduler that answers no renewals is frozen or cut off although
// its stream stands: it is left before the lease is over, so that another one can be found in time.

import { probe } from "@pawl/platform/lifecycle/probe";
import type { Registered } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { renewal } from "./fenced-writer.ts";
import type { Outbox } from "./outbox.ts";

export interface RenewOptions {
  readonly outbox: Outbox;
  readonly isRegistered: () => boolean;
  readonly lastHeardAt: () => number;
  /** The scheduler has fallen silent. */
  readonly onSilent: () => void;
}

/** So many renewals without an answer; and never sooner than a busy machine may need. */
const UNANSWERED_MAX = 2;
const SILENCE_MS_MIN = 2_000;

export class Renew {
  readonly #options: RenewOptions;
  #timer: NodeJS.Timeout | undefined;
  #watch: NodeJS.Timeout | undefined;
  #renewMs = 0;
  #leaseMs = Infinity;

  constructor(options: RenewOptions) {
    this.#options = options;
  }

  /** Takes the scheduler's periods; called on every Registered. */
  adopt({ renewMs, leaseMs }: Pick<Registered, "renewMs" | "leaseMs">): void {
    this.#leaseMs = Number(leaseMs);
    const every = Math.max(1, Number(renewMs));
    if (every === this.#renewMs && this.#timer !== undefined) return;
    this.stop();
    this.#renewMs = every;
    this.#timer = setInterval(() => this.#renew(), every);
    this.#watch = setInterval(() => this.#listen(), Math.max(SILENCE_MS_MIN, every) / 2);
  }

  stop(): void {
    clearInterval(this.#timer);
    clearInterval(this.#watch);
    this.#timer = undefined;
  }

  /** True when the scheduler has been silent for a whole lease: claims held may have been given to others. */
  get isUncertain(): boolean {
    return performance.now() - this.#options.lastHeardAt() > this.#leaseMs;
  }

  #listen(): void {
    if (!this.#options.isRegistered()) return;
    const silentMs = performance.now() - this.#options.lastHeardAt();
    if (silentMs > Math.max(SILENCE_MS_MIN, UNANSWERED_MAX * this.#renewMs))
      this.#options.onSilent();
  }

  #renew(): void {
    if (!this.#options.isRegistered()) return;
    probe("lease.before-renew");
    this.#options.outbox.control(renewal(this.#options.outbox.held()));
  }
}
