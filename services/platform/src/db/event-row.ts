// A row of run_events, and the event of that row.

import type { RunEvent } from "@pawl/core/log/event";
import type { RunId } from "@pawl/core/name/ids";
import { json, number, orNull, text, uuid } from "./columns.ts";
import type { Typed } from "./query.ts";

/** The columns have the names of the database. Logs are long, and renaming would cost time. */
export const EVENT = {
  run_id: uuid<RunId>(),
  seq: number(),
  type: text(),
  node_id: text(),
  iteration: number(),
  attempt: number(),
  epoch: number(),
  payload: json(),
  /** The user's JSON, selected as text so that the driver does not parse it. */
  value: orNull(text()),
  /** Milliseconds since the epoch. Parsing times as text took the driver a quarter of the time of a long log. */
  at: number(),
};

/** The cast is safe, because rows are written from typed facts. */
export function toEvent(row: Typed<typeof EVENT>): RunEvent {
  const { run_id: runId, seq, type, node_id: nodeId, iteration, attempt, epoch, payload, at } = row;
  const event = { runId, seq, type, nodeId, iteration, attempt, epoch, payload, at };
  return (row.value === null ? event : { ...event, value: row.value }) as unknown as RunEvent;
}

/** The columns of an event in a JSON array. */
export type EventCells = readonly [
  seq: number,
  type: string,
  nodeId: string,
  iteration: number,
  attempt: number,
  epoch: number,
  payload: object,
  value: string | null,
  at: number,
];

/** The cast is safe, as above. */
export function fromCells(runId: RunId, cells: EventCells): RunEvent {
  const [seq, type, nodeId, iteration, attempt, epoch, payload, value, at] = cells;
  const event = { runId, seq, type, nodeId, iteration, attempt, epoch, payload, at };
  return (value === null ? event : { ...event, value }) as unknown as RunEvent;
}
