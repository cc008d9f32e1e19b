// A run as clients read it: its row, its definition and, for one run at a time, its folded log. The definition comes from a cache, because
// it never changes. If many watchers ask for rows of runs at once, one statement reads them.
//
// Race: DeleteRun removes a test run, its log and its definition between two of these reads. The reader then looks for the row again. If
// the row is gone, the run was deleted, and its log is not damaged.

import { create, toBinary } from "@bufbuild/protobuf";
import { LIMITS } from "@pawl/core/data/limits";
import { pausedText } from "@pawl/core/explain/paused";
import { Proofs } from "@pawl/core/explain/proofs";
import { awaitsThread } from "@pawl/core/explain/thread-wait";
import { heldNodes, slotsToAsk, waitingReason } from "@pawl/core/explain/stuck";
import { EngineError } from "@pawl/core/fault/engine-error";
import { isFinal, type RunEvent } from "@pawl/core/log/event";
import { apply, newRunState } from "@pawl/core/log/fold";
import { runResult } from "@pawl/core/log/result";
import type { RunState } from "@pawl/core/log/state";
import type { RunId } from "@pawl/core/name/ids";
import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import type { Pool } from "@pawl/platform/db/pool";
import { readEvents } from "@pawl/platform/store/log/reads";
import { getRuns, readRepairs } from "@pawl/platform/store/runs/reads";
import type { RunRecord } from "@pawl/platform/store/runs/runs";
import { readWaitingRoom } from "@pawl/platform/store/survey/reads";
import { deliveriesOf } from "@pawl/platform/store/webhooks/reads";
import { runNotFound, toWireRun, toWireRunWithNodes } from "@pawl/platform/wire/run";
import { toJsonBytes, traceIdOf } from "@pawl/platform/wire/scalar";
import { toWireResult } from "@pawl/platform/wire/webhook";
import {
  type NodeHold as WireNodeHold,
  type NodeRun as WireNodeRun,
  type Run as WireRun,
  WorkflowStateSchema,
} from "@pawl/proto/pawl/v1/run_pb";
import { type GetRunResponse, GetRunResponseSchema } from "@pawl/proto/pawl/v1/run_service_pb";
import type { RunResult } from "@pawl/proto/pawl/v1/webhook_pb";
import type { ViewReader } from "../watch/view.ts";
import { checkWithin } from "../watch/cursor-errors.ts";
import type { WatchedRun } from "../watch/watch-run.ts";
import { coalesce } from "../watch/coalesce.ts";
import { Checkpoints } from "./checkpoints.ts";
import type { DefinitionCache, LoadedDefinition } from "./definition-cache.ts";

/** A run and its folded log. */
interface FoldedRun {
  readonly record: RunRecord;
  readonly state: RunState;
  /** The events that prove each fact. */
  readonly proofs: Proofs;
}

export interface RunReader extends ViewReader {
  /** The facts that a watcher needs. @throws RUN_NOT_FOUND, STORE_UNAVAILABLE */
  readonly findRun: (runId: RunId) => Promise<WatchedRun>;
  /** The run with all its nodes, now or after an event of its log. @throws RUN_NOT_FOUND, CURSOR_OUT_OF_RANGE, STORE_UNAVAILABLE */
  readonly getRun: (runId: RunId, atSeq?: number) => Promise<GetRunResponse>;
  /** The run now, or at an event of its log. @throws RUN_NOT_FOUND, STORE_UNAVAILABLE, EVENT_LOG_CORRUPTION */
  readonly foldRun: (
    runId: RunId,
    upToSeq?: number,
    /** Sees each event before the fold applies it. */
    before?: (state: RunState, event: RunEvent) => void,
  ) => Promise<FoldedRun>;
  /** The record of the run now. @throws RUN_NOT_FOUND, STORE_UNAVAILABLE, EVENT_LOG_CORRUPTION */
  readonly resultOf: (runId: RunId) => Promise<RunResult>;
}

const RUNS_PER_READ = 200;
/** The size of a node in an answer, without its output. */
const NODE_BYTES = 256;

