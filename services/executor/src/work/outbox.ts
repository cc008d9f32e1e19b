// Everything that must reach a scheduler, until it is known to have: nothing hangs on a message. Races survived: a stream that
// breaks after sending (all that is unacknowledged is queued again, in order, output before its outcome), and a claim lost with
// items still queued (dropped here, so a zombie says no more). Repeats are harmless: the log's unique keys drop them.

import { ChurnMap } from "@pawl/core/data/churn-map";
import { LIMITS } from "@pawl/core/data/limits";
import type { Media } from "@pawl/core/log/event";
import type { Claim } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { cleanText } from "../run/outcome.ts";
import type { Ask } from "./asks.ts";
import { claimKey } from "./claim-key.ts";
import { fencedWriter, type OutcomeInit, type WorkerItemInit } from "./fenced-writer.ts";
import { OutboxEntry, saidItem, type Said } from "./outbox-entry.ts";

const BATCH_ITEMS_MAX = 1_000;
/** Below the 4 MiB of a message with room for the largest single item. */
const BATCH_BYTES_MAX = 1024 * 1024;

/** A piece of output, a question, or neither: the entry's outcome. */
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

  /** `onItems` is called whenever there is something to send. */
  constructor(onItems: () => void) {
    this.#onItems = onItems;
  }

  /** Starts to hold a claim. */
  open(claim: Claim): OutboxEntry {
    const entry = new OutboxEntry(fencedWriter(claim));
    this.#entries.set(entry.key, entry);
    return entry;
  }

  find(claim: Claim): OutboxEntry | undefined {
    return this.#entries.get(claimKey(claim));
  }

  /** Every claim held: running, or ended and not acknowledged yet. */
  held(): readonly Claim[] {
    return Array.from(this.#entries.values(), (entry) => entry.claim);
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Partial output; longer texts go in several pieces. Settles when more may be said. */
  async delta(entry: OutboxEntry, text: string): Promise<void> {
    for (const piece of pieces(cleanText(text, text.length))) {
      if (entry.isDropped) return;
      const said = entry.addDelta(piece);
      if (said !== undefined) this.#push({ entry, said });
    }
    await entry.room();
  }

  /** Media, in order with the text. Settles when more may be said. */
  async media(entry: OutboxEntry, media: Media): Promise<void> {
    if (entry.isDropped) return;
    const { url, mime } = media;
    const clean = { url: cleanText(url, url.length), mime: cleanText(mime, LIMITS.mimeLength) };
    this.#push({ entry, said: entry.addMedia(clean) });
    await entry.room();
  }

  /** A log line, cut to its limit. Lines that come while the outbox is full are dropped: they are a service, not a fact. */
  log(entry: OutboxEntry, level: string, message: string): void {
    if (entry.isDropped || entry.isFull()) return;
    this.#push({ entry, said: entry.addLog(level, cut(message, LIMITS.logMessageBytes)) });
  }

  /** A question, asked until it is answered; each by a name of its own. Rejects with STALE_CLAIM when the claim goes first. */
  async ask<T>(entry: OutboxEntry, name: string, item: WorkerItemInit): Promise<T> {
    const ask = entry.asks.add(name, item);
    if (!entry.isDropped) this.#push({ entry, ask });
    // What answers this name is what its item asks for.
    return (await ask.answer.promise) as T;
  }

  /** The end of an attempt, said until it is acknowledged. */
  outcome(entry: OutboxEntry, outcome: OutcomeInit): void {
    if (entry.isDropped) return;
    entry.outcome = outcome;
    this.#push({ entry });
  }

  /** Stops holding a claim: it is settled, lost, cancelled or released. */
  close(entry: OutboxEntry): void {
    entry.drop();
    this.#entries.delete(entry.key);
    if (this.#entries.size === 0) for (const wake of this.#emptyWaiters.splice(0)) wake();
  }

  /** Something about the session itself: sent before anything queued, and not again after a reconnect. */
  control(item: WorkerItemInit): void {
    this.#control.push(item);
    this.#onItems();
  }

  /** Settles when no claim is held any more. */
  async empty(): Promise<void> {
    if (this.#entries.size === 0) return;
    await new Promise<void>((resolve) => this.#emptyWaiters.push(resolve));
  }

  /** For a new connection: queues all that is not acknowledged again, each claim's output and questions before its outcome. */
  rewind(): void {
    this.#control = [];
    this.#queue = [];
    this.#head = 0;
    for (const entry of this.#entries.values()) {
      for (const said of entry.said) this.#queue.push({ entry, said });
      for (const ask of entry.asks.open) this.#queue.push({ entry, ask });
      if (entry.outcome !== undefined) this.#queue.push({ entry });
    }
    if (this.#queue.length > 0) this.#onItems();
  }

  /** The next items to send, at most a message full; empty when there are none. */
  take(): readonly WorkerItemInit[] {
    const items = this.#control.splice(0);
    let bytes = 0;
    while (this.#head < this.#queue.length) {
      if (items.length >= BATCH_ITEMS_MAX || bytes >= BATCH_BYTES_MAX) return items;
      const queued = this.#queue[this.#head++];
      if (queued === undefined || queued.entry.isDropped) continue;
      const { entry, said, ask } = queued;
      if (said !== undefined) {
        said.isSent = true;
        bytes += said.bytes;
        items.push(saidItem(entry.writer, said));
      } else if (ask !== undefined) {
        bytes += askBytes(ask);
        items.push(ask.item);
      } else if (entry.outcome !== undefined) {
        bytes += outcomeBytes(entry.outcome);
        items.push(entry.writer.outcome(entry.outcome));
      }
    }
    this.#queue = [];
    this.#head = 0;
    return items;
  }

  #push(queued: Queued): void {
    this.#queue.push(queued);
    this.#onItems();
  }
}

const ROUGH_BYTES = 128;

const askBytes = ({ item: { item } }: Ask): number =>
  ROUGH_BYTES + (item?.case === "effectCommit" ? (item.value.resultJson?.length ?? 0) : 0);

function outcomeBytes({ result }: OutcomeInit): number {
  const rough = ROUGH_BYTES;
  if (result?.case === "completed") return rough + (result.value.outputJson?.length ?? 0);
  if (result?.case === "expanded") return rough + (result.value.itemsJson?.length ?? 0);
  if (result?.case === "childRun") return rough + (result.value.inputJson?.length ?? 0);
  return rough + (result?.case === "failed" ? (result.value.detailsJson?.length ?? 0) : 0);
}

/** UTF-16 units that are surely within the byte limit as UTF-8. */
const PIECE_LENGTH = Math.floor(LIMITS.deltaBytes / 3);

function* pieces(text: string): Generator<string> {
  for (let at = 0; at < text.length;) {
    let end = Math.min(text.length, at + PIECE_LENGTH);
    // A pair of surrogates stays together.
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end--;
    yield text.slice(at, end);
    at = end;
  }
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;

const cut = (text: string, bytesMax: number): string =>
  cleanText(text, Buffer.byteLength(text) <= bytesMax ? text.length : Math.floor(bytesMax / 3));
