// Gathers items for one executor until the event loop turns, and sends them as few messages. One message per item would fill both cores at
// a third of the throughput. `settled` waits a little for other items, because it is never urgent: the executor only forgets an outcome.
// Waking the executor for it made a lone run 5 % slower.
//
// Messages are cut by bytes. The stream gets the next message only while less than LIMITS.batchBytes wait to be written. So gRPC never
// buffers more than two messages, 5 MiB at most. The executor's credit bounds the items that wait here (session.ts). Race: the stream
// breaks while items wait here or in its buffer. `onSent` is called for none of them, and give-back.ts gives their claims back.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { LIMITS } from "@pawl/core/data/limits";
import { type Cancel, systemTimers, type Timers } from "@pawl/platform/lifecycle/timers";
import { Batch } from "@pawl/platform/rpc/batch";
import type { BidiStream } from "@pawl/platform/rpc/bidi";
import { wireBytes } from "@pawl/platform/rpc/wire-bytes";
import type { WorkRequest, WorkResponseSchema } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import type { SchedulerItemInit } from "../commit/executor.ts";

export type WorkStream = BidiStream<WorkRequest, MessageInitShape<typeof WorkResponseSchema>>;

/** Items of one message: the executor reads a message in one turn of its event loop. */
const ITEMS_MAX = 64;
/** How long `settled` waits for other items. */
const SETTLED_MS = 5;

interface Waiting {
  readonly item: SchedulerItemInit;
  readonly onSent: (() => void) | undefined;
}

export class Outgoing {
  readonly #stream: WorkStream;
  #waiting: Waiting[] = [];
  readonly #timers: Timers;
  #isScheduled = false;
  #endPatience: Cancel | undefined;
  /** Bytes that the stream has accepted and not written yet. */
  #inStream = 0;
  #isBlocked = false;

  constructor(stream: WorkStream, timers: Timers = systemTimers) {
    this.#stream = stream;
    this.#timers = timers;
  }

  /** Sends an item soon. `onSent` is called once it has left this process. */
  push(item: SchedulerItemInit, onSent?: () => void): void {
    this.#waiting.push({ item, onSent });
    if (this.#isScheduled) return;
    if (item.item?.case === "settled") {
      this.#endPatience ??= this.#timers.after(SETTLED_MS, () => this.flush());
      return;
    }
    this.#isScheduled = true;
    // The items of a tick are pushed together. `setImmediate` would send them one turn of the event loop later.
    process.nextTick(() => this.flush());
  }

  flush(): void {
    this.#endPatience?.();
    this.#endPatience = undefined;
    this.#isScheduled = false;
    let at = 0;
    while (at < this.#waiting.length && this.#inStream < LIMITS.batchBytes)
      at = this.#writeFrom(at);
    this.#isBlocked = at < this.#waiting.length;
    this.#waiting = this.#isBlocked ? this.#waiting.slice(at) : [];
  }

  /** Writes one message of the items from `start` on. Returns the start of the next one. */
  #writeFrom(start: number): number {
    const batch = new Batch<SchedulerItemInit>();
    const sent: (() => void)[] = [];
    let at = start;
    for (; at < this.#waiting.length && batch.items.length < ITEMS_MAX; at += 1) {
      const next = this.#waiting[at];
      if (next === undefined || !batch.add(next.item, wireBytes(next.item))) break;
      if (next.onSent !== undefined) sent.push(next.onSent);
    }
    const { items, bytes } = batch;
    this.#inStream += bytes;
    this.#stream.write({ items }, () => {
      this.#inStream -= bytes;
      for (const onSent of sent) onSent();
      if (this.#isBlocked) this.flush();
    });
    return at;
  }
}
