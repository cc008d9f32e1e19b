// Keeps every message for a scheduler until a scheduler acknowledges it. So the loss of a single message is harmless.
//
// Races. A stream breaks after sending: all unacknowledged messages are queued again, in order, output before its outcome. A scheduler
// loses or rejects a message: unacknowledged messages are sent again after a while (repeats.ts). A claim is lost with messages still
// queued: they are dropped here, so the executor sends nothing more about it. Repeats are harmless: the log's unique keys drop them.
//
// Messages are cut by bytes. An outcome that fits no message becomes a failure that names its size. Media that no scheduler accepts is left
// out, and a log line reports that. Register and Renew name every held claim and cannot be cut. With the largest capacity and as many
// unacknowledged outcomes, they still fit into one message (a test checks that).

import { ChurnMap } from "@pawl/core/data/churn-map";
import { LIMITS } from "@pawl/core/data/limits";
import { cleanText } from "@pawl/core/handler/settle";
import type { Media } from "@pawl/core/log/event";
import type { Claim } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { Batch } from "@pawl/platform/rpc/batch";
import { wireBytes } from "@pawl/platform/rpc/wire-bytes";
import type { Timers } from "@pawl/platform/lifecycle/timers";
import { failed } from "../run/outcome.ts";
import type { Ask } from "./asks.ts";
import { claimKey, fencedWriter, type OutcomeInit, type WorkerItemInit } from "./fenced-writer.ts";
import { OutboxEntry, saidItem, type Said } from "./outbox-entry.ts";
import { Repeats } from "./repeats.ts";

/** Items of one message: the scheduler handles a message in one turn of its event loop. */
const ITEMS_MAX = 1_000;

/** A piece of output or a question. If neither is set, the entry's outcome. */
interface Queued {
  readonly entry: OutboxEntry;
  readonly said?: Said;
  readonly ask?: Ask;
}

export class Outbox {
  readonly #entries = new ChurnMap<string, OutboxEntry>();
  readonly #onItems: () => void;
  #control: WorkerItemInit[] = [];
  #queue: Queued[] = [];
  #head = 0;
  readonly #emptyWaiters: (() => void)[] = [];
  readonly #repeats: Repeats;

  /** `onItems` is called whenever there is something to send. */
  constructor(onItems: () => void, timers?: Timers) {
    this.#onItems = onItems;
    const entries = () => this.#entries.values();
    this.#repeats = new Repeats(entries, (entry) => this.#queueAll(entry), timers);
  }

  /** Starts to hold a claim. Its deltas count from `firstDeltaIndex` on. */
  open(claim: Claim, firstDeltaIndex = 0): OutboxEntry {
    const entry = new OutboxEntry(fencedWriter(claim), firstDeltaIndex);
    this.#entries.set(entry.key, entry);
    return entry;
  }

  find(claim: Claim): OutboxEntry | undefined {
    return this.#entries.get(claimKey(claim));
  }

