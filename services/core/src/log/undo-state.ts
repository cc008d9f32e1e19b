// The state of a compensation: an execution of its own, and what it undoes.

import type { Taint } from "../policy/taint.ts";
import { newExecutionState, type ExecutionState } from "./state.ts";

interface Kept {
  readonly nodeIndex: number;
  /** The iteration that completed. */
  readonly iteration: number;
  /** Its output as JSON text, which the compensation reads. */
  readonly given: string;
  /** The labels of that output. */
  readonly givenTaint?: Taint | undefined;
  /** How many jumps the run had taken before. */
  readonly jumps: number;
}

export interface UndoState extends ExecutionState, Kept {}

/** The compensation of an execution that has just completed. */
export const newUndoState = (kept: Kept): UndoState => ({ ...newExecutionState(), ...kept });
