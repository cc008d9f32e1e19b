// An executor that is connected to this scheduler, seen from a tick. The sessions implement this interface.

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ExecutorId } from "@pawl/core/name/ids";
import type { Oversize } from "@pawl/core/plan/oversize";
import type { SchedulerItemSchema } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import type { Claim } from "../inputs/input.ts";

/** An item from the scheduler to an executor. The stream puts it into a message. */
export type SchedulerItemInit = MessageInitShape<typeof SchedulerItemSchema>;

export interface Executor {
  readonly executorId: ExecutorId;
  /** The node types whose assignments carry the state of the run; none if absent. */
  readonly stateTypes?: ReadonlySet<string>;
  /** Reserves room for an assignment that is drafted and not committed yet. */
  reserve(bytes: number): void;
  unreserve(bytes: number): void;
  /** Sends the assignment of a committed claim. */
  assign(claim: Claim, item: SchedulerItemInit, bytes: number): void;
  /** Tells the executor that a claim has ended: it was lost, or its node was cancelled. */
  withdraw(claim: Claim, isLost: boolean): void;
  /** Fails a committed claim whose assignment no message can hold. */
  refuse(claim: Claim, oversize: Oversize): void;
}

/** The executors that are connected to this scheduler. */
export interface Executors {
  /** The executor with the most room for this type, or undefined if none has any. */
  pick(nodeType: string): Executor | undefined;
  /** The room of all executors for this type. */
  credit(nodeType: string): number;
  /** The executor that holds exactly this claim. */
  holderOf(claim: Claim): Executor | undefined;
}
