// One stream over many connections, for streams that keep several places at once. Races: a connection breaks between any two messages, a
// gateway drains or is killed, a peer is silent, events repeat or are missing. The place of each run moves only with its events, and every
// connection is asked to continue after them. So every event comes once and in order.

import { audible } from "./audible.ts";
import { backoffMs, type Clock, followSignal } from "./backoff.ts";
import { PawlError } from "./errors.ts";
import { Gap, GapCount, streamError } from "./stream-error.ts";

const SILENCE_MS = 45_000;
/** Connections in a row without news, until the last error is thrown. */
const ATTEMPTS_MAX = 30;

export interface Reconnecting<Message, Entry> {
  /** Opens a connection at the present place. */
  readonly open: (signal: AbortSignal) => AsyncIterable<Message>;
  /** What the caller gets of a message. @throws Gap */
  take(message: Message): Iterable<Entry>;
  /** Whether the caller has everything. `isEnd` if the gateway ended the stream without an error. */
  isOver(isEnd: boolean): boolean;
  /** What an end of the stream before it was over means, for people. */
  readonly early: string;
  readonly signal: AbortSignal | undefined;
  readonly silenceMs: number | undefined;
  /** Called before every reconnect. */
  readonly onReconnect?: ((error: PawlError) => void) | undefined;
}

/** Yields until the stream is over or aborted. @throws PawlError for an error that no reconnect removes */
export async function* reconnecting<Message, Entry>(
  stream: Reconnecting<Message, Entry>,
  clock: Clock,
): AsyncGenerator<Entry, void, undefined> {
  const signal = stream.signal ?? new AbortController().signal;
  const gaps = new GapCount();
  for (let retry = 0; !signal.aborted;) {
    const connection = new AbortController();
    followSignal(connection, signal);
    let error = new PawlError("UNREACHABLE", stream.early);
    let isEnd = false;
    try {
      for await (const message of messagesOf(stream, connection)) {
        retry = 0;
        yield* stream.take(message);
      }
      isEnd = !connection.signal.aborted;
    } catch (thrown) {
      if (signal.aborted) return;
      // Any other error is of a callback.
      if (!(thrown instanceof PawlError)) throw thrown;
      error = thrown;
    } finally {
      connection.abort();
    }
    if (signal.aborted || stream.isOver(isEnd)) return;
    if (error instanceof Gap ? gaps.isLasting(error) : !error.retryable) throw error;
    retry += 1;
    if (retry > ATTEMPTS_MAX) throw error;
    stream.onReconnect?.(error);
    await clock.pause(Math.max(backoffMs(retry, clock.random()), error.retryAfterMs ?? 0), signal);
  }
}

/** The messages of one connection. @throws PawlError */
async function* messagesOf<Message>(
  { open, silenceMs = SILENCE_MS }: Reconnecting<Message, unknown>,
  connection: AbortController,
): AsyncGenerator<Message, void, undefined> {
  let hasBegun = false;
  try {
    for await (const message of audible(open(connection.signal), connection, silenceMs)) {
      hasBegun = true;
      yield message;
    }
  } catch (thrown) {
    if (!connection.signal.aborted) throw streamError(thrown, hasBegun);
    throw new PawlError("UNREACHABLE", `the gateway sent nothing for ${silenceMs} ms`);
  }
}
