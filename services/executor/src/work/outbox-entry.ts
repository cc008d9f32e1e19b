// The unacknowledged messages of one claim: stream deltas and log lines until Streamed acknowledges them, questions until they are
// answered, then the outcome until Settled or ClaimLost answers it. They keep their order, because they are sent again in that order.

import { LIMITS } from "@pawl/core/data/limits";
import type { Media } from "@pawl/core/log/event";
import type { Claim } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { Asks } from "./asks.ts";
import type { FencedWriter, OutcomeInit, WorkerItemInit } from "./fenced-writer.ts";

/** With more unacknowledged output than this, a handler waits. */
const UNACKED_BYTES_MAX = 1024 * 1024;
const UNACKED_ITEMS_MAX = 1_000;

/** A delta or a log line. Its text may still grow until it is sent. */
export interface Said {
  readonly kind: "delta" | "log";
  readonly index: number;
  readonly level: string;
  text: string;
  readonly media?: Media;
  /** For a log line: how many bytes were cut. */
  readonly cutBytes?: number;
  bytes: number;
  isSent: boolean;
}

export class OutboxEntry {
  readonly writer: FencedWriter;
  readonly asks = new Asks();
  outcome: OutcomeInit | undefined;
  /** How many of its messages wait to be sent. */
  queued = 0;
  /** How often all messages were sent again since the last acknowledgement, and how many checks remain until the next time. */
  repeats = 0;
  looksLeft = 0;
  /** The claim is over: none of its messages may be sent. */
  isDropped = false;
  /** Unacknowledged output, oldest first. */
  said: Said[] = [];
  #bytes = 0;
  #nextDelta: number;
  #logCount = 0;
  #waiters: (() => void)[] = [];

  constructor(writer: FencedWriter, firstDeltaIndex = 0) {
    this.writer = writer;
    this.#nextDelta = firstDeltaIndex;
  }

  get claim(): Claim {
    return this.writer.claim;
  }

  get key(): string {
    return this.writer.key;
  }

  /** Whether it waits for an answer of a scheduler. */
  get isUnacknowledged(): boolean {
    return this.outcome !== undefined || this.said.length > 0 || this.asks.open.length > 0;
  }

  /** Adds a delta, or joins it to the newest one if that is not sent yet. Undefined if it was joined. */
  addDelta(text: string): Said | undefined {
    const bytes = Buffer.byteLength(text);
    const last = this.said.at(-1);
    const isOpen = last?.kind === "delta" && last.media === undefined && !last.isSent;
    if (!isOpen || last.bytes + bytes > LIMITS.deltaBytes)
      return this.#push({ kind: "delta", index: this.#nextDelta++, level: "", text, bytes });
    this.#bytes += bytes;
    last.text += text;
    last.bytes += bytes;
    return undefined;
  }

  /** Adds media, which has its own place among the deltas. */
  addMedia(media: Media): Said {
    const bytes = media.url.length + media.mime.length;
    const index = this.#nextDelta++;
    return this.#push({ kind: "delta", index, level: "", text: "", media, bytes });
  }

  addLog(level: string, text: string, cutBytes = 0): Said {
    const bytes = Buffer.byteLength(text);
    return this.#push({ kind: "log", index: this.#logCount++, level, text, bytes, cutBytes });
  }

  /** Removes committed output and lets waiting handlers continue. */
  acknowledge(deltaCount: number, logCount: number): void {
    this.said = this.said.filter(
      ({ kind, index }) => index >= (kind === "delta" ? deltaCount : logCount),
    );
    this.repeats = 0;
    this.#bytes = this.said.reduce((sum, said) => sum + said.bytes, 0);
    if (!this.isFull()) this.#wake();
  }

  isFull(): boolean {
    return this.#bytes > UNACKED_BYTES_MAX || this.said.length > UNACKED_ITEMS_MAX;
  }

  /** Settles when there is room for more output, or when the claim is over. */
  async room(): Promise<void> {
    if (this.isDropped || !this.isFull()) return;
    await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  drop(): void {
    this.isDropped = true;
    this.said = [];
    this.asks.close();
    this.#wake();
  }

  #push(output: Omit<Said, "isSent">): Said {
    const said = { ...output, isSent: false };
    this.#bytes += said.bytes;
    this.said.push(said);
    return said;
  }

  #wake(): void {
    for (const wake of this.#waiters.splice(0)) wake();
  }
}

/** Wire form of one piece of output. */
export const saidItem = (writer: FencedWriter, said: Said): WorkerItemInit =>
  said.kind === "delta"
    ? writer.delta(said.index, said.text, said.media)
    : writer.log(said.index, said.level, said.text, said.cutBytes ?? 0);
