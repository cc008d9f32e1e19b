// The parts of a run's state that only agents and supervisors have.

import type { NodeId } from "../name/ids.ts";
import type { Taint } from "../policy/taint.ts";
import type { ToolCall } from "./event.ts";

/** The call of a tool that an iteration of an agent runs. */
export interface CallState extends ToolCall {
  /** The place of its turn among the iterations, and its own place among the calls of the turn; both from 0. */
  readonly turn: number;
  readonly at: number;
  /** The place of the tool among the tools of the agent; -1 for a tool that the agent does not have. */
  readonly tool: number;
}

/** A decision of a supervisor. */
export interface SupervisorDecision {
  readonly nodeId: NodeId;
  readonly iteration: number;
  /** The handle by which it left. */
  readonly route: string;
  readonly reason: string;
  /** The labels of its reason. */
  readonly taint?: Taint | undefined;
  /** The event that has it, and its time. */
  readonly seq: number;
  readonly at: number;
}
