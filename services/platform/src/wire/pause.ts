// Pauses on the wire.

import { create } from "@bufbuild/protobuf";
import type { PauseNote } from "@pawl/core/log/event";
import { type Pause, PauseSchema, PauseScope } from "@pawl/proto/pawl/v1/pause_pb";
import type { PauseRecord } from "../store/pauses/pauses.ts";
import { namesOf } from "./enum.ts";
import { toTimestamp } from "./scalar.ts";

const scopes = namesOf(PauseScope);

/** The scope of a pause. Unspecified if nothing is paused. */
export const toWireScope = (scope: PauseNote["scope"] | "queue" | undefined): PauseScope =>
  scope === undefined ? PauseScope.UNSPECIFIED : scopes.values[scope];

export const toWirePause = ({ scope, name, by, reason, since, state }: PauseRecord): Pause =>
  create(PauseSchema, {
    scope: toWireScope(scope),
    name,
    by,
    reason,
    sinceTime: toTimestamp(since),
    resuming: state === "resuming",
    pausing: state === "pausing",
  });
