// One stream of events over many connections. States: connecting → reading → (lost → pausing → connecting)* → over.
//
// Races: a connection breaks, a gateway drains or restarts, a gateway cuts off a slow reader, a peer is silent, events repeat or are
// missing. The watch keeps only the last event id. So every event of the log comes once and in order, and the terminal event is the last.

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { RunEvent } from "@pawl/proto/pawl/v1/event_pb";
import type {
  StreamItem as WireStreamItem,
  WatchRunRequestSchema,
} from "@pawl/proto/pawl/v1/event_service_pb";
import { backoffMs, type Clock, followSignal, SYSTEM_CLOCK } from "./backoff.ts";
import { Cursor } from "./cursor.ts";
import { PawlError } from "./errors.ts";
import { isTerminalEventType } from "./status.ts";
import { Gap, GapCount, streamError } from "./stream-error.ts";

/** Why a connection was lost. */
export type LostCause = "closed" | "error" | "gap" | "silence";

export interface Reconnect {
  readonly cause: LostCause;
  readonly error: PawlError;
  /** Reconnects in a row without progress, from 1. */
  readonly retry: number;
  readonly delayMs: number;
  /** The cursor after which it resumes. */
  readonly afterEventId: bigint;
}

export interface WatchOptions {
  /** The last event the caller has; default 0, from the start. */
  readonly afterEventId?: bigint | number | undefined;
  /** Only events of these dotted types. The terminal event always comes. */
  readonly types?: readonly string[] | undefined;
  /** Only events of these nodes. The terminal event always comes. @throws NODE_NOT_FOUND for a node that the run does not have */
  readonly nodeIds?: readonly string[] | undefined;
  /** Only events of nodes of these types, or whose iterations run these types. The terminal event always comes. */
  readonly nodeTypes?: readonly string[] | undefined;
  /** Ends the watch without an error. The run continues. */
  readonly signal?: AbortSignal | undefined;
  /** Called before every pause. */
  readonly onReconnect?: ((reconnect: Reconnect) => void) | undefined;
  /** Called at the first message of every connection. */
  readonly onConnect?: (() => void) | undefined;
  /** The longest time without a message or a heartbeat. Default 45 s, three heartbeats. */
  readonly silenceMs?: number | undefined;
  /** The longest time without progress. After it the last error is thrown. Default 5 minutes, Infinity for no limit. */
  readonly giveUpMs?: number | undefined;
}

/** A message of a stream of events. */
export interface EventBatch {
  readonly events: readonly RunEvent[];
  /** Instead of events, if the request names modes. */
  readonly items?: readonly WireStreamItem[] | undefined;
}

/** The request of a stream, without its cursor. */
export type StreamForm = Omit<MessageInitShape<typeof WatchRunRequestSchema>, "$typeName">;

/** The calls of a watch. */
export interface WatchSource {
  open(request: StreamForm, signal: AbortSignal): AsyncIterable<EventBatch>;
  /** The id of the last event of a run that has ended. Undefined while it is live. */
  lastEventIdOfEnded(runId: string, signal: AbortSignal): Promise<bigint | undefined>;
}

type Ending =
  | { readonly kind: "over" }
  | {
      readonly kind: "lost";
      readonly cause: LostCause;
      readonly error: PawlError;
      /** Whether this connection brought anything new. */
      readonly hasProgress: boolean;
    };

const SILENCE_MS = 45_000;
const GIVE_UP_MS = 5 * 60_000;
/** The time in which a server must end a stream after the terminal event. */
const END_MS = 1_000;

/** What a stream shows of a message, in order, and its place in the log. */
export interface Taker<Entry> {
  /** The newest event taken. A resumed stream begins after it. */
  readonly lastEventId: bigint;
  take(batch: EventBatch): Iterable<Taken<Entry>>;
}

type Taken<Entry> =
  | { readonly kind: "take"; readonly entry: Entry; readonly isOver: boolean }
  /** Not shown. A heartbeat is progress. */
  | { readonly kind: "drop"; readonly isHeartbeat: boolean }
  | { readonly kind: "gap"; readonly event: RunEvent };

/** Takes every event once and in order. */
class EventTaker implements Taker<RunEvent> {
  readonly #cursor: Cursor;

  constructor(cursor: Cursor) {
    this.#cursor = cursor;
  }

  get lastEventId(): bigint {
    return this.#cursor.lastEventId;
  }

  *take({ events }: EventBatch): Iterable<Taken<RunEvent>> {
    for (const event of events) {
      const verdict = this.#cursor.judge(event);
      if (verdict === "gap") yield { kind: "gap", event };
      else if (verdict === "drop") yield { kind: "drop", isHeartbeat: event.eventId === 0n };
      else yield { kind: "take", entry: event, isOver: isTerminalEventType(event.type) };
    }
  }
}

