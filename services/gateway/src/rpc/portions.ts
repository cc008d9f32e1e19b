// Cuts events into messages that are so small that other streams of the connection are not delayed.

import type { LoggedEvent } from "../watch/logged-event.ts";

/** A message stays far below the clients' limit, and does not delay the other streams of its connection. */
const MESSAGE_EVENTS = 256;
const MESSAGE_BYTES = 64 * 1024;

/** The same events in order, in parts of the size of a message. No events make no part. */
export function* portions(batch: readonly LoggedEvent[]): Generator<readonly LoggedEvent[]> {
  let from = 0;
  let bytes = 0;
  for (const [index, event] of batch.entries()) {
    const isFull = index - from >= MESSAGE_EVENTS || bytes + event.bytes > MESSAGE_BYTES;
    if (isFull && index > from) {
      yield batch.slice(from, index);
      from = index;
      bytes = 0;
    }
    bytes += event.bytes;
  }
  if (from < batch.length) yield from === 0 ? batch : batch.slice(from);
}
