// Folds the event stream of one run and notifies React, at most once per frame.
//
// States: connecting → live ⇄ reconnecting(n) → ended | refused. Race: the stream breaks at any place, and another gateway resumes it. The
// feed counts by the seq of the events and not by the stream, so it shows every event exactly once.

import { fromWire } from "@pawl/client";
import { isFinal } from "@pawl/core/log/event";
import { EMPTY_VIEW, type RunView, ViewFold } from "@pawl/core/log/view";
import type { RunEvent } from "@pawl/proto/pawl/v1/event_pb";
import { type Fault, readFault } from "../api/fault.ts";
import { eventRow, type EventRow } from "./event-rows.ts";

export type Connection =
  | { readonly kind: "connecting" }
  | { readonly kind: "live" }
  | { readonly kind: "reconnecting"; readonly tries: number }
  | { readonly kind: "ended" }
  | { readonly kind: "refused"; readonly fault: Fault };

export interface FeedState {
  readonly view: RunView;
  /** Every event so far, also of types that this console does not know. */
  readonly rows: readonly EventRow[];
  readonly connection: Connection;
  /** The least time by which the database's clock is ahead of this machine's. An event cannot arrive before it happened. */
  readonly clockSkewMs: number;
}

/** Reads the whole log and follows it. The watch resumes by itself. `onTrouble` gets the number of tries without progress. */
export type WatchLog = (options: {
  readonly signal: AbortSignal;
  readonly onOpen: () => void;
  readonly onTrouble: (tries: number) => void;
}) => AsyncIterable<RunEvent>;

export class RunFeed {
  readonly #watch: WatchLog;
  readonly #nextFrame: (draw: () => void) => void;
  readonly #stop = new AbortController();
  readonly #listeners = new Set<() => void>();
  readonly #fold = new ViewFold();
  #state: FeedState = {
    view: EMPTY_VIEW,
    rows: [],
    connection: { kind: "connecting" },
    clockSkewMs: 0,
  };
  #waiting: RunEvent[] = [];
  #drawing = false;

  constructor(watch: WatchLog, nextFrame: (draw: () => void) => void) {
    this.#watch = watch;
    this.#nextFrame = nextFrame;
  }

  readonly snapshot = (): FeedState => this.#state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Follows the log until its end, a refusal or `stop`. Never rejects: a refusal is a state. */
  async start(): Promise<void> {
    const { signal } = this.#stop;
    try {
      const events = this.#watch({
        signal,
        onOpen: () => this.#set({ connection: { kind: "live" } }),
        onTrouble: (tries) => this.#set({ connection: { kind: "reconnecting", tries } }),
      });
      for await (const event of events) {
        this.#waiting.push(event);
        this.#draw();
      }
      this.#flush();
    } catch (error) {
      this.#flush();
      this.#set({ connection: { kind: "refused", fault: readFault(error) } });
    }
  }

  stop(): void {
    this.#stop.abort();
    this.#listeners.clear();
  }

  #draw(): void {
    if (this.#drawing) return;
    this.#drawing = true;
    this.#nextFrame(() => this.#flush());
  }

  #flush(): void {
    this.#drawing = false;
    const batch = this.#waiting;
    this.#waiting = [];
    if (batch.length === 0 || this.#stop.signal.aborted) return;
    const rows = this.#add(batch);
    const view = this.#fold.view();
    const clockSkewMs = Math.max(this.#state.clockSkewMs, (rows.at(-1)?.at ?? 0) - Date.now());
    const kind = isFinal(view.status) ? "ended" : "live";
    this.#set({ view, rows, clockSkewMs, connection: { kind } });
  }

  /** Folds the events that are new, and returns the rows with theirs. Heartbeats have the id 0 and are never new. */
  #add(batch: readonly RunEvent[]): readonly EventRow[] {
    const { rows } = this.#state;
    let lastSeq = rows.at(-1)?.seq ?? 0;
    const added: EventRow[] = [];
    for (const wire of batch) {
      if (Number(wire.eventId) <= lastSeq) continue;
      lastSeq = Number(wire.eventId);
      const event = fromWire(wire);
      added.push(eventRow(wire, event));
      if (event !== undefined) this.#fold.add(event);
    }
    return added.length === 0 ? rows : [...rows, ...added];
  }

  #set(change: Partial<FeedState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}
