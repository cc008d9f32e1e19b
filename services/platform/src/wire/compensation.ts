// The compensation of a run as clients see it: what was undone, what was not, and how the run ends afterwards.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { classOf } from "@pawl/core/fault/cause";
import { isSettled, type Compensated, type Ending } from "@pawl/core/log/event";
import type { RunState } from "@pawl/core/log/state";
import { compensated } from "@pawl/core/plan/undo";
import type { RunEndingSchema } from "@pawl/proto/pawl/v1/event_pb";
import type { CompensationSchema } from "@pawl/proto/pawl/v1/run_pb";
import { toWireFailureClass, toWireRunStatus, toWireStop } from "./enum.ts";

type WireCompensation = MessageInitShape<typeof CompensationSchema>;

/** What an end event says about the compensation before it. */
export const toWireCompensated = ({ compensation }: Compensated): WireCompensation | undefined =>
  compensation && {
    undone: compensation.undone,
    left: compensation.left,
    notUndone: compensation.named.map(({ nodeId, iteration, why: message }) => ({
      nodeId,
      iteration,
      message,
    })),
  };

/** The end that waits for a compensation. */
export function toWireEnding(
  ending: Ending | undefined,
): MessageInitShape<typeof RunEndingSchema> | undefined {
  if (ending === undefined) return undefined;
  const status = toWireRunStatus(ending.end);
  if (ending.end === "cancelled")
    return { status, message: ending.reason, stop: toWireStop(ending.stop) };
  if (ending.end !== "failed") return { status };
  const { message, cause, failedNodeId, failureClass } = ending;
  if (cause === undefined) return { status, message, failedNodeId };
  const classed = classOf({ cause, ...(failureClass && { failureClass }) });
  return { status, message, cause, failedNodeId, failureClass: toWireFailureClass(classed) };
}

/** The compensation of a run at the present. Undefined if there is nothing to undo. */
export function toWireCompensation(state: RunState): WireCompensation | undefined {
  const { undos, ending } = state;
  if (undos.size === 0 && ending === undefined) return undefined;
  const open = [...undos.values()].filter(({ status }) => !isSettled(status)).length;
  const whole = toWireCompensated(compensated(state, (status) => isSettled(status)));
  return { ...whole, open, ...(ending && { ending: toWireRunStatus(ending.end) }) };
}
