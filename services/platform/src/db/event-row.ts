// A row of run_events and the event it stands for.

import type { RunEvent } from "@pawl/core/log/event";

export interface EventRow {
  readonly run_id: string;
  readonly seq: number;
  readonly type: string;
  readonly node_id: string;
  readonly iteration: number;
  readonly attempt: number;
  readonly epoch: number;
  readonly payload: object;
  /** The user's JSON, selected as text so that nothing parses it on the way. */
  readonly value: string | null;
  /** A time, or milliseconds since the epoch where the statement counts them. */
  readonly at: Date | number;
}

/** Trusts the log: rows were written from typed facts, so the one cast of this file holds by construction. */
export function toEvent(row: EventRow): RunEvent {
  const event = {
    runId: row.run_id,
    seq: row.seq,
    type: row.type,
    nodeId: row.node_id,
    iteration: row.iteration,
    attempt: row.attempt,
    epoch: row.epoch,
    payload: row.payload,
    at: typeof row.at === "number" ? row.at : row.at.getTime(),
    ...(row.value === null ? {} : { value: row.value }),
  };
  return event as unknown as RunEvent;
}
