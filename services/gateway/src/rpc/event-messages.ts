// Turns the events of a watch into messages of a stream. It adds a heartbeat while the run is silent.

import { Code, ConnectError } from "@connectrpc/connect";
import type { RunId } from "@pawl/core/name/ids";
import { probe } from "@pawl/platform/lifecycle/probe";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import { toWireHeartbeat } from "@pawl/platform/wire/event";
import type { RunEvent as WireEvent } from "@pawl/proto/pawl/v1/event_pb";
import type { WatchStream } from "../watch/watch-run.ts";

interface MessageOptions<Message> {
  readonly runId: RunId;
  /** The signal of the call. */
  readonly signal: AbortSignal;
  readonly toMessage: (events: WireEvent[]) => Message;
}

/** The events of a watch. It ends and fails as the watch does. It also fails if the time of the call is up. */
export async function* eventMessages<Message>(
  watching: WatchStream,
  { runId, signal, toMessage }: MessageOptions<Message>,
): AsyncGenerator<Message, void, undefined> {
  for await (const batch of watching) {
    if (batch.length === 0) {
      yield toMessage(heartbeat(runId));
    } else {
      METRICS.eventsDelivered.add(batch.length, {});
      yield toMessage(batch.map(({ wire }) => wire));
      probe("watch.after-batch");
    }
  }
  probe("watch.before-end");
  throwIfLate(signal);
}

export const heartbeat = (runId: RunId): WireEvent[] => [toWireHeartbeat(runId, Date.now())];

/** An aborted watch ends without an error. The caller would mistake that for the end of the run. */
export function throwIfLate({ reason }: AbortSignal): void {
  if (reason instanceof ConnectError && reason.code === Code.DeadlineExceeded) throw reason;
}
