// Keeps one run's view in step with its event stream and tells React of it, at most once per frame.
//
// States: connecting → live ⇄ reconnecting(n) → ended | refused. The race it survives: the stream may break anywhere and be
// reopened by another gateway; the fold's cursor, not the stream, says what was seen, so nothing is lost or shown twice.

import { isFinal } from "@pawl/core/log/event";
import type { RunEvent } from "@pawl/proto/pawl/v1/event_pb";
import { readFault } from "../api/fault.ts";
import type { Fault } from "../api/fault.ts";
import { reduceEvents } from "./reduce.ts";
import { EMPTY_RUN } from "./view.ts";
import type { RunView } from "./view.ts";

export type Connection =
  | { readonly kind: "connecting" }
  | { readonly kind: "live" }
  | { readonly kind: "reconnecting"; readonly tries: number }
  | { readonly kind: "ended" }
  | { readonly kind: "refused"; readonly fault: Fault };

export interface FeedState {
  readonly view: RunView;
  readonly connection: Connection;
  /** How far the database's clock is known to be ahead of this machine's: no event comes before it happened. */
  readonly clockSkewMs: number;
}

/** Reads the whole log and follows it, resuming by itself; `onTrouble` counts the tries in a row without progress. */
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
  #state: FeedState = { view: EMPTY_RUN, connection: { kind: "connecting" }, clockSkewMs: 0 };
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
    const view = reduceEvents(this.#state.view, batch);
    const newest = view.rows.at(-1);
    const clockSkewMs = Math.max(this.#state.clockSkewMs, (newest?.at ?? 0) - Date.now());
    const kind = isFinal(view.status) ? "ended" : "live";
    this.#set({ view, clockSkewMs, connection: { kind } });
  }

  #set(change: Partial<FeedState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}
