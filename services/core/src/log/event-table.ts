// The one table of event types. The scheduler's fold, the view of the clients, tags, status updates, SSE and the checker of causes
// all look an event up here (`meaning.ts`), so they cannot disagree about what it means.

import type { EventRow } from "./event-row.ts";
import { NODE_EVENTS, type NodePayloads } from "./node-events.ts";
import { RUN_EVENTS, type RunPayloads } from "./run-events.ts";

/** The payload of every event type. */
export interface Payloads extends RunPayloads, NodePayloads {}

/** The row of every event type. */
export const EVENTS = { ...RUN_EVENTS, ...NODE_EVENTS };

/** A row whose type is not known at compile time. Callers give it the payload of the same event. */
export type AnyRow = EventRow<Payloads[keyof Payloads]>;

const rows: ReadonlyMap<string, AnyRow> = new Map(Object.entries<AnyRow>(EVENTS));

/** The row of a type; undefined for a type that a newer writer added. */
export const rowOf = (type: string): AnyRow | undefined => rows.get(type);

/** The types whose row passes `test`, in the order of the table. */
export const typesWhere = (test: (row: AnyRow) => boolean): readonly (keyof Payloads)[] =>
  // The keys of a literal table are exactly its declared ones.
  (Object.keys(EVENTS) as (keyof Payloads)[]).filter((type) => test(EVENTS[type]));
