// Runs whose results do not hold: nodes of the run were undone, or the run itself undoes nodes of another one. The scheduler refuses to repair
// such a run, and the console does not offer it.

import type { RunEvent } from "./event.ts";

/** Whether the results of a run do not hold after this event. */
export const endsResults = ({ type, payload }: RunEvent): boolean =>
  (type === "run.started" && "undoes" in payload && payload.undoes !== undefined) ||
  (type === "run.status.changed" && "to" in payload && payload.to === "compensating");
