// Items for one executor, gathered until the event loop turns and sent as one message: a message per item would fill both
// cores at a third of the throughput.

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { BidiStream } from "@pawl/platform/rpc/bidi";
import type { WorkRequest, WorkResponseSchema } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import type { SchedulerItemInit } from "./session.ts";

export type WorkStream = BidiStream<WorkRequest, MessageInitShape<typeof WorkResponseSchema>>;

/** Items a message may hold; far below the message limit even with large contexts in it. */
const ITEMS_MAX = 64;

export class Outgoing {
  readonly #stream: WorkStream;
  #items: SchedulerItemInit[] = [];
  #scheduled = false;

  constructor(stream: WorkStream) {
    this.#stream = stream;
  }

  push(item: SchedulerItemInit): void {
    this.#items.push(item);
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.flush());
  }

  flush(): void {
    this.#scheduled = false;
    const items = this.#items;
    this.#items = [];
    for (let at = 0; at < items.length; at += ITEMS_MAX)
      this.#stream.write({ items: items.slice(at, at + ITEMS_MAX) });
  }
}
