// When a caller wants its run to start. The gateway and the scheduler refuse the same values.

import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { LIMITS } from "@pawl/core/data/limits";
import { invalidField } from "@pawl/core/fault/engine-error";
import type { AskedTime } from "@pawl/core/policy/start-time";

const MAX_SECONDS = LIMITS.startDelayMsMax / 1_000;
/** The first and the last second that a Timestamp may hold. */
const FIRST_SECOND = -62_135_596_800n;
const LAST_SECOND = 253_402_300_799n;

/** Undefined if the run starts at once. @throws INPUT_INVALID */
export function startTimeOf({
  afterSeconds,
  startAt,
}: {
  readonly afterSeconds?: number | undefined;
  readonly startAt?: Timestamp | undefined;
}): AskedTime | undefined {
  if (afterSeconds !== undefined && startAt !== undefined)
    throw invalidField("start_at", "AMBIGUOUS", "does not go with after_seconds; send one of them");
  if (startAt !== undefined) return { kind: "at", at: msOf(startAt) };
  if (afterSeconds === undefined || afterSeconds === 0) return undefined;
  // NaN fails every comparison.
  if (!(afterSeconds > 0 && afterSeconds <= MAX_SECONDS))
    throw invalidField("after_seconds", "OUT_OF_RANGE", `is not between 0 and ${MAX_SECONDS}`);
  return { kind: "after", ms: Math.ceil(afterSeconds * 1_000) };
}

function msOf({ seconds, nanos }: Timestamp): number {
  const isTime =
    seconds >= FIRST_SECOND && seconds <= LAST_SECOND && nanos >= 0 && nanos < 1_000_000_000;
  if (!isTime)
    throw invalidField("start_at", "OUT_OF_RANGE", "is not a time of the years 1 to 9999");
  return Number(seconds) * 1_000 + Math.ceil(nanos / 1e6);
}
