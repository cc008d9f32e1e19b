// When a run starts, how long it may take, and whether it stays, as a start asks for it.

import { durationFromMs, timestampFromDate } from "@bufbuild/protobuf/wkt";

export interface TimeOptions {
  /** How long the run may take from its start; default the definition's own. */
  readonly deadlineMs?: number | undefined;
  /** How long after its acceptance the run starts; default at once. The run is `pending` until then. It excludes `startAt`. */
  readonly afterMs?: number | undefined;
  /** When the run starts, by the clock of the database. A time in the past means at once. */
  readonly startAt?: Date | undefined;
  /** The run is deleted with everything that belongs to it, soon after its end. It excludes `threadId` and `dedupeInputMs`. */
  readonly temporary?: boolean | undefined;
}

/** The options in the form of the wire. */
export const timeOf = ({ deadlineMs, afterMs, startAt, temporary = false }: TimeOptions) => ({
  ...(deadlineMs === undefined ? {} : { deadline: durationFromMs(deadlineMs) }),
  ...(afterMs === undefined ? {} : { afterSeconds: afterMs / 1_000 }),
  ...(startAt === undefined ? {} : { startAt: timestampFromDate(startAt) }),
  temporary,
});
