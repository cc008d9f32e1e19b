// One event for many subscribers. Each of its wire forms is made once, for the first subscriber that needs it.

import type { RunEvent } from "@pawl/core/log/event";
import { type EventScope, toWireEvent } from "@pawl/platform/wire/event";
import { toSseJson } from "@pawl/platform/wire/sse";
import { runContextJson } from "@pawl/core/log/context";
import type { RunState } from "@pawl/core/log/state";
import { needsContext, toUpdate } from "@pawl/platform/wire/update";
import type { RunEvent as WireEvent } from "@pawl/proto/pawl/v1/event_pb";

/** The size of an event on the wire without its texts; used only to bound buffers. */
const ENVELOPE_BYTES = 256;

const LOGGED = new WeakMap<RunEvent, LoggedEvent>();

/** The logged event of an event that several readers share. */
export function loggedOf(event: RunEvent, scope: EventScope): LoggedEvent {
  const known = LOGGED.get(event);
  if (known?.isOf(scope) === true) return known;
  const made = new LoggedEvent(event, scope);
  LOGGED.set(event, made);
  return made;
}

export class LoggedEvent {
  readonly event: RunEvent;
  /** About the size of the event in memory and on the wire. */
  readonly bytes: number;
  readonly #scope: EventScope;
  #wire: WireEvent | undefined;
  #body: string | undefined;

  constructor(event: RunEvent, scope: EventScope) {
    this.event = event;
    this.#scope = scope;
    this.bytes = ENVELOPE_BYTES + (event.value?.length ?? 0) + textLength(event);
  }

  /** Whether its forms are those of this scope. */
  isOf({ workflowId, traceId, waveOf }: EventScope): boolean {
    const own = this.#scope;
    return own.workflowId === workflowId && own.traceId === traceId && own.waveOf === waveOf;
  }

  /** The event as a message of the contract. */
  get wire(): WireEvent {
    this.#wire ??= toWireEvent(this.event, this.#scope);
    return this.#wire;
  }

  /** The event as a frame of SSE, with its event id or another cursor as the id. */
  frame(id = String(this.event.seq)): string {
    this.#body ??= `event: ${this.event.type}\ndata: ${this.json}\n\n`;
    return `id: ${id}\n${this.#body}`;
  }

  /** The event in its envelope, as one line of JSON. */
  get json(): string {
    return toSseJson(this.event, this.#scope);
  }

  /** The workflow of the run; empty for a test run. */
  get workflowId(): string {
    return this.#scope.workflowId;
  }

  /** The event as an update of the status of its node or run, with the same cursor. Empty if it changes no status. */
  update(state: RunState): string {
    const context = needsContext(this.event) ? runContextJson(state) : "{}";
    const pushed = toUpdate(this.event, context);
    if (pushed === undefined) return "";
    return `id: ${this.event.seq}\nevent: ${pushed.name}\ndata: ${pushed.data}\n\n`;
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
