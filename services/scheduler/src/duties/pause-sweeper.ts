// Continues pauses and resumptions of workflows that another call began and did not finish. It queries the store only while this scheduler
// knows of such a pause. The scheduler learns of them by notification or from the survey of the queues.

import type { Pauses } from "@pawl/platform/store/pauses/pauses";
import type { Logger } from "@pawl/platform/telemetry/log";
import { Sweeper } from "./sweeper.ts";
import { type FollowParts, followPause } from "../commands/follow-pause.ts";
import type { KnownPauses } from "../commit/pauses.ts";

/** A scheduler that works on a pause records every step. After this silence another scheduler continues. */
const UNTENDED_MS = 5_000;

export interface PauseSweepParts extends FollowParts {
  readonly pauses: Pauses;
  readonly known: KnownPauses;
  readonly log: Logger;
}

/** The sweeper, and the function that requests a sweep in time. */
export function pauseSweeper(
  parts: PauseSweepParts,
  intervalMs: number,
): { readonly sweeper: Sweeper; readonly expect: () => void } {
  const untendedMs = Math.min(UNTENDED_MS, intervalMs);
  const duty = async (): Promise<boolean> => {
    const { known, pauses, log } = parts;
    if (known.current.unsettled.length === 0) return false;
    for (const pause of await pauses.take(untendedMs)) {
      log.info({ workflow_id: pause.name, state: pause.state }, "continues a pause");
      await followPause(parts, pause);
    }
    await known.reload();
    return false;
  };
  const sweeper = new Sweeper({ name: "pauses", intervalMs, duty, log: parts.log });
  return { sweeper, expect: () => sweeper.soon(untendedMs) };
}
