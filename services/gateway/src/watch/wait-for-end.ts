// Waiting for a run's end without its events: a stream with the terminal one alone costs no read until it is there.

import { TERMINAL_TYPES } from "@pawl/core/log/event";
import type { RunId } from "@pawl/core/name/ids";
import type { WatchRequest, WatchStream } from "./watch-run.ts";

const END_ONLY: ReadonlySet<string> = new Set(TERMINAL_TYPES);

/** Settles when the run has ended, or when the time is up. @throws RUN_NOT_FOUND, STREAM_LIMIT, DRAINING, STORE_UNAVAILABLE */
export async function waitForEnd(
  watch: (request: WatchRequest) => WatchStream,
  runId: RunId,
  { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<void> {
  const over = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  for await (const batch of watch({ runId, afterSeq: 0, types: END_ONLY, signal: over }))
    // An empty one is a heartbeat.
    if (batch.length > 0) return;
}
