// One stream of many runs over many connections. Race: a connection breaks between the messages of two runs. The stream keeps the last
// event id of each run, and continues with all of them. A run that has ended is left out of the next connection.

import { type Client, Code } from "@connectrpc/connect";
import type { RunEvent } from "@pawl/proto/pawl/v1/event_pb";
import type { EventService } from "@pawl/proto/pawl/v1/event_service_pb";
import { audible } from "./audible.ts";
import { backoffMs, type Clock, followSignal } from "./backoff.ts";
import { Cursor, type Verdict } from "./cursor.ts";
import { PawlError, pawlErrorFrom } from "./errors.ts";
import { isTerminalEventType } from "./status.ts";

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

const SILENCE_MS = 45_000;
/** Connections in a row without news, until the last error is thrown. */
const ATTEMPTS_MAX = 30;

/** Watches at most 100 runs to their ends. @throws PawlError for an error that no reconnect removes */
export async function* watchMany(
  eventService: Pick<Client<typeof EventService>, "watch">,
  runs: readonly ManyRun[],
  options: WatchManyOptions,
  clock: Clock,
): AsyncGenerator<RunEvent, void, undefined> {
  const types = [...(options.types ?? [])];
  const signal = options.signal ?? new AbortController().signal;
  const open = new Map(
    runs.map(({ runId, afterEventId = 0 }) => [
      runId,
      new Cursor({ afterEventId: BigInt(afterEventId), isFiltered: types.length > 0 }),
    ]),
  );
  for (let retry = 0; open.size > 0 && !signal.aborted;) {
    const connection = new AbortController();
    followSignal(connection, signal);
    let error = new PawlError("UNREACHABLE", "the stream ended before the runs did");
    try {
      const wanted = [...open].map(([runId, { lastEventId: afterEventId }]) => ({
        ...{ runId, afterEventId },
      }));
      const messages = eventService.watch({ runs: wanted, types }, { signal: connection.signal });
      for await (const message of audible(messages, connection, options.silenceMs ?? SILENCE_MS)) {
        retry = 0;
        const cursor = open.get(message.runId);
        if (cursor === undefined) continue;
        for (const event of message.events) {
          const verdict: Verdict = cursor.judge(event);
          if (verdict === "gap") throw gapError(event);
          if (verdict === "take") yield event;
          if (isTerminalEventType(event.type)) open.delete(message.runId);
        }
        if (!message.done) continue;
        open.delete(message.runId);
        if (message.reason !== "") options.onLost?.(message.runId, message.reason);
      }
    } catch (thrown) {
      error = pawlErrorFrom(thrown);
      if (signal.aborted) return;
      const isCut = connection.signal.aborted || error.reason === "CALLER_CANCELLED";
      if (!error.retryable && !isCut) throw error;
    } finally {
      connection.abort();
    }
    if (open.size === 0) return;
    retry += 1;
    if (retry > ATTEMPTS_MAX) throw error;
    await clock.pause(Math.max(backoffMs(retry, clock.random()), error.retryAfterMs ?? 0), signal);
  }
}

/** The next connection begins after the last event in order. */
const gapError = ({ runId, eventId }: RunEvent): PawlError =>
  new PawlError("UNREACHABLE", `run ${runId}: an event is missing before ${eventId}`, {
    code: Code.Unavailable,
    metadata: { runId },
  });
