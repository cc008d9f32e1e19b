// The fields by which runs are found.

import { FAILURE_CLASSES } from "../fault/class.ts";
import type { FieldType } from "./typed.ts";

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
  interrupted: ["cancelled"],
  timed_out: ["timeout"],
};

const CLASSES: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.keys(FAILURE_CLASSES).map((name) => [name, [name]]),
);

export const RUN_FIELDS = {
  status: { kind: "choice", values: STATUSES },
  workflow: { kind: "text" },
  version: { kind: "number" },
  kind: { kind: "choice", values: { saved: ["saved"], test: ["test"], temporary: ["temporary"] } },
  schedule: { kind: "text" },
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
