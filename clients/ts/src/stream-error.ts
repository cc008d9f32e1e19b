// What the loss of a stream means: a broken connection, an error of the gateway, or a gap in the log.

import { Code } from "@connectrpc/connect";
import type { RunEvent } from "@pawl/proto/pawl/v1/event_pb";
import { PawlError, pawlErrorFrom } from "./errors.ts";

/** A gap that stays after this many reconnects is in the log, not in the transport. */
const GAP_REOPENINGS = 3;

/** After its first message a request was valid. So an error without a reason of the server comes from the connection. */
export function streamError(thrown: unknown, hasBegun: boolean): PawlError {
  const error = pawlErrorFrom(thrown);
  if (error.serverReason !== undefined) return error;
  // The caller did not cancel the stream, so an intermediary reset it.
  const isCut = hasBegun || error.reason === "CALLER_CANCELLED";
  if (!isCut) return error;
  return new PawlError("UNREACHABLE", `the stream was cut: ${error.message}`, { cause: thrown });
}

/** An event is missing. The next connection begins after the last event in order. */
export class Gap extends PawlError {
  /** The event that is missing. */
  readonly place: string;

  constructor(lastEventId: bigint, { runId, eventId }: RunEvent) {
    const dueId = lastEventId + 1n;
    const what = eventId === dueId ? "a delta is missing before it" : `${dueId} was due`;
    super("EVENT_LOG_CORRUPTION", `run ${runId}: event ${eventId} came, ${what}`, {
      code: Code.DataLoss,
      metadata: { runId, lastEventId: String(lastEventId) },
    });
    this.place = `${runId}/${dueId}`;
  }
}

/** Counts how often the same event was missing in a row. */
export class GapCount {
  #place = "";
  #count = 0;

  /** Notes a gap. True if no reconnect removes it. */
  isLasting({ place }: Gap): boolean {
    this.#count = place === this.#place ? this.#count + 1 : 1;
    this.#place = place;
    return this.#count > GAP_REOPENINGS;
  }
}
