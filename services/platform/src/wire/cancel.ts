// A request to cancel a run.

import { invalidField } from "@pawl/core/fault/engine-error";
import type { CancelRunRequest } from "@pawl/proto/pawl/v1/run_service_pb";
import { fromWireStop } from "./enum.ts";
import { lineOf } from "./fields.ts";
import { parseRunCommand } from "./requests.ts";

/** @throws INPUT_INVALID */
export const parseCancel = (request: CancelRunRequest) => ({
  ...parseRunCommand(request),
  reason: lineOf("reason", request.reason),
  ...stopOf(request),
});

function stopOf({ mode, compensate }: CancelRunRequest) {
  const stop = fromWireStop(mode);
  if (mode !== 0 && stop === undefined)
    throw invalidField("mode", "UNKNOWN_ENUM", "must be INTERRUPT or ROLLBACK");
  if (stop === "interrupt" && compensate === true)
    throw invalidField("compensate", "NOT_ALLOWED", "must not be true: an interrupt keeps results");
  return { stop, compensate };
}
