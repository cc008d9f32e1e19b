// A run as clients read it: its row, its definition and, for one run at a time, its whole log folded. The definition comes from a
// cache, since it never changes; rows of runs that many watchers ask for at once come in one statement.

import { create } from "@bufbuild/protobuf";
import { LIMITS } from "@pawl/core/data/limits";
import { EngineError } from "@pawl/core/fault/engine-error";
import { apply, newRunState } from "@pawl/core/log/fold";
import type { RunState } from "@pawl/core/log/state";
import type { RunId } from "@pawl/core/name/ids";
import type { EventPage } from "@pawl/platform/store/log";
import type { RunRecord } from "@pawl/platform/store/runs";
import { toWireRunWithNodes } from "@pawl/platform/wire/run";
import { toJsonBytes, traceIdOf } from "@pawl/platform/wire/scalar";
import type { Run as WireRun } from "@pawl/proto/pawl/v1/run_pb";
import { type GetRunResponse, GetRunResponseSchema } from "@pawl/proto/pawl/v1/run_service_pb";
import type { WatchedRun } from "../watch/watch-run.ts";
import { coalesce } from "./coalesce.ts";
import type { DefinitionCache, LoadedDefinition } from "./definition-cache.ts";

export interface RunReaderDeps {
  readonly definitions: DefinitionCache;
  readonly getRuns: (runIds: readonly RunId[]) => Promise<readonly (RunRecord | undefined)[]>;
  readonly readEvents: (runId: RunId, afterSeq: number, limit: number) => Promise<EventPage>;
}

export interface RunReader {
  /** What a watcher needs to know. @throws RUN_NOT_FOUND, STORE_UNAVAILABLE */
  readonly findRun: (runId: RunId) => Promise<WatchedRun>;
  /** The run with all its nodes. @throws RUN_NOT_FOUND, STORE_UNAVAILABLE */
  readonly getRun: (runId: RunId) => Promise<GetRunResponse>;
}

const RUNS_PER_READ = 200;
/** What a node takes in an answer besides its output. */
const NODE_BYTES = 256;

export function createRunReader(deps: RunReaderDeps): RunReader {
  const load = coalesce({ load: deps.getRuns, maxKeys: RUNS_PER_READ });
  const find = async (runId: RunId): Promise<RunRecord> => {
    const run = await load(runId);
    if (run !== undefined) return run;
    throw new EngineError("RUN_NOT_FOUND", `There is no run ${runId}.`, { metadata: { runId } });
  };
  return {
    findRun: async (runId) => {
      const run = await find(runId);
      const { waveOf } = await deps.definitions.get(run.definitionId);
      const scope = {
        workflowId: run.workflowId ?? "",
        traceId: traceIdOf(run.traceparent),
        waveOf,
      };
      return { status: run.status, lastSeq: run.lastSeq, scope };
    },
    getRun: async (runId) => {
      const run = await find(runId);
      const definition = await deps.definitions.get(run.definitionId);
      const state = await foldLog(deps, run, definition);
      const wire = toWireRunWithNodes(run, state);
      trimOutputs(wire, definition.body.length);
      const definitionJson = toJsonBytes(definition.body);
      return create(GetRunResponseSchema, { run: wire, definitionJson });
    },
  };
}

async function foldLog(
  deps: RunReaderDeps,
  run: RunRecord,
  definition: LoadedDefinition,
): Promise<RunState> {
  const state = newRunState(run.runId, definition.graph);
  for (;;) {
    const page = await deps.readEvents(run.runId, state.lastSeq, LIMITS.eventPageSizeMax);
    for (const event of page.events) apply(state, event);
    if (!page.hasMore) return state;
  }
}

/** An answer must fit in one message: outputs for which there is no room are left to ListEvents. */
function trimOutputs(run: WireRun, definitionBytes: number): void {
  const fixed = definitionBytes + run.inputJson.length + run.outputJson.length;
  let left = LIMITS.messageBytes - fixed - run.nodes.length * NODE_BYTES - NODE_BYTES;
  for (const node of run.nodes) {
    if (node.outputJson.length > left) node.outputJson = new Uint8Array(0);
    else left -= node.outputJson.length;
  }
}
