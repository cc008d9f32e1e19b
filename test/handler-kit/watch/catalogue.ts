// Every case for clients, by group, and how to run them.

import { type RunOptions, runGroups, type Verdict } from "../run-cases.ts";
import type { Group } from "../case.ts";
import { DELTA } from "./cases/delta.ts";
import { END } from "./cases/end.ts";
import { GAP } from "./cases/gap.ts";
import { RESUME } from "./cases/resume.ts";
import { WatchKit } from "./watch-kit.ts";
import type { WatchMutant } from "./watch-stream.ts";

export const WATCH_GROUPS: readonly Group<WatchKit>[] = [RESUME, GAP, DELTA, END];

/** Runs the cases for programs that watch runs. */
export const runWatchCases = (options: RunOptions<WatchMutant>): Promise<readonly Verdict[]> =>
  runGroups<WatchMutant, WatchKit>(
    new WatchKit(options.command, options.env),
    WATCH_GROUPS,
    options,
  );
