// One stream of all runs of a thread over many connections. Races: a connection breaks between two runs, a gateway drains or is killed, runs
// begin or are stopped while the client is away. The stream keeps the cursor of the last event, and the gateway continues after it. So every
// event of every run comes once and in order.

import type { Client } from "@connectrpc/connect";
import type { RunEvent } from "@pawl/proto/pawl/v1/event_pb";
import type { EventService, WatchThreadResponse } from "@pawl/proto/pawl/v1/event_service_pb";
import type { Clock } from "./backoff.ts";
import { Cursor } from "./cursor.ts";
import type { PawlError } from "./errors.ts";
import { reconnecting } from "./reconnecting.ts";
import { Gap } from "./stream-error.ts";
import { itemOf, modesOnWire, type StreamItem, type StreamMode } from "./stream.ts";

export interface WatchThreadOptions {
  /** The cursor of the last event that the caller has. Default: from the first run that the thread still has. */
  readonly cursor?: string | undefined;
  /** Without a cursor: begin with the run that holds the thread, or with the next one. */
  readonly skipFinished?: boolean | undefined;
  /** End when the caller has everything and no run holds the thread. Otherwise the stream stays open between runs. */
  readonly untilIdle?: boolean | undefined;
  /** Only events of these dotted types. The terminal event of each run always comes. */
  readonly types?: readonly string[] | undefined;
  /** Only events of these nodes. The terminal event of each run always comes. */
  readonly nodeIds?: readonly string[] | undefined;
  /** Only events of nodes of these types. The terminal event of each run always comes. */
  readonly nodeTypes?: readonly string[] | undefined;
  /** Ends the watch without an error. The runs continue. */
  readonly signal?: AbortSignal | undefined;
  /** The longest time without a message or a heartbeat. Default 45 s. */
  readonly silenceMs?: number | undefined;
  /** Called before every reconnect, with the cursor after which the stream continues. */
  readonly onReconnect?: ((cursor: string, error: PawlError) => void) | undefined;
}

export interface StreamThreadOptions extends WatchThreadOptions {
  /** The forms that the caller wants; any combination of them. */
  readonly modes: readonly StreamMode[];
}

/** An event of a run of the thread. */
export interface ThreadEvent {
  /** Continues after this event. Keep it as it is. */
  readonly cursor: string;
  readonly event: RunEvent;
}

/** An event of a run of the thread in one mode. */
export interface ThreadItem extends StreamItem {
  /** Continues after this item. If more items of its event follow, the event comes again with all its items. */
  readonly cursor: string;
}

type Rpc = Pick<Client<typeof EventService>, "watchThread">;

export interface ThreadStreams {
  /**
   * The events of all runs of a thread, each run whole, in the order in which they took the thread, across reconnects. It stays open between
   * runs, or ends when the thread is idle. @throws PawlError THREAD_NOT_FOUND, also when the thread is deleted; CURSOR_OUT_OF_RANGE
   */
  watchThread(
    threadId: string,
    options?: WatchThreadOptions,
  ): AsyncGenerator<ThreadEvent, void, undefined>;
  /** The runs of a thread in modes, as `watchThread` gives their events. Each run ends with its control item `done`. */
  streamThread(
    threadId: string,
    options: StreamThreadOptions,
  ): AsyncGenerator<ThreadItem, void, undefined>;
}

export const createThreadStreams = (rpc: Rpc, clock: Clock): ThreadStreams => ({
  watchThread: (threadId, options = {}) => watchThread(rpc, threadId, options, clock),
  streamThread: (threadId, options) => streamThread(rpc, threadId, options, clock),
});

/** Watches the runs of a thread. @throws PawlError for an error that no reconnect removes */
function watchThread(
  rpc: Rpc,
  threadId: string,
  options: WatchThreadOptions,
  clock: Clock,
): AsyncGenerator<ThreadEvent, void, undefined> {
  const { types = [], nodeIds = [], nodeTypes = [] } = options;
  const isFiltered = types.length + nodeIds.length + nodeTypes.length > 0;
  const place = new EventPlace(options.cursor ?? "", isFiltered);
  return follow({ rpc, form: formOf(threadId, options, []), place, options }, clock);
}

