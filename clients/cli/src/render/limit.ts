// The limits under which something starts, as an event names them.

import type { Limit } from "@pawl/proto/pawl/v1/event_pb";
import { formatDuration } from "./duration.ts";

interface Limited {
  readonly slot?: Limit | undefined;
  readonly rate?: Limit | undefined;
}

/** What it waits for until it is started; empty where it has no limits. */
export function limitText({ slot, rate }: Limited): string {
  const parts = [
    ...(slot === undefined ? [] : [`slot ${slot.key} (${slot.limit})`]),
    ...(rate === undefined
      ? []
      : [`rate ${rate.key} (${rate.limit} in ${formatDuration(Number(rate.perMs))})`]),
  ];
  return parts.length === 0 ? "" : `waits for ${parts.join(" and ")}`;
}
