// Turns rows into a fold, or into the reason why there is none. A corrupt log is an answer and not an exception: the other runs of the
// batch must still load. `npm run bench -- load` measures a load of 50,000 events.

import { checkRead } from "@pawl/core/log/check";
import { apply, newRunState } from "@pawl/core/log/fold";
import { readSnapshot } from "@pawl/core/log/snapshot";
import type { RunState } from "@pawl/core/log/state";
import { EngineError } from "@pawl/core/fault/engine-error";
import type { RunId } from "@pawl/core/name/ids";
import type { Journal } from "@pawl/platform/store/tick/journal";
import type { LoadedRun } from "@pawl/platform/store/runs/runs";
import type { Quarantine } from "@pawl/platform/store/recovery/recovery";
import type { Definitions } from "./definitions.ts";

export type FoldedRun =
  | { readonly kind: "folded"; readonly run: LoadedRun; readonly state: RunState }
  | { readonly kind: "quarantined"; readonly run: LoadedRun; readonly quarantine: Quarantine }
  | { readonly kind: "corrupt"; readonly run: LoadedRun; readonly fault: EngineError };

interface LoadParts {
  readonly journal: Journal;
  readonly definitions: Definitions;
}

/** Loads and folds runs, from their snapshots if possible. Runs that do not exist are left out. @throws STORE_UNAVAILABLE */
export async function loadRuns(
  { journal, definitions }: LoadParts,
  runIds: readonly RunId[],
): Promise<FoldedRun[]> {
  const folded: FoldedRun[] = [];
  const load = async (ids: readonly RunId[], fromSnapshot: boolean): Promise<RunId[]> => {
    const unread: RunId[] = [];
    const cursors = ids.map((runId) => ({ runId, afterSeq: 0, fromSnapshot }));
    for (const run of await journal.load(cursors)) {
      const found = await foldRun(definitions, run);
      if (found === undefined) unread.push(run.runId);
      else folded.push(found);
    }
    return unread;
  };
  const again = await load(runIds, true);
  if (again.length > 0) await load(again, false);
  return folded;
}

/** The fold of a run. Undefined if the snapshot cannot be used: the caller then reads the whole log. */
async function foldRun(definitions: Definitions, run: LoadedRun): Promise<FoldedRun | undefined> {
  if (run.quarantine !== null) return { kind: "quarantined", run, quarantine: run.quarantine };
  try {
    const state = await stateOf(definitions, run);
    return state === undefined ? undefined : { kind: "folded", run, state };
  } catch (error) {
    return { kind: "corrupt", run, fault: corruption(error) };
  }
}

/** The folded state of a loaded run. @throws EVENT_LOG_CORRUPTION, STORE_UNAVAILABLE */
export async function stateOf(
  definitions: Definitions,
  run: LoadedRun,
): Promise<RunState | undefined> {
  checkRead(run);
  const graph = await definitions.graph(run.definitionId);
  const { runId, snapshot } = run;
  const state =
    snapshot === null ? newRunState(runId, graph) : readSnapshot(runId, graph, snapshot);
  if (state === undefined) return undefined;
  for (const event of run.events) apply(state, event);
  return state;
}

/** The reason why a fold failed. It throws an outage again. @throws STORE_UNAVAILABLE */
export function corruption(error: unknown): EngineError {
  if (error instanceof EngineError && error.reason === "EVENT_LOG_CORRUPTION") return error;
  if (error instanceof EngineError) throw error;
  const words = error instanceof Error ? error.message : String(error);
  return new EngineError("EVENT_LOG_CORRUPTION", `the log does not fold: ${words}`, {
    cause: error,
  });
}
