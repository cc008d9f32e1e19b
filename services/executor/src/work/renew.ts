// Keeps every claim alive with one message per period. Each renewal names the held claims, so the scheduler can take back a claim that the
// executor does not hold. After a whole lease without an answer another executor may have the claims: handlers continue (the scheduler
// refuses their outcomes if so), and `isUncertain` reports it. A scheduler that answers no renewals is frozen or cut off, although its stream
// is open: the executor leaves it before the lease is over, in time to find another one.

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

/** So many unanswered renewals mean silence, but never sooner than a busy machine may need. */
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

  /** Takes the scheduler's periods; called for every Registered. */
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

  /** True if the scheduler has been silent for a whole lease: other executors may have the claims. */
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
