// A stream of WatchRun with modes: the items of events as messages.

import { create } from "@bufbuild/protobuf";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import { toJsonBytes, toTimestamp } from "@pawl/platform/wire/scalar";
import { toWireStreamMode } from "@pawl/platform/wire/stream-item";
import {
  type StreamItem as WireStreamItem,
  StreamItemSchema,
  type WatchRunResponse,
  WatchRunResponseSchema,
} from "@pawl/proto/pawl/v1/event_service_pb";
import type { RunId } from "@pawl/core/name/ids";
import type { ItemStream, ViewedEvent } from "../watch/view.ts";
import { heartbeat, throwIfLate } from "./event-messages.ts";

/** Ends and fails as `watching` does. It also fails if the time of the call is up. */
export async function* itemResponses(
  watching: ItemStream,
  { runId, signal }: { readonly runId: RunId; readonly signal: AbortSignal },
): AsyncGenerator<WatchRunResponse, void, undefined> {
  for await (const batch of watching) {
    const message =
      batch.length === 0 ? { events: heartbeat(runId) } : { items: itemMessages(batch) };
    yield create(WatchRunResponseSchema, message);
  }
  throwIfLate(signal);
}

/** The items of events. All items of one event are together. */
export function itemMessages(batch: readonly ViewedEvent[]): WireStreamItem[] {
  METRICS.eventsDelivered.add(batch.length, {});
  return batch.flatMap(({ logged, items }) => {
    const { seq, runId, at } = logged.event;
    return items.map(({ mode, data }) =>
      create(StreamItemSchema, {
        eventId: BigInt(seq),
        runId,
        mode: toWireStreamMode(mode),
        time: toTimestamp(at),
        dataJson: toJsonBytes(data),
        ...(data === undefined ? { event: logged.wire } : {}),
      }),
    );
  });
}
