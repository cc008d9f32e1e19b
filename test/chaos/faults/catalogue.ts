// All faults, in the order in which they strike.
import type { Fault } from "../fault.ts";
import { blockedLoop } from "./block.ts";
import { steppedClocks } from "./clock.ts";
import { hasFakeTime, steppedDatabaseClock } from "./database-clock.ts";
import { backendKill, databaseCrash } from "./database.ts";
import { randomKill } from "./kill.ts";
import { largeContexts } from "./large.ts";
import { lostAnswers, lostNotifications } from "./lost.ts";
import { badNetwork } from "./network.ts";
import { pointKill } from "./point.ts";
import { poisonNodes } from "./poison.ts";
import { noConnections } from "./pool.ts";
import { repeatedOutcomes } from "./repeat.ts";
import { rollingRestart } from "./restart.ts";
import { starvedCpu } from "./starve.ts";
import { lockedRun, readOnlyDatabase, tornRun } from "./store.ts";
import { zombieExecutor, zombieScheduler } from "./zombie.ts";

export const faultCatalogue = (): readonly Fault[] => [
  pointKill(),
  randomKill,
  zombieExecutor,
  zombieScheduler,
  databaseCrash,
  backendKill,
  badNetwork,
  repeatedOutcomes(),
  poisonNodes(),
  noConnections,
  rollingRestart,
  starvedCpu,
  blockedLoop,
  lostAnswers,
  lostNotifications,
  readOnlyDatabase,
  lockedRun,
  tornRun,
  largeContexts,
  steppedClocks,
  ...(hasFakeTime() ? [steppedDatabaseClock()] : []),
];
