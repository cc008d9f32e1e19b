// Folds of long runs that this gateway has made, at every thousandth event. A read of an earlier moment begins at a copy of the nearest one
// below it, so it folds at most a thousand events. The first read of a far event folds the log from its beginning. PostgreSQL then reads a
// page while the gateway folds the page before it.
//
// Neighbours share what did not change between them (`log/copy.ts`). As texts, fifty checkpoints took five times as long to write
// as their log of 50,000 events took to read. Reading one back took half of a read.
//
// A log only grows, so a checkpoint stays right. Two reads at the same time may make the same one twice; both are equal. The bound is on
// bytes: the checkpoints of the run that was read longest ago go first.

import type { Graph } from "@pawl/core/definition/graph";
import { EngineError } from "@pawl/core/fault/engine-error";
import { copyState } from "@pawl/core/log/copy";
import type { RunEvent } from "@pawl/core/log/event";
import { apply, newRunState } from "@pawl/core/log/fold";
import type { RunState } from "@pawl/core/log/state";
import type { RunId } from "@pawl/core/name/ids";
import type { Pool } from "@pawl/platform/db/pool";
import { readEventsToFold } from "@pawl/platform/store/log/reads";
import type { RunRecord } from "@pawl/platform/store/runs/runs";
import { type SettledItems, toWireRunWithNodes } from "@pawl/platform/wire/run";
import type { Run } from "@pawl/proto/pawl/v1/run_pb";

const STEP = 1_000;
/** The messages of settled items, which live as long as their checkpoints, take about as much again. */
const BYTES_MAX = 64 * 1024 * 1024;
/** Estimates of a node or an event without its value, and of a place in a list. */
const OBJECT_BYTES = 512;
const PLACE_BYTES = 16;

/** The checkpoints of one run by seq. No reader changes them. */
interface Kept {
  readonly states: Map<number, RunState>;
  bytes: number;
}

export class Checkpoints {
  readonly #bytesMax: number;
  /** By run, the run that was read last at the end. */
  readonly #runs = new Map<RunId, Kept>();
  readonly #settled: SettledItems = new WeakMap();
  #bytes = 0;

  constructor(bytesMax: number = BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  /** The state after an event that the log has: a state of the caller's own. @throws EVENT_LOG_CORRUPTION, STORE_UNAVAILABLE */
  async foldAt(pool: Pool, runId: RunId, graph: Graph, atSeq: number): Promise<RunState> {
    const state = this.#nearest(runId, atSeq) ?? newRunState(runId, graph);
    let bytes = 0;
    for await (const events of pagesOf(pool, runId, state.lastSeq, atSeq)) {
      for (const event of events) {
        if (event.seq !== state.lastSeq + 1) throw gap(event.seq, state.lastSeq);
        apply(state, event);
        bytes += OBJECT_BYTES + (event.value?.length ?? 0);
      }
      if (state.lastSeq % STEP !== 0) continue;
      this.#keep(state, bytes);
      bytes = 0;
    }
    if (state.lastSeq < atSeq) throw gap(atSeq, state.lastSeq);
    return state;
  }

  /** The run as clients read it, after an event that the log has. @throws EVENT_LOG_CORRUPTION, STORE_UNAVAILABLE */
  async runAt(pool: Pool, record: RunRecord, graph: Graph, atSeq: number): Promise<Run> {
    const state = await this.foldAt(pool, record.runId, graph, atSeq);
    return toWireRunWithNodes(record, state, this.#settled);
  }

  #nearest(runId: RunId, atSeq: number): RunState | undefined {
    const kept = this.#runs.get(runId);
    if (kept === undefined) return undefined;
    this.#runs.delete(runId);
    this.#runs.set(runId, kept);
    for (let seq = Math.floor(atSeq / STEP) * STEP; seq > 0; seq -= STEP) {
      const state = kept.states.get(seq);
      if (state !== undefined) return copyState(state);
    }
    return undefined;
  }

  /** `bytes` came with the events since the checkpoint before. */
  #keep(state: RunState, bytes: number): void {
    const { runId, lastSeq } = state;
    const own = this.#runs.get(runId) ?? { states: new Map<number, RunState>(), bytes: 0 };
    this.#runs.set(runId, own);
    if (own.states.has(lastSeq)) return;
    own.states.set(lastSeq, copyState(state));
    const added = bytes + ownBytes(state);
    own.bytes += added;
    this.#bytes += added;
    for (const [other, kept] of this.#runs) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#runs.delete(other);
      this.#bytes -= kept.bytes;
    }
  }
}

/** What a checkpoint shares with no other. */
function ownBytes({ nodes, memory, undos, signalDigests }: RunState): number {
  let [objects, places] = [nodes.length, memory.size + undos.size + signalDigests.size];
  for (const { scope } of nodes) {
    objects += scope?.openCount ?? 0;
    places += scope?.items.length ?? 0;
  }
  return objects * OBJECT_BYTES + places * PLACE_BYTES;
}

/** The events after a seq up to another, in pages that end where a checkpoint is due, or earlier if their values are large. */
async function* pagesOf(
  pool: Pool,
  runId: RunId,
  afterSeq: number,
  atSeq: number,
): AsyncGenerator<readonly RunEvent[]> {
  const read = async (after: number): Promise<readonly RunEvent[]> => {
    if (after >= atSeq) return [];
    const end = Math.min(atSeq, (Math.floor(after / STEP) + 1) * STEP);
    return readEventsToFold(pool, runId, after, end - after);
  };
  let page = await read(afterSeq);
  for (;;) {
    const last = page.at(-1);
    if (last === undefined) return;
    const next = read(last.seq);
    // If the fold of this page fails, no one waits for the next page.
    next.catch(() => undefined);
    yield page;
    page = await next;
  }
}

const gap = (seq: number, last: number): EngineError =>
  new EngineError("EVENT_LOG_CORRUPTION", `event ${seq} follows ${last}: the log has a gap`, {
    metadata: { seq: String(seq) },
  });
