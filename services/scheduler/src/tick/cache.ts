// Folded runs by version. A decision planned on a cached fold is fenced by the compare-and-swap, so a stale entry costs a
// reload and never a wrong write; refusals are checked on a fresh fold, since nothing fences a refusal.

import { checkLog } from "@pawl/core/log/check";
import { isFinal } from "@pawl/core/log/event";
import { apply, newRunState } from "@pawl/core/log/fold";
import type { RunState } from "@pawl/core/log/state";
import type { RunId } from "@pawl/core/name/ids";
import type { Journal, LoadedRun } from "@pawl/platform/store/journal";
import type { Definitions } from "./definitions.ts";

export interface CachedRun {
  readonly state: RunState;
  version: number;
  readonly workflowId: string | null;
  readonly priority: number;
  readonly traceparent: string | null;
}

export class RunCache {
  readonly #journal: Journal;
  readonly #definitions: Definitions;
  readonly #max: number;
  readonly #runs = new Map<RunId, CachedRun>();

  constructor(options: {
    readonly journal: Journal;
    readonly definitions: Definitions;
    readonly max: number;
  }) {
    this.#journal = options.journal;
    this.#definitions = options.definitions;
    this.#max = options.max;
  }

  get(runId: RunId): CachedRun | undefined {
    return this.#runs.get(runId);
  }

  /** Keeps a run; the one touched longest ago makes room. */
  put(run: CachedRun): void {
    this.#runs.delete(run.state.runId);
    this.#runs.set(run.state.runId, run);
    if (this.#runs.size <= this.#max) return;
    const [oldest] = this.#runs.keys();
    if (oldest !== undefined) this.#runs.delete(oldest);
  }

  /** Keeps a run that was just advanced, unless it ended: of such a one hardly anybody asks again. */
  keepLive(run: CachedRun): void {
    if (isFinal(run.state.status)) this.drop(run.state.runId);
    else this.put(run);
  }

  drop(runId: RunId): void {
    this.#runs.delete(runId);
  }

  /** Loads what is not cached. Runs that do not exist stay missing. */
  async ensure(runIds: Iterable<RunId>): Promise<void> {
    const missing = [...new Set(runIds)].filter((runId) => !this.#runs.has(runId));
    if (missing.length === 0) return;
    const loaded = await this.#journal.load(missing.map((runId) => ({ runId, afterSeq: 0 })));
    for (const run of loaded) this.put(await this.#foldWhole(run));
  }

  /** Brings cached runs up to the log, reading only what is new, and loads the others. */
  async refresh(runIds: readonly RunId[]): Promise<void> {
    const unique = [...new Set(runIds)];
    const cursors = unique.map((runId) => ({
      runId,
      afterSeq: this.#runs.get(runId)?.state.lastSeq ?? 0,
    }));
    for (const run of await this.#journal.load(cursors)) {
      const cached = this.#runs.get(run.runId);
      if (cached === undefined) {
        this.put(await this.#foldWhole(run));
      } else {
        for (const event of run.events) apply(cached.state, event);
        cached.version = run.version;
      }
    }
  }

  async #foldWhole(run: LoadedRun): Promise<CachedRun> {
    const graph = await this.#definitions.graph(run.definitionId);
    checkLog(run.events, { streamedLeftOut: true });
    const state = newRunState(run.runId, graph);
    for (const event of run.events) apply(state, event);
    const { version, workflowId, priority, traceparent } = run;
    return { state, version, workflowId, priority, traceparent };
  }
}
