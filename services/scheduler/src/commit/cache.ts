// Folded runs by version. The compare-and-swap fences a decision on a cached fold: a stale entry costs a reload and never a wrong write.
// Nothing fences a refusal, so the tick refuses on a fresh fold only.
//
// The cache holds no run that is corrupt or in quarantine. `quarantineOf` gives the cause. Every load reads such a run again, so it
// continues after another scheduler released it.

import { ChurnMap } from "@pawl/core/data/churn-map";
import { checkRead } from "@pawl/core/log/check";
import { isFinal } from "@pawl/core/log/event";
import { apply } from "@pawl/core/log/fold";
import type { RunState } from "@pawl/core/log/state";
import type { RunId } from "@pawl/core/name/ids";
import type { Journal } from "@pawl/platform/store/tick/journal";
import type { LoadedRun } from "@pawl/platform/store/runs/runs";
import type { QuarantineCause } from "@pawl/platform/store/recovery/recovery";
import type { Definitions } from "./definitions.ts";
import { corruption, type FoldedRun, loadRuns } from "./load-run.ts";

export interface CachedRun {
  readonly state: RunState;
  version: number;
  readonly workflowId: string | null;
  readonly priority: number;
  readonly traceparent: string | null;
  /** About how much memory the fold takes. It grows with every drafted fact. */
  bytes: number;
  /** The last seq of the newest snapshot that was written or requested. 0 if there is none. */
  snapshotSeq: number;
  /** The time of that snapshot, if this scheduler knows it. Undefined until this scheduler advances the run. */
  snapshotAt: number | undefined;
}

/** The memory of all folds together. A run of ten thousand outputs takes as much as ten thousand small runs. */
const BYTES_MAX = 256 * 1024 * 1024;
/** The size of a fact without its value, and of a node in an empty fold. */
export const FACT_BYTES = 256;
/** A run gets its next snapshot after this many events. A long run gets it after a thirty-second of its length. */
const SNAPSHOT_EVENTS_MIN = 2_000;
const SNAPSHOT_SHARE = 1 / 32;
/** A slow run gets a snapshot for fewer events after this time, because every scheduler that advances it loads it again. */
const SNAPSHOT_AGE_MS = 10 * 60_000;
const AGED_EVENTS_MIN = 200;

interface RunCacheOptions {
  readonly journal: Journal;
  readonly definitions: Definitions;
  /** Runs. */
  readonly max: number;
  readonly maxBytes?: number;
  /** A live run's log turned out to be corrupt. */
  readonly onCorrupt?: (runId: RunId, cause: QuarantineCause) => unknown;
  /** The run has grown enough for a snapshot, by its length or by its age. */
  readonly onLong?: (runId: RunId) => void;
  /** A run with a snapshot has ended. */
  readonly onOver?: (runId: RunId) => void;
}

export class RunCache {
  readonly #options: RunCacheOptions;
  readonly #maxBytes: number;
  readonly #runs = new ChurnMap<RunId, CachedRun>();
  /** The share of each run in `#bytes`. */
  readonly #weights = new Map<RunId, number>();
  /** Quarantined runs that were asked for since the last trim. */
  readonly #quarantined = new Map<RunId, QuarantineCause>();
  #bytes = 0;

  constructor(options: RunCacheOptions) {
    this.#options = options;
    this.#maxBytes = options.maxBytes ?? BYTES_MAX;
  }

  get(runId: RunId): CachedRun | undefined {
    return this.#runs.get(runId);
  }

  /** Why the cache does not hold a run that it loaded. */
  quarantineOf(runId: RunId): QuarantineCause | undefined {
    return this.#quarantined.get(runId);
  }

  /** Keeps a run until `trim` finds no room for it. */
  put(run: CachedRun): void {
    this.drop(run.state.runId);
    this.#runs.set(run.state.runId, run);
    this.#weights.set(run.state.runId, run.bytes);
    this.#bytes += run.bytes;
  }

