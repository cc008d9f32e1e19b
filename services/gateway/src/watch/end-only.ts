// For callers that want only the end of a run. A stream of the terminal event alone costs no read until the run ends. A run that its caller
// has just started needs no read at all.

import { TERMINAL_TYPES } from "@pawl/core/log/event";
import type { RunId } from "@pawl/core/name/ids";
import { fromWireRunStatus } from "@pawl/platform/wire/enum";
import type { StartRunResponse } from "@pawl/proto/pawl/v1/run_service_pb";
import type { NotificationMark } from "@pawl/platform/ends/endings";
import { type KnownRun, wantsEndOnly, type Watch } from "./watch-run.ts";

const END_ONLY: ReadonlySet<string> = new Set(TERMINAL_TYPES);

/** Settles when the run has ended, or when the time is up. @throws RUN_NOT_FOUND, STREAM_LIMIT, DRAINING, STORE_UNAVAILABLE */
export async function waitForEnd(
  watch: Watch,
  runId: RunId,
  { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<void> {
  const over = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  for await (const batch of watch({ runId, afterSeq: 0, types: END_ONLY, signal: over }))
    // An empty batch is a heartbeat.
    if (batch.length > 0) return;
}

/**
 * The facts that a watcher needs, from the answer of StartRun. Undefined if the gateway must read them. A run that existed before may be in
 * any state. A caller that wants events of nodes needs their waves from the definition. The terminal event has no node.
 */
export function knownRun(
  { run, duplicate }: StartRunResponse,
  types: ReadonlySet<string>,
  since: NotificationMark,
): KnownRun | undefined {
  const status = fromWireRunStatus(run?.status ?? 0);
  if (run === undefined || status === undefined || duplicate || !wantsEndOnly(types))
    return undefined;
  const { workflowId, traceId, lastEventId } = run;
  // A run of few nodes may end in the transaction that accepts it, so its newest event may be the terminal one.
  const lastSeq = Math.max(0, Number(lastEventId) - 1);
  return { status, lastSeq, scope: { workflowId, traceId, waveOf: () => 0 }, since };
}
