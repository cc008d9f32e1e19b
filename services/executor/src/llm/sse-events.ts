// Server-sent events out of bytes, by the rules of the HTML standard: lines end in LF, CRLF or CR, wherever the network happened
// to cut them; comments and unknown fields are passed over; several data lines are one text with line feeds between.
// More lenient in one point: an event that the end of the stream cut off before its blank line still counts.

/** One event: the name of its type ("" when it has none) and its data. */
export interface SseEvent {
  readonly event: string;
  readonly data: string;
}

/** The stream said more than it may. */
export class SseOverflow extends Error {
  override readonly name = "SseOverflow";
}

export interface SseLimits {
  /** The whole stream. */
  readonly bytesMax: number;
  /** One event. */
  readonly eventBytesMax: number;
}

const LINE_END = /\r\n|\n|\r/;

/** Events in the order they come. @throws SseOverflow */
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
    // A line is looked through once it has an end, not with every piece of it.
    const isWhole = isHalf || LINE_END.test(text);
    rest += text;
    if (isWhole) {
      // A CR at the very end may be half of a CRLF: it waits for what follows.
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

/** Gathers the lines of one event until a blank one ends it. */
class EventReader {
  #event = "";
  #data: string[] = [];
  /** How much is gathered. */
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
