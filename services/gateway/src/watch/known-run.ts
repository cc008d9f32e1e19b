// A run that its caller has only just started is known without a read, as far as one who waits for its end is concerned.

import { fromWireRunStatus } from "@pawl/platform/wire/status";
import type { StartRunResponse } from "@pawl/proto/pawl/v1/run_service_pb";
import type { HintMark } from "./endings.ts";
import { type KnownRun, wantsEndOnly } from "./watch-run.ts";

/**
 * What a watcher needs to know, out of the answer of StartRun; undefined where it has to be read. A run that was there before may
 * be anywhere, and who wants events of nodes needs the definition for their waves, which the answer does not hold; the terminal
 * event has no node.
 */
export function knownRun(
  { run, duplicate }: StartRunResponse,
  types: ReadonlySet<string>,
  since: HintMark,
): KnownRun | undefined {
  const status = fromWireRunStatus(run?.status ?? 0);
  if (run === undefined || status === undefined || duplicate || !wantsEndOnly(types))
    return undefined;
  const { workflowId, traceId, lastEventId } = run;
  // A run of few nodes may be over as it is accepted, so the newest event may be the terminal one.
  const lastSeq = Math.max(0, Number(lastEventId) - 1);
  return { status, lastSeq, scope: { workflowId, traceId, waveOf: () => 0 }, since };
}