export function createRunReader(pool: Pool, definitions: DefinitionCache): RunReader {
  const load = coalesce({
    load: (runIds: readonly RunId[]) => getRuns(pool, DEFAULT_TENANT, runIds),
    maxKeys: RUNS_PER_READ,
  });
  const find = async (runId: RunId) => {
    const record = await load(runId);
    if (record === undefined) throw runNotFound(runId);
    try {
      return { record, definition: await definitions.get(record.definitionId) };
    } catch (error) {
      if (isCorruption(error) && (await load(runId)) === undefined) throw runNotFound(runId);
      throw error;
    }
  };
  const foldRun: RunReader["foldRun"] = async (runId, upToSeq, before) => {
    const { record, definition } = await find(runId);
    return { record, ...(await foldLog(pool, runId, definition, { upToSeq, before })) };
  };
  const runNow = async (record: RunRecord, definition: LoadedDefinition): Promise<WireRun> => {
    const folded = { record, ...(await foldLog(pool, record.runId, definition)) };
    const run = toWireRunWithNodes(record, folded.state, undefined, Date.now());
    run.waitingReason = await whyItWaits(pool, folded);
    return run;
  };
  // The waiting reason names executors and queues, which the log of an earlier moment does not have.
  const checkpoints = new Checkpoints();
  return {
    foldRun,
    resultOf: async (runId) => {
      const [{ record, state }, deliveries] = await Promise.all([
        foldRun(runId),
        deliveriesOf(pool, runId, LIMITS.webhooksShown),
      ]);
      return toWireResult(runResult(state, record.workflowId ?? "", Date.now()), deliveries);
    },
    graphOf: async (runId) => (await find(runId)).definition.graph,
    stateBefore: async ({ runId, seq }) => {
      const { graph } = (await find(runId)).definition;
      return checkpoints.foldAt(pool, runId, graph, seq - 1);
    },
    findRun: async (runId) => {
      const { record, definition } = await find(runId);
      const { status, lastSeq } = record;
      const workflowId = record.workflowId ?? "";
      const traceId = traceIdOf(record.traceparent);
      return { status, lastSeq, scope: { workflowId, traceId, waveOf: definition.waveOf } };
    },
    getRun: async (runId, atSeq) => {
      const { record, definition } = await find(runId);
      checkWithin(atSeq ?? 0, record.lastSeq);
      const definitionJson = toJsonBytes(definition.body);
      try {
        const run = await (atSeq === undefined
          ? runNow(record, definition)
          : checkpoints.runAt(pool, record, definition.graph, atSeq));
        Object.assign(run, await readRepairs(pool, runId));
        trimOutputs(run, definition.body.length);
        return create(GetRunResponseSchema, { run, definitionJson });
      } catch (error) {
        // The log of a run in quarantine may not fold. Its row and its definition can still be read.
        if (isCorruption(error) && (await load(runId)) === undefined) throw runNotFound(runId);
        if (record.quarantine === null || !isCorruption(error)) throw error;
        return create(GetRunResponseSchema, { run: toWireRun(record), definitionJson });
      }
    },
  };
}

const isCorruption = (error: unknown): boolean =>
  error instanceof EngineError && error.reason === "EVENT_LOG_CORRUPTION";

/** Why a live run makes no progress. Empty, without a read, if it makes progress. */
async function whyItWaits(pool: Pool, { state, proofs, record }: FoldedRun): Promise<string> {
  if (isFinal(state.status)) return "";
  const { runId, workflowId } = record;
  const slots = slotsToAsk(state, { tenantId: DEFAULT_TENANT, workflowId, runId });
  const asked = { slots, awaitsThread: awaitsThread(state) };
  const isLater = state.startAt !== undefined && !state.isAdmitted;
  if (heldNodes(state).length + slots.length === 0 && !asked.awaitsThread && !isLater)
    return pausedText(state) ?? "";
  return waitingReason({ state, proofs, room: await readWaitingRoom(pool, runId, asked) });
}

interface FoldOptions {
  readonly upToSeq?: number | undefined;
  readonly before?: ((state: RunState, event: RunEvent) => void) | undefined;
}

/** @throws RUN_NOT_FOUND if the log is empty: every run has an event, so the run was deleted after its row was read. */
async function foldLog(
  pool: Pool,
  runId: RunId,
  { graph }: LoadedDefinition,
  { upToSeq = Number.MAX_SAFE_INTEGER, before }: FoldOptions = {},
): Promise<Pick<FoldedRun, "state" | "proofs">> {
  const state = newRunState(runId, graph);
  const proofs = new Proofs();
  for (;;) {
    const page = await readEvents(pool, runId, state.lastSeq, LIMITS.eventPageSizeMax);
    for (const event of page.events) {
      if (event.seq > upToSeq) return { state, proofs };
      before?.(state, event);
      apply(state, event);
      proofs.note(event);
    }
    if (page.hasMore) continue;
    if (state.lastSeq === 0) throw runNotFound(runId);
    return { state, proofs };
  }
}

/** Makes the answer fit into one message. An output that does not fit is left out, and the answer names its size. */
export function trimOutputs(run: WireRun, definitionBytes: number): void {
  const own = run.state === undefined ? 0 : toBinary(WorkflowStateSchema, run.state).length;
  const fixed = own + definitionBytes + run.inputJson.length + run.outputJson.length;
  const shown = run.nodes.length + (run.compensation?.executions.length ?? 0) + 1;
  let left = LIMITS.messageBytes - fixed - shown * NODE_BYTES;
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
