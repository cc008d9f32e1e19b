// Parses server-sent events from bytes by the rules of the HTML standard. Lines end in LF, CRLF or CR, wherever the network cut them.
// Comments and unknown fields are skipped. Several data lines are one text with line feeds between. It is more lenient in one point: an
// event without its blank line at the end of the stream still counts.

/** One event: the name of its type ("" if it has none) and its data. */
export interface SseEvent {
  readonly event: string;
  readonly data: string;
}

/** The stream is longer than allowed. */
export class SseOverflow extends Error {
  override readonly name = "SseOverflow";
}

export interface SseLimits {
  /** For the whole stream. */
  readonly bytesMax: number;
  /** For one event. */
  readonly eventBytesMax: number;
}

const LINE_END = /\r\n|\n|\r/;

/** Events in order of arrival. @throws SseOverflow */
export async function* sseEvents(
  source: AsyncIterable<Uint8Array>,
  limits: SseLimits,
): AsyncGenerator<SseEvent> {
  const decoder = new TextDecoder();
  const reader = new EventReader();
  let bytes = 0;
  let rest = "";
  let isHalf = false;
  for await (const part of source) {
    bytes += part.length;
    if (bytes > limits.bytesMax) throw new SseOverflow(`more than ${limits.bytesMax} bytes`);
    const text = decoder.decode(part, { stream: true });
    // A line is scanned once, when its end is here, and not with every piece of it.
    const isWhole = isHalf || LINE_END.test(text);
    rest += text;
    if (isWhole) {
      // A CR at the very end may be half of a CRLF, so it waits for the next byte.
      isHalf = rest.endsWith("\r");
      const lines = (isHalf ? rest.slice(0, -1) : rest).split(LINE_END);
      rest = (lines.pop() ?? "") + (isHalf ? "\r" : "");
      for (const line of lines) {
        const event = reader.take(line);
        if (event !== undefined) yield event;
      }
    }
    if (rest.length + reader.length > limits.eventBytesMax)
      throw new SseOverflow(`an event of more than ${limits.eventBytesMax} bytes`);
  }
  for (const line of [...(rest + decoder.decode()).split(LINE_END), ""]) {
    const event = reader.take(line);
    if (event !== undefined) yield event;
  }
}

/** Collects the lines of one event until a blank line ends it. */
class EventReader {
  #event = "";
  #data: string[] = [];
  /** How much is collected. */
  length = 0;

  take(line: string): SseEvent | undefined {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const raw = colon < 0 ? "" : line.slice(colon + 1);
    const value = raw.startsWith(" ") ? raw.slice(1) : raw;
    if (field === "data") {
      this.#data.push(value);
      this.length += value.length;
    } else if (field === "event") this.#event = value;
    return undefined;
  }

  #dispatch(): SseEvent | undefined {
    const event = { event: this.#event, data: this.#data.join("\n") };
    const isEmpty = this.#data.length === 0;
    this.#event = "";
    this.#data = [];
    this.length = 0;
    return isEmpty ? undefined : event;
  }
}
