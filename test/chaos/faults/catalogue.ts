// Every fault there is, in the order they are done.
import type { Fault } from "../fault.ts";
import { backendKill, databaseCrash } from "./database.ts";
import { randomKill } from "./kill.ts";
import { repeatedOutcomes } from "./repeat.ts";
import { zombieExecutor, zombieScheduler } from "./zombie.ts";

export const faultCatalogue = (): readonly Fault[] => [
  randomKill,
  zombieExecutor,
  zombieScheduler,
  databaseCrash,
  backendKill,
  repeatedOutcomes(),
];
