// The sweep that looks for forgotten work among live runs without news, a page at a time.

import type { WalkCursor } from "@pawl/platform/store/recovery/recovery";
import { type ResumeParts, resumeRuns } from "../commands/resume-runs.ts";

/** Live runs that one sweep looks at. The next sweep continues behind them. */
const PAGE = 200;

export function createStrandedSweep(parts: ResumeParts, quietMs: number): () => Promise<boolean> {
  let after: WalkCursor | undefined;
  return async () => {
    const { runIds, next } = await parts.recovery.quietRuns({ quietMs, after, limit: PAGE });
    after = next;
    if (runIds.length > 0) await resumeRuns(parts, runIds);
    return false;
  };
}
