// What the log of a run says about the pause of its workflow.

import { unreachable } from "@pawl/core/fault/invariant";
import type { PauseNote } from "@pawl/core/log/event";
import type { PauseRecord } from "@pawl/platform/store/pauses/pauses";

/** Who and why, of the pause or of the resumption that is under way. */
export function noteOfWorkflow(pause: PauseRecord): PauseNote {
  switch (pause.state) {
    case "pausing":
    case "paused":
      return { scope: "workflow", who: pause.by, reason: pause.reason };
    case "resuming":
      return { scope: "workflow", who: pause.resumedBy, reason: pause.resumeReason };
    default:
      return unreachable(pause.state, "pause state");
  }
}
