// A run as clients read it: its row, its definition and, for one run at a time, its whole log folded. The definition comes from a
// cache, since it never changes; rows of runs that many watchers ask for at once come in one statement.

import { create } from "@bufbuild/protobuf";
import { LIMITS } from "@pawl/core/data/limits";
import { pausedText } from "@pawl/core/explain/paused";
import { Proofs } from "@pawl/core/explain/proofs";
import type { WaitingRoom } from "@pawl/core/explain/room";
import { heldNodes, slotsToAsk, waitingReason } from "@pawl/core/explain/stuck";
import { EngineError } from "@pawl/core/fault/engine-error";
import { runContextJson } from "@pawl/core/log/context";
import { isFinal } from "@pawl/core/log/event";
import { apply, newRunState } from "@pawl/core/log/fold";
import type { RunState } from "@pawl/core/log/state";
import type { RunId } from "@pawl/core/name/ids";
import type { EventPage } from "@pawl/platform/store/log/log";
import type { RunRecord } from "@pawl/platform/store/runs/runs";
import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import type { RoomQuestion } from "@pawl/platform/store/survey/survey";
import { toWireRun, toWireRunWithNodes } from "@pawl/platform/wire/run";
import { toJsonBytes, traceIdOf } from "@pawl/platform/wire/scalar";
import type {
  NodeHold as WireNodeHold,
  NodeRun as WireNodeRun,
  Run as WireRun,
} from "@pawl/proto/pawl/v1/run_pb";
import { type GetRunResponse, GetRunResponseSchema } from "@pawl/proto/pawl/v1/run_service_pb";
import type { ContextAt } from "../watch/logged-event.ts";
import type { WatchedRun } from "../watch/watch-run.ts";
import { coalesce } from "../watch/coalesce.ts";
import type { DefinitionCache, LoadedDefinition } from "./definition-cache.ts";

export interface RunReaderDeps {
  readonly definitions: DefinitionCache;
  readonly getRuns: (runIds: readonly RunId[]) => Promise<readonly (RunRecord | undefined)[]>;
  readonly readEvents: (runId: RunId, afterSeq: number, limit: number) => Promise<EventPage>;
  /** Who is alive and who holds what; asked only while something of the run is held up or at work. */
  readonly readRoom: (runId: RunId, question: RoomQuestion) => Promise<WaitingRoom>;
}

/** A run with its whole log folded, and where the log says what. */
export interface FoldedRun {
  readonly record: RunRecord;
  readonly definition: LoadedDefinition;
  readonly state: RunState;
  readonly proofs: Proofs;
}

type TrustedRun =
  | ({ readonly kind: "folded" } & FoldedRun)
  | { readonly kind: "unreadable"; readonly response: GetRunResponse };

export interface RunReader {
  /** What a watcher needs to know. @throws RUN_NOT_FOUND, STORE_UNAVAILABLE */
  readonly findRun: (runId: RunId) => Promise<WatchedRun>;
  /** The run with all its nodes. @throws RUN_NOT_FOUND, STORE_UNAVAILABLE */
  readonly getRun: (runId: RunId) => Promise<GetRunResponse>;
  /** @throws RUN_NOT_FOUND, STORE_UNAVAILABLE */
  readonly foldRun: (runId: RunId) => Promise<FoldedRun>;
  /** The run's context at an event of its log. @throws RUN_NOT_FOUND, STORE_UNAVAILABLE, EVENT_LOG_CORRUPTION */
  readonly contextAt: ContextAt;
}

const RUNS_PER_READ = 200;
/** What a node takes in an answer besides its output. */
const NODE_BYTES = 256;

