// The events that a reader has taken and not yet sent. It gives them out in parts of the size of a message, and lets go of the rest while its
// connection accepts nothing. Then the reader reads them again from the store. So a reader that stops reading costs the message that is under
// way, and not the events behind it.

import type { LoggedEvent } from "./logged-event.ts";

/** A message stays far below the clients' limit, and does not delay the other streams of its connection. */
export const MESSAGE_EVENTS = 256;
export const MESSAGE_BYTES = 32 * 1024;

export class HeldEvents {
  #events: readonly LoggedEvent[] = [];
  #from = 0;
  /** Whether events were let go since the last `put`. */
  isReleased = false;

  put(events: readonly LoggedEvent[]): void {
    this.#events = events;
    this.#from = 0;
    this.isReleased = false;
  }

  /** The next part. Undefined if there is none. */
  next(): readonly LoggedEvent[] | undefined {
    const from = this.#from;
    let bytes = 0;
    for (; this.#from < this.#events.length; this.#from += 1) {
      bytes += this.#events[this.#from]?.bytes ?? 0;
      const count = this.#from - from;
      if (count >= MESSAGE_EVENTS || (count > 0 && bytes > MESSAGE_BYTES)) break;
    }
    return this.#from === from ? undefined : this.#events.slice(from, this.#from);
  }

  release(): void {
    this.isReleased = this.#from < this.#events.length;
    this.#events = [];
    this.#from = 0;
  }
}
