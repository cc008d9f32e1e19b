// Cancels runs: plainly, by an interrupt or by a rollback.

import type { Client } from "@connectrpc/connect";
import type { Run } from "@pawl/proto/pawl/v1/run_pb";
import type { RunService } from "@pawl/proto/pawl/v1/run_service_pb";
import { type Caller, identified, type MutationOptions, pick } from "./caller.ts";
import { stopModeOf } from "./status.ts";

export interface CancelOptions extends MutationOptions {
  /** For people. */
  readonly reason?: string | undefined;
  /** Whether to undo completed nodes first. The workflow's `compensate_on` decides if absent. */
  readonly compensate?: boolean | undefined;
  /** `interrupt` keeps its results, so `resume` continues it. `rollback` undoes what can be undone, and its thread forgets the run. */
  readonly mode?: "interrupt" | "rollback" | undefined;
}

export type CancelRun = (runId: string, options?: CancelOptions) => Promise<Run>;

export const createCancel =
  (rpc: Client<typeof RunService>, call: Caller): CancelRun =>
  (runId, { mode, ...options } = {}) => {
    const request = { ...identified(options), runId, mode: stopModeOf(mode) };
    return pick(call(rpc.cancelRun, request), "run");
  };
