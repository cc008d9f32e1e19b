// Leaves a peer that sends nothing for too long.

/** The same messages. The timer runs only while this waits for the peer. */
export async function* audible<Message>(
  messages: AsyncIterable<Message>,
  connection: AbortController,
  silenceMs: number,
): AsyncGenerator<Message, void, undefined> {
  let timer = setTimeout(() => connection.abort(), silenceMs);
  try {
    for await (const message of messages) {
      clearTimeout(timer);
      yield message;
      timer = setTimeout(() => connection.abort(), silenceMs);
    }
  } finally {
    clearTimeout(timer);
  }
}
