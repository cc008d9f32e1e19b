// The events that receivers of webhooks get of runs that do not name them. The scheduler reads them with every survey of the queues, and adds
// those that it saves itself. So a tick inserts deliveries only if a receiver may want them. PostgreSQL decides which receiver gets which.
//
// Race: a user creates a receiver at another scheduler. This scheduler learns of it with its next survey.

export class Subscriptions {
  #events: ReadonlySet<string> = new Set();

  get events(): ReadonlySet<string> {
    return this.#events;
  }

  /** A survey found these. */
  noticed(events: readonly string[]): void {
    this.#events = new Set(events);
  }

  /** This scheduler saved a receiver of these. */
  add(events: readonly string[]): void {
    this.#events = new Set([...this.#events, ...events]);
  }
}
