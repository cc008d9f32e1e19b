// What the memory store has committed: the tables of the schema, with the same columns under their names in code.

import type { RunStatus } from "@pawl/core/log/event";
import type { ApprovalId, DefinitionId, ExecutorId, RunId } from "@pawl/core/name/ids";
import type { DeadLetterRecord } from "../dead-letters/dead-letters.ts";
import type { ExecutorSession } from "../leases/leases.ts";
import type { ApprovalState, ClosedApproval, NewApproval } from "../approvals/approvals.ts";
import type { Lease, LeaseKey } from "../leases/leases.ts";
import type { NewRun } from "../journal.ts";
import type { EffectClass } from "@pawl/core/policy/effect";
import type { ScheduleEdit, ScheduleRecord } from "../schedules/schedules.ts";
import type { DefinitionRow } from "../workflows/workflows.ts";
import type { Quarantine, Snapshot } from "../recovery/recovery.ts";
import { MemoryJobs } from "./jobs.ts";
import type { PauseRow } from "../pauses/memory.ts";
import { MemorySlots } from "../slots/memory.ts";
import { MemoryLog } from "./log.ts";

export interface RunRow extends Omit<NewRun, "eventCount" | "ended" | "status" | "assumesNewest"> {
  readonly status: RunStatus;
  readonly version: number;
  readonly lastSeq: number;
  readonly createdAt: number;
  readonly endedAt: number | null;
  readonly quarantine: Quarantine | null;
}

export interface LeaseRow extends Lease {
  readonly attempt: number;
  readonly leasedAt: number;
  readonly extendedUntil: number | null;
  readonly limitMs: number | null;
}

export interface EffectRow extends LeaseKey {
  readonly name: string;
  readonly class: EffectClass;
  readonly begunEpoch: number;
  readonly committedEpoch: number | null;
  /** JSON text; null while the effect is not committed. */
  readonly resultJson: string | null;
}

export interface ExecutorRow extends ExecutorSession {
  readonly instanceId: string | null;
  readonly nodeTypes: readonly string[];
  readonly slots: number;
  readonly description: string;
  readonly aliveUntil: number;
  /** Its connection is gone. */
  readonly hasLeft: boolean;
}

export interface StoredDefinition extends DefinitionRow {
  readonly tenantId: string;
  readonly requestId: string | null;
  readonly requestHash: string | null;
}

export type StoredSchedule = ScheduleRecord & ScheduleEdit;

export interface KeptInput {
  readonly runId: RunId;
  readonly expiresAt: number;
}

export interface ApprovalRow extends Omit<NewApproval, "deadlineMs">, ClosedApprovalColumns {
  readonly deadlineAt: number | null;
  readonly openedAt: number;
}

type ClosedApprovalColumns = Omit<ClosedApproval, "state"> & { readonly state: ApprovalState };

export interface DeadLetterRow extends DeadLetterRecord {
  readonly tenantId: string;
  readonly closedRequestId: string | null;
}

export interface Tables {
  readonly runs: Map<RunId, RunRow>;
  /** The unique index runs_request. */
  readonly requests: Map<string, RunId>;
  /** The table input_keys, by tenant and key. */
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

/** The primary key of a lease. */
export const leaseKey = (key: LeaseKey): string => `${key.runId}/${key.nodeId}/${key.iteration}`;

/** The primary key of an effect. */
export const effectKey = (key: LeaseKey & { readonly name: string }): string =>
  `${leaseKey(key)}/${key.name}`;
