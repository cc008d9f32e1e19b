// Statuses and kinds between the names of core and the numbers of the contract, both ways, from one table each.

import type { NodeStatus, RunKind, RunStatus } from "@pawl/core/log/event";
import {
  NodeStatus as WireNodeStatus,
  RunKind as WireRunKind,
  RunStatus as WireRunStatus,
} from "@pawl/proto/pawl/v1/run_pb";

const RUN_STATUS: Readonly<Record<RunStatus, WireRunStatus>> = {
  pending: WireRunStatus.PENDING,
  scheduled: WireRunStatus.SCHEDULED,
  running: WireRunStatus.RUNNING,
  waiting: WireRunStatus.WAITING,
  retrying: WireRunStatus.RETRYING,
  paused: WireRunStatus.PAUSED,
  compensating: WireRunStatus.COMPENSATING,
  completed: WireRunStatus.COMPLETED,
  failed: WireRunStatus.FAILED,
  cancelled: WireRunStatus.CANCELLED,
  timeout: WireRunStatus.TIMEOUT,
};

const NODE_STATUS: Readonly<Record<NodeStatus, WireNodeStatus>> = {
  pending: WireNodeStatus.PENDING,
  queued: WireNodeStatus.QUEUED,
  running: WireNodeStatus.RUNNING,
  retrying: WireNodeStatus.RETRYING,
  waiting: WireNodeStatus.WAITING,
  completed: WireNodeStatus.COMPLETED,
  failed: WireNodeStatus.FAILED,
  timed_out: WireNodeStatus.TIMED_OUT,
  cancelled: WireNodeStatus.CANCELLED,
  skipped: WireNodeStatus.SKIPPED,
  invalidated: WireNodeStatus.INVALIDATED,
};

const RUN_KIND: Readonly<Record<RunKind, WireRunKind>> = {
  saved: WireRunKind.SAVED,
  test: WireRunKind.TEST,
};

/** Inverts a table. The keys of a literal table are exactly its declared keys. */
const inverse = <Name extends string>(
  table: Readonly<Record<Name, number>>,
): ReadonlyMap<number, Name> =>
  new Map(Object.entries<number>(table).map(([name, value]) => [value, name as Name]));

const RUN_STATUS_BACK = inverse(RUN_STATUS);
const NODE_STATUS_BACK = inverse(NODE_STATUS);
const RUN_KIND_BACK = inverse(RUN_KIND);

export const toWireRunStatus = (status: RunStatus): WireRunStatus => RUN_STATUS[status];
export const toWireNodeStatus = (status: NodeStatus): WireNodeStatus => NODE_STATUS[status];
export const toWireRunKind = (kind: RunKind): WireRunKind => RUN_KIND[kind];

/** Undefined for UNSPECIFIED and for numbers this build does not know. */
export const fromWireRunStatus = (status: number): RunStatus | undefined =>
  RUN_STATUS_BACK.get(status);
/** Undefined for UNSPECIFIED and for numbers this build does not know. */
export const fromWireNodeStatus = (status: number): NodeStatus | undefined =>
  NODE_STATUS_BACK.get(status);
/** Undefined for UNSPECIFIED and for numbers this build does not know. */
export const fromWireRunKind = (kind: number): RunKind | undefined => RUN_KIND_BACK.get(kind);
