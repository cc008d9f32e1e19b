// One event on its way to many subscribers: each form it is sent in is made once, whoever asks first.

import type { RunEvent } from "@pawl/core/log/event";
import { type EventScope, toWireEvent } from "@pawl/platform/wire/event";
import { toSseJson } from "@pawl/platform/wire/sse";
import { toUpdate } from "@pawl/platform/wire/update";
import type { RunEvent as WireEvent } from "@pawl/proto/pawl/v1/event_pb";

/** What an event takes on the wire besides the texts it carries; only for bounding buffers. */
const ENVELOPE_BYTES = 256;

export class LoggedEvent {
  readonly event: RunEvent;
  /** About how much memory and wire it takes. */
  readonly bytes: number;
  readonly #scope: EventScope;
  #wire: WireEvent | undefined;
  #frame: string | undefined;
  #update: string | undefined;

  constructor(event: RunEvent, scope: EventScope) {
    this.event = event;
    this.#scope = scope;
    this.bytes = ENVELOPE_BYTES + (event.value?.length ?? 0) + textLength(event);
  }

  /** As the contract has it. */
  get wire(): WireEvent {
    this.#wire ??= toWireEvent(this.event, this.#scope);
    return this.#wire;
  }

  /** As a frame of SSE. */
  get frame(): string {
    const { seq, type } = this.event;
    this.#frame ??= `id: ${seq}\nevent: ${type}\ndata: ${toSseJson(this.event, this.#scope)}\n\n`;
    return this.#frame;
  }

  /** As a push of its node's or run's status, with the same cursor; empty when it changes none. */
  get update(): string {
    if (this.#update === undefined) {
      const pushed = toUpdate(this.event);
      this.#update =
        pushed === undefined
          ? ""
          : `id: ${this.event.seq}\nevent: ${pushed.name}\ndata: ${pushed.data}\n\n`;
    }
    return this.#update;
  }
}

function textLength(event: RunEvent): number {
  if (event.type === "node.stream.delta") {
    const { text, media } = event.payload;
    return text.length + (media?.url.length ?? 0);
  }
  if (event.type === "node.log" || event.type === "node.failed")
    return event.payload.message.length;
  return 0;
}
