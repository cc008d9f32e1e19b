// Reads the data of server-sent events from bytes, by the rules of the HTML standard. Lines end in LF, CRLF or CR, and the network may cut
// them anywhere. Comments and other fields are skipped. Several data lines are one text with line feeds between. One point is more lenient:
// an event without its blank line at the end of the stream still counts.

/** The stream is longer than allowed. */
export class SseOverflow extends Error {
  override readonly name = "SseOverflow";
}

const LINE_END = /\r\n|\n|\r/;

/** The data of each event, in order of arrival. The limits are for the whole stream and for one event. @throws SseOverflow */
export async function* sseEvents(
  source: AsyncIterable<Uint8Array>,
  limits: { readonly bytesMax: number; readonly eventBytesMax: number },
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const reader = new EventReader();
  let bytes = 0;
  let rest = "";
  let isHalf = false;
  for await (const part of source) {
    bytes += part.length;
    if (bytes > limits.bytesMax) throw new SseOverflow(`more than ${limits.bytesMax} bytes`);
    const text = decoder.decode(part, { stream: true });
    // A line is scanned once, when it is complete, and not with every piece.
    const isWhole = isHalf || LINE_END.test(text);
    rest += text;
    if (isWhole) {
      // A CR at the very end may be half of a CRLF, so it waits for the next byte.
      isHalf = rest.endsWith("\r");
      const lines = (isHalf ? rest.slice(0, -1) : rest).split(LINE_END);
      rest = (lines.pop() ?? "") + (isHalf ? "\r" : "");
      yield* reader.take(lines);
    }
    if (rest.length + reader.length > limits.eventBytesMax)
      throw new SseOverflow(`an event of more than ${limits.eventBytesMax} bytes`);
  }
  yield* reader.take([...(rest + decoder.decode()).split(LINE_END), ""]);
}

/** Collects the data lines of one event until a blank line ends it. */
class EventReader {
  #data: string[] = [];
  /** The number of collected characters. */
  length = 0;

  *take(lines: readonly string[]): Generator<string> {
    for (const line of lines) {
      if (line === "") {
        if (this.#data.length > 0) yield this.#data.join("\n");
        this.#data = [];
        this.length = 0;
      } else if (line === "data" || line.startsWith("data:")) {
        const raw = line.slice("data:".length);
        const value = raw.startsWith(" ") ? raw.slice(1) : raw;
        this.#data.push(value);
        this.length += value.length;
      }
    }
  }
}