/** Streams the runs of a thread in modes. Each run ends with its control item `done`. @throws as watchThread does */
function streamThread(
  rpc: Rpc,
  threadId: string,
  options: StreamThreadOptions,
  clock: Clock,
): AsyncGenerator<ThreadItem, void, undefined> {
  const place = new ItemPlace(options.cursor ?? "");
  return follow({ rpc, form: formOf(threadId, options, options.modes), place, options }, clock);
}

const formOf = (
  threadId: string,
  { skipFinished, untilIdle, types, nodeIds, nodeTypes }: WatchThreadOptions,
  modes: readonly StreamMode[],
) => ({
  threadId,
  types: [...(types ?? [])],
  modes: modesOnWire(modes),
  nodeIds: [...(nodeIds ?? [])],
  nodeTypes: [...(nodeTypes ?? [])],
  untilIdle: untilIdle ?? false,
  skipFinished: skipFinished ?? false,
});

/** What a stream shows of a message, and its place in the thread. */
interface Place<Entry> {
  readonly cursor: string;
  /** @throws Gap, which a reconnect may remove */
  take(message: WatchThreadResponse): Iterable<Entry>;
}

/** The cursor of an event of a message. */
const cursorAt = (message: WatchThreadResponse, eventId: bigint): string =>
  `${message.cursor.slice(0, message.cursor.lastIndexOf(".") + 1)}${eventId}`;

/** Takes every event once and in order. */
class EventPlace implements Place<ThreadEvent> {
  cursor: string;
  readonly #isFiltered: boolean;
  /** The run of the last event, and the place in it. Unknown until the first event after a cursor of the caller. */
  #run: { readonly runId: string; readonly log: Cursor } | undefined;
  #isStartKnown: boolean;

  constructor(cursor: string, isFiltered: boolean) {
    this.cursor = cursor;
    this.#isFiltered = isFiltered;
    this.#isStartKnown = cursor === "";
  }

  *take(message: WatchThreadResponse): Iterable<ThreadEvent> {
    for (const event of message.events) {
      const log = this.#logOf(message.runId, event);
      const verdict = log.judge(event);
      if (verdict === "gap") throw new Gap(log.lastEventId, event);
      if (verdict === "drop") continue;
      this.cursor = cursorAt(message, event.eventId);
      yield { cursor: this.cursor, event };
    }
  }

  #logOf(runId: string, { eventId }: RunEvent): Cursor {
    if (this.#run?.runId === runId) return this.#run.log;
    const afterEventId = this.#isStartKnown ? 0n : eventId - 1n;
    const log = new Cursor({ afterEventId, isFiltered: this.#isFiltered });
    this.#run = { runId, log };
    this.#isStartKnown = true;
    return log;
  }
}

/** Takes the items of each event once. */
class ItemPlace implements Place<ThreadItem> {
  cursor: string;
  #runId = "";
  #lastEventId = 0n;

  constructor(cursor: string) {
    this.cursor = cursor;
  }

  *take(message: WatchThreadResponse): Iterable<ThreadItem> {
    const { runId, items } = message;
    if (items.length > 0 && runId !== this.#runId) {
      this.#runId = runId;
      this.#lastEventId = 0n;
    }
    const before = this.#lastEventId;
    for (const [index, wire] of items.entries()) {
      if (wire.eventId <= before) continue;
      const isLastOfEvent = items[index + 1]?.eventId !== wire.eventId;
      if (isLastOfEvent) {
        this.cursor = cursorAt(message, wire.eventId);
        this.#lastEventId = wire.eventId;
      }
      yield { ...itemOf(wire), cursor: this.cursor };
    }
  }
}

interface Following<Entry> {
  readonly rpc: Rpc;
  readonly form: ReturnType<typeof formOf>;
  readonly place: Place<Entry>;
  readonly options: WatchThreadOptions;
}

function follow<Entry>(
  { rpc, form, place, options }: Following<Entry>,
  clock: Clock,
): AsyncGenerator<Entry, void, undefined> {
  const { signal, silenceMs, onReconnect } = options;
  return reconnecting(
    {
      open: (connection) =>
        rpc.watchThread({ ...form, cursor: place.cursor }, { signal: connection }),
      take: (message) => place.take(message),
      isOver: (isEnd) => isEnd && form.untilIdle,
      early: "the stream ended before the thread was idle",
      ...{ signal, silenceMs },
      onReconnect: onReconnect && ((error) => onReconnect(place.cursor, error)),
    },
    clock,
  );
}
