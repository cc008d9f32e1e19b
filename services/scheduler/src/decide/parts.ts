// What deciding about inputs and jobs needs.

import type { RunId } from "@pawl/core/name/ids";
import type { RunCache } from "../commit/cache.ts";
import type { Definitions } from "../commit/definitions.ts";
import type { DraftOptions } from "../commit/draft.ts";
import type { PauseView } from "../commit/pause-view.ts";
import type { PlaceParts } from "./place.ts";

export interface DecideParts extends PlaceParts, DraftOptions {
  readonly cache: RunCache;
  readonly definitions: Definitions;
  readonly pauses: { readonly current: PauseView };
  /** Runs that wait aside: the tick claims no job of theirs. */
  readonly aside: { has(runId: RunId): boolean };
  /** The database's clock, for everything that is planned for a time. */
  readonly now: () => number;
}
