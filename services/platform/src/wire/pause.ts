// Pauses on the wire.

import type { PauseNote } from "@pawl/core/log/event";
import { PauseScope } from "@pawl/proto/pawl/v1/pause_pb";

const SCOPES = {
  run: PauseScope.RUN,
  workflow: PauseScope.WORKFLOW,
  queue: PauseScope.QUEUE,
} as const;

/** What is held; unspecified where nothing is. */
export const toWireScope = (scope: PauseNote["scope"] | "queue" | undefined): PauseScope =>
  scope === undefined ? PauseScope.UNSPECIFIED : SCOPES[scope];
