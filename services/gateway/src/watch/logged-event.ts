// One event for many subscribers. Each of its wire forms is made once, for the first subscriber that needs it.

import type { RunEvent } from "@pawl/core/log/event";
import { type EventScope, toWireEvent } from "@pawl/platform/wire/event";
import { toSseJson } from "@pawl/platform/wire/sse";
import { needsContext, toUpdate } from "@pawl/platform/wire/update";
import type { RunEvent as WireEvent } from "@pawl/proto/pawl/v1/event_pb";

/** The size of an event on the wire without its texts; used only to bound buffers. */
const ENVELOPE_BYTES = 256;

/** The context of a run at an event of its log: a JSON object. @throws RUN_NOT_FOUND, STORE_UNAVAILABLE */
export type ContextAt = (event: RunEvent) => Promise<string>;

export class LoggedEvent {
  readonly event: RunEvent;
  /** About the size of the event in memory and on the wire. */
  readonly bytes: number;
  readonly #scope: EventScope;
  #wire: WireEvent | undefined;
  #frame: string | undefined;
  #update: Promise<string> | undefined;

  constructor(event: RunEvent, scope: EventScope) {
    this.event = event;
    this.#scope = scope;
    this.bytes = ENVELOPE_BYTES + (event.value?.length ?? 0) + textLength(event);
  }

  /** The event as a message of the contract. */
  get wire(): WireEvent {
    this.#wire ??= toWireEvent(this.event, this.#scope);
    return this.#wire;
  }

  /** The event as a frame of SSE. */
  get frame(): string {
    const { seq, type } = this.event;
    this.#frame ??= `id: ${seq}\nevent: ${type}\ndata: ${toSseJson(this.event, this.#scope)}\n\n`;
    return this.#frame;
  }

  /** The event as an update of the status of its node or run, with the same cursor. Empty if it changes no status. */
  update(contextAt: ContextAt): Promise<string> {
    this.#update ??= this.#makeUpdate(contextAt);
    return this.#update;
  }

  async #makeUpdate(contextAt: ContextAt): Promise<string> {
    try {
      const context = needsContext(this.event) ? await contextAt(this.event) : "{}";
      const pushed = toUpdate(this.event, context);
      if (pushed === undefined) return "";
      return `id: ${this.event.seq}\nevent: ${pushed.name}\ndata: ${pushed.data}\n\n`;
    } catch (error) {
      // The next subscriber tries again.
      this.#update = undefined;
      throw error;
    }
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
