// The state of the run as a handler reads it: `ctx.state`, if the handler asks for it. The scheduler writes it as JSON with snake_case names.

import type { WorkflowState } from "../log/workflow-state-shape.ts";

type Times = "startedAt" | "waitingSince" | "waitingTimeoutAt" | "createdAt" | "updatedAt";
type Texts = "memoryJson" | "compensationStack" | "supervisorHistory";

/** The state of a run when the scheduler gave the node to its executor. Times have the form of RFC 3339. */
export interface HandlerState extends Omit<Partial<WorkflowState>, Times | Texts> {
  readonly startedAt?: string;
  readonly waitingSince?: string;
  readonly waitingTimeoutAt?: string;
  readonly createdAt?: string;
  readonly updatedAt?: string;
  /** The keys of the run's memory that the node reads. */
  readonly memory?: Readonly<Record<string, unknown>>;
  readonly compensationStack?: readonly unknown[];
  readonly supervisorHistory?: readonly unknown[];
}

/** Reads the text of the scheduler. */
export function readHandlerState(json: string): HandlerState {
  // The scheduler wrote an object. Keys inside the memory are the user's own, so only the names of the fields change.
  const fields = Object.entries(JSON.parse(json) as Readonly<Record<string, unknown>>);
  return Object.fromEntries(fields.map(([name, value]) => [camelCase(name), value]));
}

const camelCase = (name: string): string =>
  name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
