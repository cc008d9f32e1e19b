// Two processes with one executor id: what the one hears that may not use it.

import { EngineError } from "@pawl/core/fault/engine-error";
import type { ExecutorId } from "@pawl/core/name/ids";

export const idTaken = (executorId: ExecutorId): EngineError =>
  new EngineError(
    "EXECUTOR_ID_TAKEN",
    `Another process registered with executor id ${executorId}. Give each executor its own PAWL_EXECUTOR_ID, or leave it unset.`,
  );
