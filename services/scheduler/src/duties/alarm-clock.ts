// Fires schedules at the time of the next alarm that this scheduler knows. It knows its own alarms at once, and those of other schedulers
// from the survey of the queues. So it needs no poll of its own, and without an alarm it looks once a day. One firing runs at a time.
// Several schedulers may fire for one alarm, and one of them takes it.

import { CLOCK_SLACK_MS } from "@pawl/platform/db/clock";
import type { Occurrences } from "@pawl/platform/queue/occurrences";
import type { Logger } from "@pawl/platform/telemetry/log";
import type { Schedules } from "@pawl/platform/store/schedules/schedules";
import type { AdmitParts } from "../commands/parts.ts";
import { startRun } from "../commands/start-run.ts";
import { Sweeper } from "./sweeper.ts";
import { fireSchedules } from "./fire.ts";

const DAY_MS = 24 * 3_600_000;

export interface AlarmClock {
  /** Fires after at most this time. */
  readonly ring: (dueInMs: number) => void;
  start(): void;
  stop(): Promise<void>;
}

export function createAlarmClock(
  parts: AdmitParts & {
    readonly schedules: Schedules;
    readonly occurrences: Occurrences;
    readonly log: Logger;
  },
): AlarmClock {
  const { schedules, occurrences, log, now } = parts;
  const ring = (dueInMs: number): void =>
    sweeper.soon(Math.min(DAY_MS, Math.max(0, dueInMs)) + CLOCK_SLACK_MS);
  const duty = async (): Promise<boolean> => {
    const { takenCount, nextAt } = await fireSchedules({
      schedules,
      occurrences,
      log,
      startRun: (tenantId, request, schedule) => startRun(parts, tenantId, request, { schedule }),
    });
    if (nextAt !== null) ring(nextAt - now());
    return takenCount > 0;
  };
  const sweeper = new Sweeper({ name: "schedules", intervalMs: DAY_MS, duty, log });
  return { ring, start: () => sweeper.start(), stop: () => sweeper.stop() };
}
