// Keeps every claim alive with one message per period. Each renewal names the held claims, so the scheduler can take back a claim that the
// executor does not hold. After a whole lease without an answer, another executor may have the claims. Handlers still continue, and the
// scheduler refuses their outcomes. A scheduler that answers no renewals is frozen or cut off, although its stream is open. The executor
// leaves it before the lease ends, in time to find another one.

import { probe } from "@pawl/platform/lifecycle/probe";
import type { Registered } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { renewal, type Silence } from "./fenced-writer.ts";
import type { Outbox } from "./outbox.ts";
import type { Session } from "./session.ts";

/** This many unanswered renewals mean silence, but never sooner than a busy machine may need. */
const UNANSWERED_MAX = 2;
const SILENCE_MS_MIN = 2_000;

export class Renew {
  readonly #outbox: Outbox;
  readonly #session: Session;
  readonly #silence: () => Silence;
  #timer: NodeJS.Timeout | undefined;
  #watch: NodeJS.Timeout | undefined;
  #renewMs = 0;

  /** `silence` is that of the user's process behind the session. */
  constructor(outbox: Outbox, session: Session, silence: () => Silence) {
    this.#outbox = outbox;
    this.#session = session;
    this.#silence = silence;
  }

  /** Uses the scheduler's period. It is called for every Registered. */
  adopt({ renewMs }: Registered): void {
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

  #listen(): void {
    const silentMs = performance.now() - this.#session.lastHeardAt;
    const isSilent = silentMs > Math.max(SILENCE_MS_MIN, UNANSWERED_MAX * this.#renewMs);
    if (this.#session.isRegistered && isSilent) this.#session.giveUp();
  }

  #renew(): void {
    if (!this.#session.isRegistered) return;
    probe("lease.before-renew");
    this.#outbox.control(renewal(this.#outbox.held(), this.#silence()));
  }
}