  /** Every held claim: running, or ended and not acknowledged yet. */
  held(): readonly Claim[] {
    return Array.from(this.#entries.values(), (entry) => entry.claim);
  }

  /** Streams text. A long text is cut into pieces. Settles when the handler may send more. */
  async delta(entry: OutboxEntry, text: string): Promise<void> {
    for (const piece of pieces(cleanText(text, text.length))) {
      if (entry.isDropped) return;
      const said = entry.addDelta(piece);
      if (said !== undefined) this.#push({ entry, said });
    }
    await entry.room();
  }

  /** Streams media, in order with the text. Settles when the handler may send more. */
  async media(entry: OutboxEntry, media: Media): Promise<void> {
    if (entry.isDropped) return;
    const { url, mime } = media;
    if (url.length > LIMITS.deltaBytes) {
      const text = `media of ${url.length} characters was left out; at most ${LIMITS.deltaBytes}`;
      return this.log(entry, "warn", text);
    }
    const clean = { url: cleanText(url, url.length), mime: cleanText(mime, LIMITS.mimeLength) };
    this.#push({ entry, said: entry.addMedia(clean) });
    await entry.room();
  }

  /** A log line, cut to its limit. Lines are dropped while the outbox is full, because they are not facts of the log. */
  log(entry: OutboxEntry, level: string, message: string): void {
    if (entry.isDropped || entry.isFull()) return;
    const kept = cut(message, LIMITS.logMessageBytes);
    const cutBytes = Buffer.byteLength(message.slice(kept.length));
    this.#push({ entry, said: entry.addLog(level, kept, cutBytes) });
  }

  /** Sends a question until it is answered. Each has its own name. Rejects with STALE_CLAIM if the claim is lost first. */
  async ask<T>(entry: OutboxEntry, name: string, item: WorkerItemInit): Promise<T> {
    const ask = entry.asks.add(name, item);
    if (!entry.isDropped) this.#push({ entry, ask });
    // The answer to this name has the type that its item asks for.
    return (await ask.answer.promise) as T;
  }

  /** The end of an attempt, sent until it is acknowledged. */
  outcome(entry: OutboxEntry, outcome: OutcomeInit): void {
    if (entry.isDropped) return;
    entry.outcome = fitting(outcome);
    this.#push({ entry });
  }

  /** Stops holding a claim: it is settled, lost, cancelled or released. */
  close(entry: OutboxEntry): void {
    entry.drop();
    this.#entries.delete(entry.key);
    if (this.#entries.size === 0) for (const wake of this.#emptyWaiters.splice(0)) wake();
  }

  /** A message about the session itself: sent before everything queued, and not again after a reconnect. */
  control(item: WorkerItemInit): void {
    this.#control.push(item);
    this.#onItems();
  }

  /** Settles when no claim is held. */
  async empty(): Promise<void> {
    if (this.#entries.size === 0) return;
    await new Promise<void>((resolve) => this.#emptyWaiters.push(resolve));
  }

  /** Queues all unacknowledged messages again for a new connection. Each claim's output and questions come before its outcome. */
  rewind(): void {
    this.#control = [];
    this.#queue = [];
    this.#head = 0;
    for (const entry of this.#entries.values()) {
      entry.queued = 0;
      entry.repeats = 0;
      this.#queueAll(entry);
    }
  }

  /** Ends the repeats. */
  stop(): void {
    this.#repeats.stop();
  }

  /** The next items to send, at most one message. Empty if there are none. */
  take(): readonly WorkerItemInit[] {
    const batch = new Batch<WorkerItemInit>();
    while (this.#control.length > 0) {
      const [item = {}] = this.#control;
      if (!batch.add(item, wireBytes(item))) return batch.items;
      this.#control.shift();
    }
    for (; this.#head < this.#queue.length; this.#head += 1) {
      const queued = this.#queue[this.#head];
      if (queued === undefined || queued.entry.isDropped) continue;
      const item = itemOf(queued);
      if (batch.items.length >= ITEMS_MAX || !batch.add(item, wireBytes(item))) return batch.items;
      this.#left(queued);
    }
    this.#queue = [];
    this.#head = 0;
    return batch.items;
  }

  #left({ entry, said }: Queued): void {
    if (said !== undefined) said.isSent = true;
    entry.queued -= 1;
    if (entry.queued === 0) this.#repeats.sent(entry);
  }

  /** All unacknowledged messages of a claim, its output and questions before its outcome. */
  #queueAll(entry: OutboxEntry): void {
    for (const said of entry.said) this.#push({ entry, said });
    for (const ask of entry.asks.open) this.#push({ entry, ask });
    if (entry.outcome !== undefined) this.#push({ entry });
  }

  #push(queued: Queued): void {
    queued.entry.queued += 1;
    this.#queue.push(queued);
    this.#onItems();
  }
}

function itemOf({ entry, said, ask }: Queued): WorkerItemInit {
  if (said !== undefined) return saidItem(entry.writer, said);
  return ask === undefined ? entry.writer.outcome(entry.outcome ?? {}) : ask.item;
}

/** The outcome, or a failure if the outcome fits no message. */
function fitting(outcome: OutcomeInit): OutcomeInit {
  const bytes = wireBytes(outcome);
  if (bytes <= LIMITS.itemBytes) return outcome;
  const message = `the outcome takes ${bytes} bytes; at most ${LIMITS.itemBytes} bytes. Let the node give less.`;
  const { durationMs = 0n, usage } = outcome;
  const result = failed("output_too_large", message, { permanent: true });
  return { result, durationMs, ...(usage && { usage }) };
}

/** UTF-16 units that are surely within the byte limit as UTF-8. */
const PIECE_LENGTH = Math.floor(LIMITS.deltaBytes / 3);

function* pieces(text: string): Generator<string> {
  for (let at = 0; at < text.length;) {
    let end = Math.min(text.length, at + PIECE_LENGTH);
    // A pair of surrogates is not split.
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end--;
    yield text.slice(at, end);
    at = end;
  }
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;

const cut = (text: string, bytesMax: number): string =>
  cleanText(text, Buffer.byteLength(text) <= bytesMax ? text.length : Math.floor(bytesMax / 3));
