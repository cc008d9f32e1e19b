// The dumps: the databases that other builds left. All hold the scenes of scenes.ts, and each holds some that another build could
// not leave.

import { fileURLToPath } from "node:url";
import { GLUE } from "./glue-scenes.ts";
import type { Scene } from "./scene.ts";
import { LIVE, TYPED_SCENE } from "./scenes.ts";
import { STATE, STATE_WAITING } from "./state-scenes.ts";

/** One dump. */
export type Dump = {
  readonly name: string;
  /** Runs that a scheduler and executors end. */
  readonly live: readonly Scene[];
  /** Runs that need a person. */
  readonly waiting: readonly Scene[];
  /** Runs that need an executor in the old build only. */
  readonly glue: readonly Scene[];
};

/** Its executors ran every node, and it knew no schemas of node types. */
const OLD_BUILD: Dump = { name: "old-build", live: LIVE, waiting: [], glue: GLUE };
/** Its scheduler completes nodes that act on nothing outside. A run has no memory in it, and a node runs once. */
export const BEFORE_STATE: Dump = {
  name: "before-state",
  live: [...LIVE, TYPED_SCENE],
  waiting: [],
  glue: [],
};
/** Its runs have memory, rounds, agents, budgets, threads and compensations. */
export const WITH_STATE: Dump = {
  name: "with-state",
  live: [...STATE, ...LIVE, TYPED_SCENE],
  waiting: Object.values(STATE_WAITING),
  glue: [],
};

export const DUMPS: readonly Dump[] = [OLD_BUILD, BEFORE_STATE, WITH_STATE];

/** Where a dump is kept. */
export const fileOf = ({ name }: Dump): string =>
  fileURLToPath(new URL(`./${name}.sql.gz`, import.meta.url));
