// What executors say to stay alive, gathered into one UPDATE a period, however many executors and claims there are.
//
// A renewal may wait a period for the statement it goes with, so an executor that falls silent lives a lease and a period at most. One
// whose life is over already, since it was frozen past its lease, does not wait: it is given nothing until it is alive again, or the
// sweep would take it back at once.
// Races survived: an executor whose stream broke is not kept alive by what it said before (it is dropped here, and the statement that
// shortens its life follows a renewal already sent on the same connection); while the database is away renewals fail, are said
// again a period later, and until then nobody is taken for dead (sweep/lease-grace.ts); a newer session, here or at another scheduler,
// speaks for the executor: the store renews nothing for the older one, which is ended.

import type { Executors } from "@pawl/platform/store/leases/leases";
import type { Logger } from "@pawl/platform/telemetry/log";
import type { Session } from "./session.ts";

/** Executors that began together renew together. */
const GATHER_MS = 20;

export interface RenewalsOptions {
  readonly executors: Executors;
  readonly leaseMs: number;
  readonly renewMs: number;
  readonly log: Logger;
  /** The database did not take a renewal. */
  readonly onFailure: () => void;
  /** An executor whose life was over is alive again, and has room. */
  readonly onRevived: () => void;
}

export class Renewals {
  readonly #options: RenewalsOptions;
  readonly #said = new Map<string, Session>();
  #timer: NodeJS.Timeout | undefined;
  #sentAt = -Infinity;

  constructor(options: RenewalsOptions) {
    this.#options = options;
  }

  /** An executor says that it lives. */
  add(session: Session): void {
    this.#said.set(session.sessionId, session);
    const now = performance.now();
    const soon = now + GATHER_MS;
    if (session.isExpired) this.#arm(soon, now);
    else if (this.#timer === undefined)
      this.#arm(Math.max(soon, this.#sentAt + this.#options.renewMs), now);
  }

  /** Its connection ended: what it said on it counts no more. */
  drop(session: Session): void {
    this.#said.delete(session.sessionId);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#said.clear();
  }

  #refuse(session: Session): void {
    const { executorId } = session;
    this.#options.log.warn({ executor_id: executorId }, "refused the renewal of an older session");
    session.supersede();
  }

  #arm(dueAt: number, now: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#send(), dueAt - now);
  }

  async #send(): Promise<void> {
    const { executors, leaseMs, log, onFailure, onRevived } = this.#options;
    this.#timer = undefined;
    const sessions = [...this.#said.values()];
    this.#said.clear();
    const sentAt = performance.now();
    this.#sentAt = sentAt;
    try {
      const current = await executors.renew(sessions, leaseMs);
      const renewed = sessions.filter(({ sessionId }) => current.has(sessionId));
      const isRevival = renewed.some(({ isExpired }) => isExpired);
      for (const session of renewed) session.renewed(sentAt, leaseMs);
      for (const session of sessions) if (!renewed.includes(session)) this.#refuse(session);
      if (isRevival) onRevived();
    } catch (error) {
      onFailure();
      log.warn({ err: error, executors: sessions.length }, "a renewal failed");
    }
  }
}
