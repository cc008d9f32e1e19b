// What events say of a failure.

import type { FailureClass } from "../fault/class.ts";
import type { Taint } from "../policy/taint.ts";

/** Why a run failed: by a node, or although its nodes did not, because it repeated too often. Logs of earlier versions have no cause of a node. */
export interface Failing {
  readonly failedNodeId: string;
  readonly message: string;
  readonly cause?: string;
  /** The class, if it is not that of the cause. */
  readonly failureClass?: FailureClass;
}

/** A failure. Its message may quote values with these labels. */
export interface Quoting {
  readonly taint?: Taint;
}