  /** Keeps a run that the tick just advanced. Drops a run that ended, because a scheduler rarely needs it again. */
  keepLive(run: CachedRun, now: number): void {
    const { runId, status, lastSeq } = run.state;
    if (isFinal(status)) {
      this.drop(runId);
      if (run.snapshotSeq > 0) this.#options.onOver?.(runId);
      return;
    }
    this.put(run);
    run.snapshotAt ??= now;
    if (isWorthSnapshot(run, now)) {
      run.snapshotSeq = lastSeq;
      run.snapshotAt = now;
      this.#options.onLong?.(runId);
    }
  }

  drop(runId: RunId): void {
    this.#runs.delete(runId);
    this.#bytes -= this.#weights.get(runId) ?? 0;
    this.#weights.delete(runId);
  }

  /** Makes room after a tick. It drops the run that was used longest ago first. A tick needs its runs until it is over. */
  trim(): void {
    this.#quarantined.clear();
    for (const runId of this.#runs.keys()) {
      if (this.#runs.size <= this.#options.max && this.#bytes <= this.#maxBytes) return;
      this.drop(runId);
    }
  }

  /** Loads runs that are not cached. Runs that do not exist, or are in quarantine, stay missing. */
  async ensure(runIds: Iterable<RunId>): Promise<void> {
    const missing = [...new Set(runIds)].filter((runId) => !this.#runs.has(runId));
    if (missing.length === 0) return;
    for (const found of await loadRuns(this.#options, missing)) this.#take(found);
  }

  /** Reads the new events of cached runs, and loads the others. */
  async refresh(runIds: readonly RunId[]): Promise<void> {
    const unique = [...new Set(runIds)];
    const cursors = unique.flatMap((runId) => {
      const cached = this.#runs.get(runId);
      return cached === undefined ? [] : [{ runId, afterSeq: cached.state.lastSeq }];
    });
    for (const run of await this.#options.journal.load(cursors)) this.#bringUp(run);
    await this.ensure(unique);
  }

  /** Drops a run that cannot be brought up to date. The next load reads the whole log and finds the reason. */
  #bringUp(run: LoadedRun): void {
    const cached = this.#runs.get(run.runId);
    if (cached === undefined) return;
    try {
      if (run.quarantine !== null) return this.drop(run.runId);
      checkRead(run);
      for (const event of run.events) apply(cached.state, event);
      cached.version = run.version;
      cached.bytes += bytesOf(run);
    } catch (error) {
      this.drop(run.runId);
      corruption(error);
    }
  }

  #take(found: FoldedRun): void {
    const { run } = found;
    this.#quarantined.delete(run.runId);
    if (found.kind === "folded") {
      const { version, workflowId, priority, traceparent, snapshot } = run;
      const bytes = found.state.nodes.length * FACT_BYTES + bytesOf(run);
      const snapshotSeq = snapshot?.seq ?? 0;
      const about = { version, workflowId, priority, traceparent, bytes, snapshotSeq };
      this.put({ state: found.state, ...about, snapshotAt: undefined });
    } else if (found.kind === "quarantined") {
      this.#quarantined.set(run.runId, found.quarantine);
    } else if (!run.hasEnded) {
      // Retention may have removed the log of a run that has ended. Such a run never advances, so this is no fault.
      const cause = { reason: "EVENT_LOG_CORRUPTION", detail: found.fault.message } as const;
      this.#quarantined.set(run.runId, cause);
      this.#options.onCorrupt?.(run.runId, cause);
    }
  }
}

function isWorthSnapshot(run: CachedRun, now: number): boolean {
  const { snapshotSeq, snapshotAt = now } = run;
  const { lastSeq } = run.state;
  const behind = lastSeq - snapshotSeq;
  if (behind >= Math.max(SNAPSHOT_EVENTS_MIN, lastSeq * SNAPSHOT_SHARE)) return true;
  return behind >= AGED_EVENTS_MIN && now - snapshotAt >= SNAPSHOT_AGE_MS;
}

/** Most characters of an output take one byte. */
function bytesOf({ events, snapshot }: LoadedRun): number {
  let bytes = (snapshot?.body.length ?? 0) * 3;
  for (const { value } of events) bytes += FACT_BYTES + (value?.length ?? 0);
  return bytes;
}
