// The dumps: the databases that two older builds left. Both hold the scenes of scenes.ts, and each holds some that the other build could
// not leave.

import { fileURLToPath } from "node:url";
import { GLUE } from "./glue-scenes.ts";
import type { Scene } from "./scene.ts";
import { LIVE, TYPED_SCENE } from "./scenes.ts";

/** One dump. */
export type Dump = {
  readonly name: string;
  /** Runs that a scheduler and executors end. */
  readonly live: readonly Scene[];
  /** Runs that need an executor in the old build only. */
  readonly glue: readonly Scene[];
};

/** Its executors ran every node, and it knew no schemas of node types. */
const OLD_BUILD: Dump = { name: "old-build", live: LIVE, glue: GLUE };
/** Its scheduler completes nodes that act on nothing outside. A run has no memory in it, and a node runs once. */
export const BEFORE_STATE: Dump = {
  name: "before-state",
  live: [...LIVE, TYPED_SCENE],
  glue: [],
};

export const DUMPS: readonly Dump[] = [OLD_BUILD, BEFORE_STATE];

/** Where a dump is kept. */
export const fileOf = ({ name }: Dump): string =>
  fileURLToPath(new URL(`./${name}.sql.gz`, import.meta.url));
