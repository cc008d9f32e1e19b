// What the memory store has committed: the tables of the schema. Each noun has its rows in its own `memory.ts`.

import type { ApprovalId, DefinitionId, ExecutorId, RunId } from "@pawl/core/name/ids";
import { MemoryJobs } from "../../queue/memory-jobs.ts";
import type { ApprovalRow } from "../approvals/memory.ts";
import type { DeadLetterRow } from "../dead-letters/memory.ts";
import type { EffectRow } from "../effects/memory.ts";
import type { ExecutorRow, LeaseRow } from "../leases/memory.ts";
import { MemoryLog } from "../log/memory.ts";
import type { PauseRow } from "../pauses/memory.ts";
import type { Snapshot } from "../recovery/recovery.ts";
import type { KeptInput, RunRow } from "../runs/memory.ts";
import type { StoredSchedule } from "../schedules/memory.ts";
import { MemorySlots } from "../slots/memory.ts";
import type { StoredDefinition } from "../workflows/memory.ts";

export interface Tables {
  readonly runs: Map<RunId, RunRow>;
  /** Runs by tenant and request id. */
  readonly requests: Map<string, RunId>;
  /** By tenant and key. */
  readonly inputKeys: Map<string, KeptInput>;
  readonly approvals: Map<ApprovalId, ApprovalRow>;
  readonly deadLetters: Map<string, DeadLetterRow>;
  readonly log: MemoryLog;
  readonly snapshots: Map<RunId, Snapshot>;
  readonly leases: Map<string, LeaseRow>;
  readonly effects: Map<string, EffectRow>;
  readonly jobs: MemoryJobs;
  readonly slots: MemorySlots;
  readonly executors: Map<ExecutorId, ExecutorRow>;
  readonly definitions: Map<DefinitionId, StoredDefinition>;
  /** Each workflow's current definition. */
  readonly workflows: Map<string, DefinitionId>;
  /** By tenant and id. */
  readonly schedules: Map<string, StoredSchedule>;
  /** By scope, tenant and name. */
  readonly pauses: Map<string, PauseRow>;
  readonly pauseEpoch: { value: number };
}

/** Empty tables. */
export const createTables = (): Tables => ({
  runs: new Map(),
  requests: new Map(),
  inputKeys: new Map(),
  approvals: new Map(),
  deadLetters: new Map(),
  log: new MemoryLog(),
  snapshots: new Map(),
  leases: new Map(),
  effects: new Map(),
  jobs: new MemoryJobs(),
  slots: new MemorySlots(),
  executors: new Map(),
  definitions: new Map(),
  workflows: new Map(),
  schedules: new Map(),
  pauses: new Map(),
  pauseEpoch: { value: 1 },
});

/** A key of two parts; no id holds a line break. */
export const pairKey = (first: string, second: string): string => `${first}\n${second}`;
