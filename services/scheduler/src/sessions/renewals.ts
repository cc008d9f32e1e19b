// Gathers the renewals of all executors into one UPDATE a period, for any number of executors and claims.
//
// A renewal may wait a period for its statement, so a silent executor lives for at most a lease and a period. An executor that was frozen
// past its lease does not wait. It gets no claim until its renewal is written. Otherwise the sweep would take the claim back at once.
//
// Races. The stream of an executor breaks: it is dropped here. The statement that shortens its life follows any renewal on the same
// connection. The database is down: renewals fail and are sent again a period later, and until then no executor counts as dead
// (duties/lease-grace.ts). A newer session, here or at another scheduler, represents the executor: the store renews nothing for the older
// session, and that session ends.

import type { Executors } from "@pawl/platform/store/leases/leases";
import type { Logger } from "@pawl/platform/telemetry/log";
import type { Session } from "./session.ts";

/** Executors that started together renew together. */
const GATHER_MS = 20;

interface RenewalsOptions {
  readonly executors: Executors;
  readonly leaseMs: number;
  readonly renewMs: number;
  readonly log: Logger;
  /** The database did not accept a renewal. */
  readonly onFailure: () => void;
  /** An executor whose life had ended is alive again and has room. */
  readonly onRevived: () => void;
}

export class Renewals {
  readonly #options: RenewalsOptions;
  readonly #waiting = new Map<string, Session>();
  #timer: NodeJS.Timeout | undefined;
  #sentAt = -Infinity;

  constructor(options: RenewalsOptions) {
    this.#options = options;
  }

  /** An executor renewed. */
  add(session: Session): void {
    this.#waiting.set(session.sessionId, session);
    const now = performance.now();
    const soon = now + GATHER_MS;
    if (session.isExpired) this.#arm(soon, now);
    else if (this.#timer === undefined)
      this.#arm(Math.max(soon, this.#sentAt + this.#options.renewMs), now);
  }

  /** The connection of a session ended, so its renewals do not count any more. */
  drop(session: Session): void {
    this.#waiting.delete(session.sessionId);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#waiting.clear();
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
    const sessions = [...this.#waiting.values()];
    this.#waiting.clear();
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