export function createRunReader(deps: RunReaderDeps): RunReader {
  const load = coalesce({ load: deps.getRuns, maxKeys: RUNS_PER_READ });
  const find = async (runId: RunId): Promise<RunRecord> => {
    const run = await load(runId);
    if (run !== undefined) return run;
    throw new EngineError("RUN_NOT_FOUND", `There is no run ${runId}.`, {
      metadata: { run_id: runId },
    });
  };
  const foldRun = async (runId: RunId): Promise<FoldedRun> => {
    const record = await find(runId);
    const definition = await deps.definitions.get(record.definitionId);
    return { record, definition, ...(await foldLog(deps, record, definition)) };
  };
  /** The log of a run in quarantine may not fold; what its row and its definition say is still to be read. */
  const foldTrusted = async (runId: RunId): Promise<TrustedRun> => {
    const record = await find(runId);
    const definition = await deps.definitions.get(record.definitionId);
    try {
      return { kind: "folded", record, definition, ...(await foldLog(deps, record, definition)) };
    } catch (error) {
      const isCorrupt = error instanceof EngineError && error.reason === "EVENT_LOG_CORRUPTION";
      if (record.quarantine === null || !isCorrupt) throw error;
      const definitionJson = toJsonBytes(definition.body);
      const run = toWireRun(record);
      return {
        kind: "unreadable",
        response: create(GetRunResponseSchema, { run, definitionJson }),
      };
    }
  };
  return {
    foldRun,
    contextAt: async ({ runId, seq }) => {
      const record = await find(runId);
      const definition = await deps.definitions.get(record.definitionId);
      return runContextJson((await foldLog(deps, record, definition, seq)).state);
    },
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
      const folded = await foldTrusted(runId);
      if (folded.kind === "unreadable") return folded.response;
      const { record, definition, state } = folded;
      const wire = toWireRunWithNodes(record, state);
      wire.waitingReason = await whyItWaits(deps, folded);
      trimOutputs(wire, definition.body.length);
      const definitionJson = toJsonBytes(definition.body);
      return create(GetRunResponseSchema, { run: wire, definitionJson });
    },
  };
}

/** A live run that does not get on says why; one that does costs no look around. */
async function whyItWaits(deps: RunReaderDeps, folded: FoldedRun): Promise<string> {
  const { state, proofs, record } = folded;
  if (isFinal(state.status)) return "";
  const { runId, workflowId } = record;
  const slots = slotsToAsk(state, { tenantId: DEFAULT_TENANT, workflowId, runId });
  if (heldNodes(state).length + slots.length === 0) return pausedText(state) ?? "";
  return waitingReason({ state, proofs, room: await deps.readRoom(runId, { slots }) });
}

async function foldLog(
  deps: RunReaderDeps,
  run: RunRecord,
  definition: LoadedDefinition,
  upToSeq = Number.MAX_SAFE_INTEGER,
): Promise<{ readonly state: RunState; readonly proofs: Proofs }> {
  const state = newRunState(run.runId, definition.graph);
  const proofs = new Proofs();
  for (;;) {
    const page = await deps.readEvents(run.runId, state.lastSeq, LIMITS.eventPageSizeMax);
    for (const event of page.events) {
      if (event.seq > upToSeq) return { state, proofs };
      apply(state, event);
      proofs.note(event);
    }
    if (!page.hasMore) return { state, proofs };
  }
}

/** An answer must fit in one message: outputs for which there is no room are left to other reads, and their size says so. */
export function trimOutputs(run: WireRun, definitionBytes: number): void {
  const fixed = definitionBytes + run.inputJson.length + run.outputJson.length;
  let left = LIMITS.messageBytes - fixed - run.nodes.length * NODE_BYTES - NODE_BYTES;
  const trim = (holder: WireNodeRun | WireNodeHold): void => {
    const { length } = holder.outputJson;
    if (length <= left) {
      left -= length;
      return;
    }
    holder.outputJson = new Uint8Array(0);
    holder.outputLeftOutBytes = BigInt(length);
  };
  for (const node of run.nodes) {
    trim(node);
    if (node.hold !== undefined) trim(node.hold);
  }
}
