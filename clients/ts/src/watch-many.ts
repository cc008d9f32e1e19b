// One stream of many runs over many connections. Race: a connection breaks between the messages of two runs. The stream keeps the last
// event id of each run, and continues with all of them. A run that has ended is left out of the next connection.

import type { Client } from "@connectrpc/connect";
import type { RunEvent } from "@pawl/proto/pawl/v1/event_pb";
import type { EventService, WatchResponse } from "@pawl/proto/pawl/v1/event_service_pb";
import type { Clock } from "./backoff.ts";
import { Cursor, type Verdict } from "./cursor.ts";
import { reconnecting } from "./reconnecting.ts";
import { isTerminalEventType } from "./status.ts";
import { Gap } from "./stream-error.ts";

export interface WatchManyOptions {
  /** Only events of these dotted types. The terminal event of each run always comes. */
  readonly types?: readonly string[] | undefined;
  /** Ends the watch without an error. The runs continue. */
  readonly signal?: AbortSignal | undefined;
  /** The longest time without a message or a heartbeat. Default 45 s. */
  readonly silenceMs?: number | undefined;
  /** Called for a run that cannot be read, for example because a user deleted it. The others continue. */
  readonly onLost?: ((runId: string, reason: string) => void) | undefined;
}

/** A run, and the last event that the caller has of it. */
export interface ManyRun {
  readonly runId: string;
  readonly afterEventId?: bigint | number | undefined;
}

/** Watches at most 100 runs to their ends. @throws PawlError for an error that no reconnect removes */
export function watchMany(
  eventService: Pick<Client<typeof EventService>, "watch">,
  runs: readonly ManyRun[],
  { types: wanted = [], signal, silenceMs, onLost }: WatchManyOptions,
  clock: Clock,
): AsyncGenerator<RunEvent, void, undefined> {
  const types = [...wanted];
  const open = new Map(
    runs.map(({ runId, afterEventId = 0 }) => [
      runId,
      new Cursor({ afterEventId: BigInt(afterEventId), isFiltered: types.length > 0 }),
    ]),
  );
  function* take(message: WatchResponse): Generator<RunEvent> {
    const { runId, events, done, reason } = message;
    const cursor = open.get(runId);
    if (cursor === undefined) return;
    for (const event of events) {
      const verdict: Verdict = cursor.judge(event);
      if (verdict === "gap") throw new Gap(cursor.lastEventId, event);
      if (isTerminalEventType(event.type)) open.delete(runId);
      if (verdict === "take") yield event;
    }
    if (!done) return;
    open.delete(runId);
    if (reason !== "") onLost?.(runId, reason);
  }
  return reconnecting(
    {
      open: (connection) => {
        const places = [...open].map(([runId, { lastEventId: afterEventId }]) => ({
          ...{ runId, afterEventId },
        }));
        return eventService.watch({ runs: places, types }, { signal: connection });
      },
      take,
      isOver: () => open.size === 0,
      early: "the stream ended before the runs did",
      ...{ signal, silenceMs },
    },
    clock,
  );
}
