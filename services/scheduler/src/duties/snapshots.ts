// Writes snapshots of long runs, after their commits and beside the ticks: one at a time, from a fold of its own that it reads from the log.
// So a snapshot never holds anything that is not committed, and its times are the log's. A missing snapshot only makes a load slower; a run
// that finds no room in the line is asked for again by its next thousand events.
//
// A snapshot is read, folded and written on this thread, in pieces between which ticks run. Snapshots of one run are two thousand events
// or a thirty-second of its length apart, whichever is more, so that their cost grows with the log and not with its square. A slow run
// gets one for two hundred events, every ten minutes at most.

import { SNAPSHOT_FORMAT, writeSnapshot } from "@pawl/core/log/snapshot";
import type { RunId } from "@pawl/core/name/ids";
import type { Journal } from "@pawl/platform/store/tick/journal";
import type { Recovery } from "@pawl/platform/store/recovery/recovery";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import type { Logger } from "@pawl/platform/telemetry/log";
import type { Definitions } from "../commit/definitions.ts";
import { loadRuns } from "../commit/load-run.ts";

const WAITING_MAX = 100;
/** In characters. A larger state is read from its log. */
const BODY_MAX = 64 * 1024 * 1024;

export interface SnapshotParts {
  readonly journal: Journal;
  readonly definitions: Definitions;
  readonly recovery: Recovery;
  readonly log: Logger;
}

export class SnapshotWriter {
  readonly #parts: SnapshotParts;
  /** What to do about each run's snapshot. */
  readonly #waiting = new Map<RunId, "write" | "drop">();
  #busy: Promise<void> | undefined;
  #stopped = false;

  constructor(parts: SnapshotParts) {
    this.#parts = parts;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#busy;
  }

  /** Writes a snapshot soon, or drops that of a run that has ended. */
  add(runId: RunId, work: "write" | "drop"): void {
    if (this.#stopped || this.#waiting.size >= WAITING_MAX) return;
    this.#waiting.set(runId, work);
    this.#busy ??= this.#drain().finally(() => {
      this.#busy = undefined;
    });
  }

  async #drain(): Promise<void> {
    // The tick that asked runs first.
    await new Promise((resolve) => setImmediate(resolve));
    for (const [runId, work] of this.#waiting) {
      this.#waiting.delete(runId);
      if (this.#stopped) return;
      try {
        if (work === "drop") await this.#parts.recovery.dropSnapshot(runId);
        else await this.#write(runId);
      } catch (error) {
        this.#parts.log.warn({ err: error, run_id: runId }, "a snapshot was not written");
      }
    }
  }

  async #write(runId: RunId): Promise<void> {
    const [found] = await loadRuns(this.#parts, [runId]);
    if (found?.kind !== "folded" || found.run.hasEnded) return;
    await new Promise((resolve) => setImmediate(resolve));
    const { state } = found;
    const body = writeSnapshot(state);
    if (body.length > BODY_MAX) return;
    const snapshot = { seq: state.lastSeq, format: SNAPSHOT_FORMAT, body };
    await this.#parts.recovery.saveSnapshot(runId, snapshot);
    METRICS.snapshotsWritten.add(1);
  }
}
