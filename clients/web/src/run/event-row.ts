// One row of the event log, as the page shows it.

import { timestampMs } from "@bufbuild/protobuf/wkt";
import { plainEvent } from "@pawl/client";
import { nodeStatusAfter, runStatusAfter } from "@pawl/core/log/meaning";
import type { RunEvent as LoggedEvent } from "@pawl/core/log/event";
import type { RunEvent } from "@pawl/proto/pawl/v1/event_pb";

export interface EventRow {
  readonly seq: number;
  readonly type: string;
  readonly nodeId: string;
  readonly iteration: number;
  readonly attempt: number;
  readonly at: number;
  /** The status that the event gives its run or node; "" where it changes none. */
  readonly status: string;
  /** The fact as compact JSON text. */
  readonly payload: string;
}

/** The row of an event. `known` is the same event of the log; undefined for a type that this console does not know. */
export const eventRow = (event: RunEvent, known: LoggedEvent | undefined): EventRow => ({
  seq: Number(event.eventId),
  type: event.type,
  nodeId: event.nodeId,
  iteration: event.iteration,
  attempt: event.attempt,
  at: event.time === undefined ? 0 : timestampMs(event.time),
  status: known === undefined ? "" : statusAfter(known),
  payload: JSON.stringify(plainEvent(event)["payload"]),
});

const statusAfter = (event: LoggedEvent): string =>
  runStatusAfter(event) ?? nodeStatusAfter(event.type) ?? "";
