// The limits that a run or a node waits for.

import type { RunView } from "@pawl/core/log/view";
import { formatDuration } from "./duration.ts";

/** The limits in words; empty where there are none. */
export function limitText({ slot, rate }: RunView["limits"]): string {
  const parts = [
    ...(slot === undefined ? [] : [`slot ${slot.key} (${slot.limit})`]),
    ...(rate === undefined
      ? []
      : [`rate ${rate.key} (${rate.limit} in ${formatDuration(rate.perMs)})`]),
  ];
  return parts.length === 0 ? "" : `waits for ${parts.join(" and ")}`;
}
