// What retention asks of the store. Every call is one statement, and safe to repeat after a crash.

import type { EndStatus, StatusRetention } from "@pawl/core/policy/retention";
import type { RunId } from "@pawl/core/name/ids";

/** A place in the order in which runs ended. */
export interface EndedPlace {
  /** The time as PostgreSQL writes it, with microseconds. */
  readonly ended: string;
  readonly runId: RunId;
}

/** A run that is older than the shortest age of its status. */
export interface EndedRun extends EndedPlace {
  readonly isDue: boolean;
}

/** Which runs have ids of a range. */
export interface KeptRuns {
  readonly runs: number;
  readonly events: number;
}

export interface EndedFilter {
  readonly rule: StatusRetention;
  readonly after: EndedPlace | undefined;
  readonly limit: number;
}

export interface EndedSinceFilter {
  readonly statuses: readonly EndStatus[];
  readonly ageMs: number;
  readonly after: EndedPlace | undefined;
  readonly limit: number;
}