/** Watches one run to its end. @throws PawlError for an error that no reconnect removes, and after `giveUpMs` without progress. */
export function watchRun(
  source: WatchSource,
  runId: string,
  options: WatchOptions = {},
  clock: Clock = SYSTEM_CLOCK,
): AsyncGenerator<RunEvent, void, undefined> {
  const form = formOf(runId, options);
  const afterEventId = BigInt(options.afterEventId ?? 0);
  const isFiltered = [form.types, form.nodeIds, form.nodeTypes].some((list) => list.length > 0);
  const taker = new EventTaker(new Cursor({ afterEventId, isFiltered }));
  return follow({ source, form, taker, options }, clock);
}

/** The filters of a stream as a request. */
export const formOf = (runId: string, { types, nodeIds, nodeTypes }: WatchOptions) => ({
  runId,
  types: [...(types ?? [])],
  nodeIds: [...(nodeIds ?? [])],
  nodeTypes: [...(nodeTypes ?? [])],
});

interface Following<Entry> {
  readonly source: WatchSource;
  readonly form: StreamForm & { readonly runId: string };
  readonly taker: Taker<Entry>;
  readonly options: WatchOptions;
}

/** One stream over many connections. @throws as watchRun does */
export async function* follow<Entry>(
  following: Following<Entry>,
  clock: Clock = SYSTEM_CLOCK,
): AsyncGenerator<Entry, void, undefined> {
  const { options, taker } = following;
  const signal = options.signal ?? new AbortController().signal;
  const gaps = new GapCount();
  let retry = 0;
  let failingSinceMs: number | undefined;
  while (!signal.aborted) {
    const ending = yield* readOnce(following, signal);
    if (ending.kind === "over" || signal.aborted) return;
    const { cause, error, hasProgress } = ending;
    if (hasProgress) {
      retry = 0;
      failingSinceMs = undefined;
    }
    failingSinceMs ??= clock.now();
    const isFinal = cause === "error" && !error.retryable;
    if (error instanceof Gap ? gaps.isLasting(error) : isFinal) throw error;
    if (clock.now() - failingSinceMs > (options.giveUpMs ?? GIVE_UP_MS)) throw error;
    retry++;
    const delayMs = Math.max(backoffMs(retry, clock.random()), error.retryAfterMs ?? 0);
    const afterEventId = taker.lastEventId;
    options.onReconnect?.({ cause, error, retry, delayMs, afterEventId });
    await clock.pause(delayMs, signal);
  }
}

/** One connection, from the cursor to its end. */
async function* readOnce<Entry>(
  { source, form, taker, options }: Following<Entry>,
  left: AbortSignal,
): AsyncGenerator<Entry, Ending, undefined> {
  const { runId } = form;
  const connection = new AbortController();
  const { signal } = connection;
  followSignal(connection, left);
  const silenceMs = options.silenceMs ?? SILENCE_MS;
  let isSilent = false;
  let hasBegun = false;
  let hasProgress = false;
  let close = (): void => connection.abort();
  const lost = (cause: LostCause, error: PawlError): Ending => ({
    kind: "lost",
    cause,
    error,
    hasProgress,
  });
  try {
    const request = { ...form, afterEventId: taker.lastEventId };
    const responses = source.open(request, signal)[Symbol.asyncIterator]();
    for (;;) {
      // The timer runs only while this waits for the peer. A consumer may take its time with an event.
      const timer = setTimeout(() => {
        isSilent = true;
        connection.abort();
      }, silenceMs);
      const next = await responses.next().finally(() => clearTimeout(timer));
      if (next.done === true) break;
      if (!hasBegun) options.onConnect?.();
      hasBegun = true;
      const { events, items = [] } = next.value;
      hasProgress ||= events.length + items.length === 0; // a heartbeat
      for (const taken of taker.take(next.value)) {
        if (taken.kind === "gap") return lost("gap", new Gap(taker.lastEventId, taken.event));
        hasProgress ||= taken.kind === "take" || taken.isHeartbeat;
        if (taken.kind === "drop") continue;
        const { entry, isOver } = taken;
        // Set before the yield: a consumer that has the terminal event may leave the loop at once.
        if (isOver) close = () => void readToEnd(responses, connection);
        yield entry;
        if (isOver) return { kind: "over" };
      }
    }
    // The server ended the stream. That is correct if the caller already had the terminal event.
    const endId = await source.lastEventIdOfEnded(runId, signal);
    if (endId !== undefined && endId <= taker.lastEventId) return { kind: "over" };
    return lost("closed", new PawlError("UNREACHABLE", "the stream ended before the run did"));
  } catch (thrown) {
    if (isSilent) {
      return lost(
        "silence",
        new PawlError("UNREACHABLE", `the gateway sent nothing for ${silenceMs} ms`),
      );
    }
    return lost("error", streamError(thrown, hasBegun));
  } finally {
    close();
  }
}

/**
 * Lets the server end a stream after its terminal event. An abort would reset the stream. A gateway closes an HTTP/2 connection on which a
 * client resets many streams: every other call on it fails and waits for its retry. Over HTTP/1.1 an abort closes the socket.
 */
async function readToEnd(
  responses: AsyncIterator<EventBatch>,
  connection: AbortController,
): Promise<void> {
  const timer = setTimeout(() => connection.abort(), END_MS);
  try {
    while ((await responses.next()).done !== true);
  } catch {
    // The caller has every event.
  } finally {
    clearTimeout(timer);
  }
}
