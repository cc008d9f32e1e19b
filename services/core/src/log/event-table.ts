// The one table of event types. The scheduler's fold, the view of the clients, tags, status updates, SSE and the checker of causes all look
// an event up here (`meaning.ts`). So they cannot disagree about its meaning.

import type { Classed } from "../fault/cause.ts";
import type { EventPlace, EventType, NodeStatus, RunStatus } from "./event.ts";
import { NODE_EVENTS, type NodePayloads } from "./node-events.ts";
import { RUN_EVENTS, type RunPayloads } from "./run-events.ts";

/** Why an event happened: a machine-readable cause and a message for people. Either may be empty. */
type Why = readonly [cause: string, message: string];

/** A type that may cause another one. `settled` means every type that settles a node. */
export type Cause = EventType | "settled";

type Logged<Payload> = EventPlace & { readonly payload: Payload; readonly value?: string };

/** The meaning of one event type. A field is absent if the type has no such meaning. */
interface EventRow<Payload> {
  /** The status that the event gives the run. */
  readonly run?: RunStatus;
  /** The same, if the payload decides. */
  runOf?(this: void, payload: Payload): RunStatus;
  /** The status that the event gives the node execution it names. */
  readonly node?: NodeStatus;
  /** The event gives no status, but it is about one node execution and the scheduler folds it. */
  readonly isAboutNode?: true;
  why?(this: void, payload: Payload): Why;
  /** The failure that the event reports: its cause, and its class if that differs. Undefined if it reports none. */
  failure?(this: void, payload: Payload): Classed | undefined;
  /** The metadata of the event's tag. A type without it has no tag. */
  tag?(this: void, event: Logged<Payload>): object;
  /** The metadata shows the user's JSON. */
  readonly isTaggedByValue?: true;
  /** The tag's name, if it differs from the type's name with underscores. */
  readonly tagName?: string;
  /** The name of the user's JSON in a payload on the wire. `details` if absent. */
  readonly valueKey?: string;
  /** The event takes a seq, but the scheduler does not fold it and the run gets no new version. */
  readonly isStreamed?: true;
  /** The types that may cause it. Any type if absent. */
  readonly causes?: readonly Cause[];
  /** Other names for the same event, as other engines write them. */
  readonly aliases?: readonly string[];
}

/** A row for each type in a list of payloads. */
export type EventRows<P> = { readonly [T in keyof P]: EventRow<P[T]> };

/** The payload of every event type. */
export interface Payloads extends RunPayloads, NodePayloads {}

/** The row of every event type. */
export const EVENTS = { ...RUN_EVENTS, ...NODE_EVENTS };

/** A row whose type is not known at compile time. Callers give it the payload of the same event. */
type AnyRow = EventRow<Payloads[keyof Payloads]>;

const rows: ReadonlyMap<string, AnyRow> = new Map(Object.entries<AnyRow>(EVENTS));

/** The row of a type. Undefined for a type that a newer writer added. */
export const rowOf = (type: string): AnyRow | undefined => rows.get(type);

/** The types whose row passes `test`, in the order of the table. */
export const typesWhere = (test: (row: AnyRow) => boolean): readonly (keyof Payloads)[] =>
  // A literal table has exactly its declared keys.
  (Object.keys(EVENTS) as (keyof Payloads)[]).filter((type) => test(EVENTS[type]));
