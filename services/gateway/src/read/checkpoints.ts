// Folds of long runs that this gateway has made, as texts at every thousandth event. A read of an earlier moment begins at the nearest one
// below it, so it folds at most a thousand events. The first read of a far event folds the log from its beginning: nine tenths of its time
// go to the database driver (0.6 to 1.8 s for 50,000 events).
//
// A log only grows, so a checkpoint stays right. Two reads at the same time may make the same one twice; both texts are equal. The bound is
// on characters: the checkpoints of the run that was read longest ago go first.

import type { Graph } from "@pawl/core/definition/graph";
import { EngineError } from "@pawl/core/fault/engine-error";
import { apply, newRunState } from "@pawl/core/log/fold";
import { readSnapshot, SNAPSHOT_FORMAT, writeSnapshot } from "@pawl/core/log/snapshot";
import type { RunState } from "@pawl/core/log/state";
import type { RunId } from "@pawl/core/name/ids";
import type { Pool } from "@pawl/platform/db/pool";
import { readEvents } from "@pawl/platform/store/log/reads";

const STEP = 1_000;
const CHARACTERS_MAX = 64 * 1024 * 1024;
/** A larger state is folded again each time. */
const BODY_MAX = 8 * 1024 * 1024;

export class Checkpoints {
  readonly #charactersMax: number;
  /** By run, the run that was read last at the end; then by seq. */
  readonly #runs = new Map<RunId, Map<number, string>>();
  #characters = 0;

  constructor(charactersMax: number = CHARACTERS_MAX) {
    this.#charactersMax = charactersMax;
  }

  /** The state after an event that the log has. @throws EVENT_LOG_CORRUPTION, STORE_UNAVAILABLE */
  async foldAt(pool: Pool, runId: RunId, graph: Graph, atSeq: number): Promise<RunState> {
    const state = this.#nearest(runId, graph, atSeq) ?? newRunState(runId, graph);
    while (state.lastSeq < atSeq) {
      const end = Math.min(atSeq, (Math.floor(state.lastSeq / STEP) + 1) * STEP);
      const { events } = await readEvents(pool, runId, state.lastSeq, end - state.lastSeq);
      for (const event of events) {
        if (event.seq !== state.lastSeq + 1) throw gap(event.seq, state.lastSeq);
        apply(state, event);
      }
      if (events.length === 0) throw gap(atSeq, state.lastSeq);
      if (state.lastSeq % STEP === 0) this.#keep(state);
    }
    return state;
  }

  #nearest(runId: RunId, graph: Graph, atSeq: number): RunState | undefined {
    const kept = this.#runs.get(runId);
    if (kept === undefined) return undefined;
    this.#runs.delete(runId);
    this.#runs.set(runId, kept);
    for (let seq = Math.floor(atSeq / STEP) * STEP; seq > 0; seq -= STEP) {
      const body = kept.get(seq);
      if (body !== undefined) return readSnapshot(runId, graph, { format: SNAPSHOT_FORMAT, body });
    }
    return undefined;
  }

  #keep(state: RunState): void {
    const { runId, lastSeq } = state;
    const own = this.#runs.get(runId) ?? new Map<number, string>();
    this.#runs.set(runId, own);
    if (own.has(lastSeq)) return;
    const body = writeSnapshot(state);
    if (body.length > BODY_MAX) return;
    own.set(lastSeq, body);
    this.#characters += body.length;
    for (const [other, kept] of this.#runs) {
      if (this.#characters <= this.#charactersMax) return;
      this.#runs.delete(other);
      for (const text of kept.values()) this.#characters -= text.length;
    }
  }
}

const gap = (seq: number, last: number): EngineError =>
  new EngineError("EVENT_LOG_CORRUPTION", `event ${seq} follows ${last}: the log has a gap`, {
    metadata: { seq: String(seq) },
  });
