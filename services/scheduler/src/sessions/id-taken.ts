// The error for the second of two processes that register with one executor id.

import { EngineError } from "@pawl/core/fault/engine-error";
import type { ExecutorId } from "@pawl/core/name/ids";

export const idTaken = (executorId: ExecutorId): EngineError =>
  new EngineError(
    "EXECUTOR_ID_TAKEN",
    `Another process registered with executor id ${executorId}. Give each executor its own PAWL_EXECUTOR_ID, or leave it unset.`,
    { metadata: { executor_id: executorId } },
  );
