// A row of run_events as statements give it, and the event of that row.

import type { RunEvent } from "@pawl/core/log/event";
import type { RunId } from "@pawl/core/name/ids";
import { json, number, orNull, text, uuid } from "./columns.ts";
import type { Typed } from "./query.ts";

/** The columns by their own names: logs are long, and other names would cost time. */
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
  /** Milliseconds since the epoch: as text, times cost the driver a quarter of the time of a long log. */
  at: number(),
};

/** Trusts the log: rows were written from typed facts, so the one cast of this file holds by construction. */
export function toEvent(row: Typed<typeof EVENT>): RunEvent {
  const { run_id: runId, seq, type, node_id: nodeId, iteration, attempt, epoch, payload, at } = row;
  const event = { runId, seq, type, nodeId, iteration, attempt, epoch, payload, at };
  return (row.value === null ? event : { ...event, value: row.value }) as unknown as RunEvent;
}
