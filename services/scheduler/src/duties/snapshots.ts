// Writes snapshots of long runs after their commits, one at a time. It folds the log again for each snapshot. So a snapshot holds only
// committed events and the times of the log. A missing snapshot only makes a load slower. If the queue of snapshots is full, the next
// thousand events of the run ask again.
//
// This thread reads, folds and writes a snapshot in pieces, and ticks run between the pieces. Two snapshots of a run are at least two
// thousand events and a thirty-second of its length apart. So their cost grows with the log and not with its square. A slow run gets a
// snapshot for two hundred events, at most every ten minutes.

import { SNAPSHOT_FORMAT, writeSnapshot } from "@pawl/core/log/snapshot";
import type { RunId } from "@pawl/core/name/ids";
import type { Journal } from "@pawl/platform/store/tick/journal";
import type { Recovery } from "@pawl/platform/store/recovery/recovery";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import type { Logger } from "@pawl/platform/telemetry/log";
import type { Definitions } from "../commit/definitions.ts";
import { loadRuns } from "../commit/load-run.ts";

const WAITING_MAX = 100;
/** In characters. The scheduler writes no snapshot of a larger state. */
const BODY_MAX = 64 * 1024 * 1024;

interface SnapshotParts {
  readonly journal: Journal;
  readonly definitions: Definitions;
  readonly recovery: Recovery;
  readonly log: Logger;
}

export class SnapshotWriter {
  readonly #parts: SnapshotParts;
  /** Whether to write or to drop the snapshot of each run. */
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

  /** Writes a snapshot soon, or drops the snapshot of a run that has ended. */
  add(runId: RunId, work: "write" | "drop"): void {
    if (this.#stopped || this.#waiting.size >= WAITING_MAX) return;
    this.#waiting.set(runId, work);
    this.#busy ??= this.#drain().finally(() => {
      this.#busy = undefined;
    });
  }

  async #drain(): Promise<void> {
    // The tick that requested the snapshot runs first.
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
