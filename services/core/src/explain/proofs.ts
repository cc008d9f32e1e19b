// The newest event of each type by node execution: the index of evidence for explanations. It is filled event by event, so a long log need
// not be in memory. It keeps neither the users' JSON nor stream deltas.

import { isStreamedType, type EventType, type LoggedFact } from "../log/event.ts";
import type { Evidence } from "./reason.ts";

/** An event without the user's JSON. */
export interface Cited extends Evidence {
  readonly at: number;
  readonly payload: Readonly<Record<string, unknown>>;
}

type LastByType = Map<EventType, Cited>;

export class Proofs {
  readonly #last = new Map<string, LastByType>();

  /** Adds one event of the log. Call it in order of seq. */
  note(event: LoggedFact): void {
    if (isStreamedType(event.type)) return;
    const { seq, type, nodeId, iteration, at, payload } = event;
    const key = keyOf(nodeId, iteration);
    let last = this.#last.get(key);
    if (last === undefined) this.#last.set(key, (last = new Map()));
    last.set(type, { seq, type, nodeId, at, payload: { ...payload } });
  }

  /** The newest event of one of these types about a node execution. "" is the run itself. */
  newest(nodeId: string, iteration: number, ...types: readonly EventType[]): Cited | undefined {
    const last = this.#last.get(keyOf(nodeId, iteration));
    let newest: Cited | undefined;
    for (const type of types) {
      const cited = last?.get(type);
      if (cited !== undefined && (newest === undefined || cited.seq > newest.seq)) newest = cited;
    }
    return newest;
  }
}

/** The index of a whole log. */
export function proofsOf(events: Iterable<LoggedFact>): Proofs {
  const proofs = new Proofs();
  for (const event of events) proofs.note(event);
  return proofs;
}

const keyOf = (nodeId: string, iteration: number): string => `${iteration}/${nodeId}`;
