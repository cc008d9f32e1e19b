// The fields by which runs are found.

import { FAILURE_CLASSES } from "../fault/class.ts";
import type { ChoicePair, FieldType } from "./typed.ts";

const STATUSES: Readonly<Record<string, readonly string[]>> = {
  pending: ["pending"],
  scheduled: ["scheduled"],
  running: ["running"],
  waiting: ["waiting"],
  retrying: ["retrying"],
  paused: ["paused"],
  compensating: ["compensating"],
  completed: ["completed"],
  failed: ["failed"],
  cancelled: ["cancelled"],
  timeout: ["timeout"],
  // Other names of the same, which people know from other systems.
  success: ["completed"],
  error: ["failed"],
  timed_out: ["timeout"],
};

/** Names of runs that were cancelled in one way. */
const STOPPED: Readonly<Record<string, ChoicePair>> = {
  interrupted: { values: ["cancelled"], field: "stop", with: ["interrupt"] },
  rollback: { values: ["cancelled"], field: "stop", with: ["rollback"] },
};

const CLASSES: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.keys(FAILURE_CLASSES).map((name) => [name, [name]]),
);

export const RUN_FIELDS = {
  status: { kind: "choice", values: STATUSES, pairs: STOPPED },
  /** How a cancelled run was stopped. A plain cancellation has none. */
  stop: { kind: "choice", values: { interrupt: ["interrupt"], rollback: ["rollback"] } },
  workflow: { kind: "text" },
  version: { kind: "number" },
  kind: { kind: "choice", values: { saved: ["saved"], test: ["test"], temporary: ["temporary"] } },
  schedule: { kind: "text" },
  thread: { kind: "text" },
  assistant: { kind: "text" },
  parent: { kind: "text" },
  priority: { kind: "number" },
  has_failures: { kind: "flag" },
  is_live: { kind: "flag" },
  error: { kind: "text" },
  /** Why a run ended without completing. */
  failure_class: { kind: "choice", values: CLASSES },
  create_time: { kind: "time" },
  end_time: { kind: "time" },
  /** From the start to the end, or until now. */
  duration: { kind: "duration" },
  metadata: { kind: "json" },
  input: { kind: "json" },
} as const satisfies Readonly<Record<string, FieldType>>;

export type RunField = keyof typeof RUN_FIELDS;
