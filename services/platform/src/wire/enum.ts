// An enum of the contract and the names of core, in both directions. Core uses the names of the contract in lower case. A name that only
// one of the two has does not compile. The statuses and kinds of runs and nodes are here. Other enums are beside their messages.

import type { FailureClass } from "@pawl/core/fault/class";
import type { NodeStatus, RunKind, RunStatus, StopMode } from "@pawl/core/log/event";
import type { WaitingReason } from "@pawl/core/log/workflow-state-shape";
import {
  FailureClass as WireFailureClass,
  NodeStatus as WireNodeStatus,
  RunKind as WireRunKind,
  RunStatus as WireRunStatus,
  StopMode as WireStopMode,
  WaitingReason as WireWaitingReason,
} from "@pawl/proto/pawl/v1/run_pb";

export function namesOf<Enum extends Readonly<Record<string, string | number>>>(wire: Enum) {
  type Name = Lowercase<Exclude<keyof Enum & string, "UNSPECIFIED">>;
  // An enum of TypeScript also has an entry for each number.
  const entries = Object.entries(wire).filter(([name]) => !/^(\d+|UNSPECIFIED)$/.test(name));
  const values = Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), value]));
  const names = new Map(entries.map(([name, value]) => [value, name.toLowerCase()]));
  return {
    // Both tables have exactly the names of the enum.
    values: values as Readonly<Record<Name, Enum[keyof Enum]>>,
    /** Undefined for UNSPECIFIED, and for a number that this build does not know. */
    nameOf: (value: number): Name | undefined => names.get(value) as Name | undefined,
  };
}

const runStatuses = namesOf(WireRunStatus);
const nodeStatuses = namesOf(WireNodeStatus);
const runKinds = namesOf(WireRunKind);
const stopModes = namesOf(WireStopMode);
const failureClasses = namesOf(WireFailureClass);
const waitingReasons = namesOf(WireWaitingReason);

export const toWireRunStatus = (status: RunStatus): WireRunStatus => runStatuses.values[status];
export const toWireNodeStatus = (status: NodeStatus): WireNodeStatus => nodeStatuses.values[status];
export const toWireWaitingReason = (reason: WaitingReason): WireWaitingReason =>
  waitingReasons.values[reason];
export const toWireRunKind = (kind: RunKind): WireRunKind => runKinds.values[kind];

/** Unspecified without a failure. */
export const toWireFailureClass = (failureClass: FailureClass | undefined): WireFailureClass =>
  failureClass === undefined ? WireFailureClass.UNSPECIFIED : failureClasses.values[failureClass];

/** A plain cancellation is unspecified. */
export const toWireStop = (stop: StopMode | null | undefined): WireStopMode =>
  stop === undefined || stop === null ? WireStopMode.UNSPECIFIED : stopModes.values[stop];
export const fromWireStop: (stop: number) => StopMode | undefined = stopModes.nameOf;

export const fromWireRunStatus: (status: number) => RunStatus | undefined = runStatuses.nameOf;
export const fromWireRunKind: (kind: number) => RunKind | undefined = runKinds.nameOf;
