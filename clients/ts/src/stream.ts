// A stream of a run in modes: the log in the forms that a caller wants. It reconnects as a watch does. Race: a connection breaks between the
// items of two events. All items of one event are in one message, so the event id is a cursor between events and never inside one.

import type { RunEvent } from "@pawl/proto/pawl/v1/event_pb";
import {
  StreamModeSchema,
  StreamMode as WireStreamMode,
} from "@pawl/proto/pawl/v1/event_service_pb";
import type { StreamItem as WireStreamItem } from "@pawl/proto/pawl/v1/event_service_pb";
import type { Clock } from "./backoff.ts";
import { type Json, jsonOf } from "./json.ts";
import { namer } from "./status.ts";
import {
  type EventBatch,
  follow,
  formOf,
  type Taker,
  type WatchOptions,
  type WatchSource,
} from "./watch.ts";

/** A form in which a stream shows the log of a run. */
export type StreamMode = "values" | "updates" | "debug" | "metadata" | "control" | "messages";

const WIRE_MODES: Readonly<Record<StreamMode, WireStreamMode>> = {
  values: WireStreamMode.VALUES,
  updates: WireStreamMode.UPDATES,
  debug: WireStreamMode.DEBUG,
  metadata: WireStreamMode.METADATA,
  control: WireStreamMode.CONTROL,
  messages: WireStreamMode.MESSAGES,
};

/** Modes as a request names them. */
export const modesOnWire = (modes: readonly StreamMode[]): WireStreamMode[] =>
  modes.map((mode) => WIRE_MODES[mode]);

/** Every mode by its name. */
export const STREAM_MODE_NAMES: readonly string[] = Object.keys(WIRE_MODES);

const modeName = namer<typeof StreamModeSchema, StreamMode>(StreamModeSchema);

export interface StreamOptions extends WatchOptions {
  /** The forms that the caller wants; any combination of them. */
  readonly modes: readonly StreamMode[];
}

/** One event of the log in one mode. */
export interface StreamItem {
  readonly mode: StreamMode;
  /** The event of the log: the cursor of every mode. */
  readonly eventId: bigint;
  readonly runId: string;
  /** The event, in the mode debug. */
  readonly event?: RunEvent | undefined;
  /** The item in every other mode. */
  readonly data: Json;
}

/** Streams one run in modes. It ends after the control item `done`, which comes in every mode. @throws as a watch does */
export function streamRun(
  source: WatchSource,
  runId: string,
  options: StreamOptions,
  clock?: Clock,
): AsyncGenerator<StreamItem, void, undefined> {
  const form = { ...formOf(runId, options), modes: modesOnWire(options.modes) };
  const taker = new ItemTaker(BigInt(options.afterEventId ?? 0));
  return follow({ source, form, taker, options }, clock);
}

/** Takes the items of each event once. */
class ItemTaker implements Taker<StreamItem> {
  lastEventId: bigint;

  constructor(afterEventId: bigint) {
    this.lastEventId = afterEventId;
  }

  *take({ events, items = [] }: EventBatch): ReturnType<Taker<StreamItem>["take"]> {
    if (events.length > 0) yield { kind: "drop", isHeartbeat: true };
    const before = this.lastEventId;
    for (const item of items) {
      if (item.eventId <= before) continue;
      this.lastEventId = item.eventId;
      const entry = itemOf(item);
      yield { kind: "take", entry, isOver: isDone(entry) };
    }
  }
}

/** An item from the wire. */
export const itemOf = ({ mode, eventId, runId, event, dataJson }: WireStreamItem): StreamItem => ({
  mode: modeName(mode),
  eventId,
  runId,
  event,
  data: jsonOf(dataJson) ?? null,
});

/** Whether the item is the last of its run. */
const isDone = ({ mode, data }: StreamItem): boolean =>
  mode === "control" && membersOf(data)["signal"] === "done";

/** The members of a JSON object. */
export const membersOf = (data: Json): { readonly [key: string]: Json } =>
  typeof data === "object" && data !== null && !Array.isArray(data)
    ? (data as { readonly [key: string]: Json })
    : {};
