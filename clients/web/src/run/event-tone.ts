// The colour of a row of the event log: the state that its event leads to, as graph and timeline show it. Pure. The row also has the word.

import { isSettlingType } from "@pawl/core/log/meaning";
import type { Looks } from "./looks.ts";
import { nodeKey } from "@pawl/core/log/view";
import type { EventRow } from "./event-row.ts";

/** The state of a row; "" for an event that changes none. */
export function toneOf(row: EventRow, looks: Looks): string {
  const look = looks.get(nodeKey(row.nodeId, row.iteration))?.look;
  if (isSettlingType(row.type) && (look === "handled" || look === "not_run")) return look;
  return row.status;
}
