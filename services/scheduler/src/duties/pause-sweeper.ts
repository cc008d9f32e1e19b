// Continues pauses and resumptions of workflows that another call began and did not finish. It asks the store only while this scheduler knows
// of one, so it costs nothing otherwise. A scheduler that knows of none learns of it by notification or with the survey of the queues.

import type { Pauses } from "@pawl/platform/store/pauses/pauses";
import type { Logger } from "@pawl/platform/telemetry/log";
import { Sweeper } from "./sweeper.ts";
import { type FollowParts, followPause } from "../commands/follow-pause.ts";
import type { KnownPauses } from "../commit/pauses.ts";

/** A scheduler at work records that with every step; after so much silence another scheduler continues. */
const UNTENDED_MS = 5_000;

export interface PauseSweepParts extends FollowParts {
  readonly pauses: Pauses;
  readonly known: KnownPauses;
  readonly log: Logger;
}

/** The sweeper, and how to ask for it in time. */
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
