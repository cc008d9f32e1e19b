// Items for one executor, gathered until the event loop turns and sent as one message: a message per item would fill both
// cores at a third of the throughput. That an outcome is settled can wait for company: its executor only forgets it then, and waking
// it for that took a core from whoever waits for the run (a lone run was 5 % slower).

import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Cancel, systemTimers, type Timers } from "@pawl/platform/lifecycle/timers";
import type { BidiStream } from "@pawl/platform/rpc/bidi";
import type { WorkRequest, WorkResponseSchema } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import type { SchedulerItemInit } from "./session.ts";

export type WorkStream = BidiStream<WorkRequest, MessageInitShape<typeof WorkResponseSchema>>;

/** Items a message may hold; far below the message limit even with large contexts in it. */
const ITEMS_MAX = 64;
/** How long `settled` waits for something else to be said. */
const SETTLED_MS = 5;

export class Outgoing {
  readonly #stream: WorkStream;
  #items: SchedulerItemInit[] = [];
  readonly #timers: Timers;
  #isScheduled = false;
  #endPatience: Cancel | undefined;

  constructor(stream: WorkStream, timers: Timers = systemTimers) {
    this.#stream = stream;
    this.#timers = timers;
  }

  push(item: SchedulerItemInit): void {
    this.#items.push(item);
    if (this.#isScheduled) return;
    if (item.item?.case === "settled") {
      this.#endPatience ??= this.#timers.after(SETTLED_MS, () => this.flush());
      return;
    }
    this.#isScheduled = true;
    setImmediate(() => this.flush());
  }

  flush(): void {
    this.#endPatience?.();
    this.#endPatience = undefined;
    this.#isScheduled = false;
    const items = this.#items;
    this.#items = [];
    for (let at = 0; at < items.length; at += ITEMS_MAX)
      this.#stream.write({ items: items.slice(at, at + ITEMS_MAX) });
  }
}
