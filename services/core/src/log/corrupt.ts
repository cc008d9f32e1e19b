// The error of a log that no fold can read.

import { EngineError } from "../fault/engine-error.ts";
import type { LoggedFact } from "./event.ts";

export const corrupt = (event: LoggedFact, what: string): EngineError =>
  new EngineError("EVENT_LOG_CORRUPTION", `event ${event.seq} (${event.type}) ${what}`, {
    metadata: { seq: String(event.seq), type: event.type, node_id: event.nodeId },
  });
