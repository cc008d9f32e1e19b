// The committed rows of the memory store: the tables of the schema. Each noun has its rows in its own `memory.ts`.

import type { ApprovalId, DefinitionId, ExecutorId, RunId } from "@pawl/core/name/ids";
import { MemoryJobs } from "../../queue/memory-jobs.ts";
import type { ApprovalRow } from "../approvals/memory.ts";
import type { DeadLetterRow } from "../dead-letters/memory.ts";
import type { EffectRow } from "../effects/memory.ts";
import type { ExecutorRow, LeaseRow } from "../leases/memory.ts";
import { MemoryLog } from "../log/memory.ts";
import type { NodeTypeRecord } from "../node-types/node-types.ts";
import type { PauseRow } from "../pauses/memory.ts";
import type { Snapshot } from "../recovery/recovery.ts";
import type { KeptInput, RunRow } from "../runs/memory.ts";
import type { StoredSchedule } from "../schedules/schedules.ts";
import { MemorySlots } from "../slots/memory.ts";
import type { StoredDefinition } from "../workflows/memory.ts";
import { StagedMap } from "./staging.ts";

/** Empty tables. */
export const createTables = () => ({
  runs: new Map<RunId, RunRow>(),
  /** Runs by tenant and request id. */
  requests: new Map<string, RunId>(),
  /** By tenant and key. */
  inputKeys: new Map<string, KeptInput>(),
  approvals: new Map<ApprovalId, ApprovalRow>(),
  deadLetters: new Map<string, DeadLetterRow>(),
  log: new MemoryLog(),
  snapshots: new Map<RunId, Snapshot>(),
  leases: new Map<string, LeaseRow>(),
  effects: new Map<string, EffectRow>(),
  jobs: new MemoryJobs(),
  slots: new MemorySlots(),
  executors: new Map<ExecutorId, ExecutorRow>(),
  nodeTypes: new Map<string, NodeTypeRecord>(),
  definitions: new Map<DefinitionId, StoredDefinition>(),
  /** Each workflow's current definition. */
  workflows: new Map<string, DefinitionId>(),
  /** By tenant and id. */
  schedules: new Map<string, StoredSchedule>(),
  /** By scope, tenant and name. */
  pauses: new Map<string, PauseRow>(),
  pauseEpoch: { value: 1 },
});
export type Tables = Readonly<ReturnType<typeof createTables>>;

/** The rows that one transaction sees. `apply` commits them. */
export function stageRows(tables: Tables, now: number) {
  const rows = {
    runs: new StagedMap(tables.runs),
    requests: new StagedMap(tables.requests),
    inputKeys: new StagedMap(tables.inputKeys),
    definitions: new StagedMap(tables.definitions),
    approvals: new StagedMap(tables.approvals),
    deadLetters: new StagedMap(tables.deadLetters),
    leases: new StagedMap(tables.leases),
    effects: new StagedMap(tables.effects),
  };
  const apply = (): void => Object.values(rows).forEach((staged) => staged.apply());
  return { ...rows, workflows: tables.workflows, now, apply };
}
export type StagedRows = Readonly<ReturnType<typeof stageRows>>;

/** A key of two parts. No id contains a line break. */
export const pairKey = (first: string, second: string): string => `${first}\n${second}`;
