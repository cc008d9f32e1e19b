// The store without a database: for a single process, for tests and for simulation with its own clock. The suites of test/conformance check
// that it behaves like PostgreSQL.

import type { SlotQuestion } from "@pawl/core/explain/room";
import type { ApprovalId, DefinitionId, ExecutorId, RunId } from "@pawl/core/name/ids";
import { MemoryJobs } from "../../queue/memory-jobs.ts";
import type { ApprovalRow } from "../approvals/memory.ts";
import { type AssistantRow, createMemoryAssistants } from "../assistants/memory.ts";
import type { DayRow } from "../days/memory.ts";
import { createMemoryDeadLetters, type DeadLetterRow } from "../dead-letters/memory.ts";
import type { EffectRow } from "../effects/memory.ts";
import { createMemoryExecutors, type ExecutorRow, type LeaseRow } from "../leases/memory.ts";
import { MemoryLog } from "../log/memory.ts";
import { createMemoryNodeTypes } from "../node-types/memory.ts";
import type { NodeTypeRecord } from "../node-types/node-types.ts";
import { createMemoryPauses, type PauseRow } from "../pauses/memory.ts";
import { createMemoryRecovery } from "../recovery/memory.ts";
import type { Snapshot } from "../recovery/recovery.ts";
import type { KeptInput, RunRow } from "../runs/memory.ts";
import type { NewRepair } from "../runs/runs.ts";
import { createMemorySchedules } from "../schedules/memory.ts";
import type { StoredSchedule } from "../schedules/schedules.ts";
import { createMemoryThreads, type ThreadRow } from "../threads/memory.ts";
import type { TurnedRun } from "../threads/threads.ts";
import type { WaitRow } from "../signals/memory.ts";
import { createMemoryValues, createValueTables } from "../values/memory.ts";
import { MemorySlots, readMemorySlotWaits } from "../slots/memory.ts";
import type { News } from "../tick/journal.ts";
import type { KeptFilter } from "../filters/filters.ts";
import { createMemoryRunFilters } from "../filters/memory.ts";
import { createMemoryJournal } from "../tick/memory.ts";
import { createMemoryWorkflows, type StoredDefinition } from "../workflows/memory.ts";
import { createMemoryWebhooks, type DeliveryRow, type EndpointRow } from "../webhooks/memory.ts";
import type { DeliveryAttempt, NewRunWebhook } from "../webhooks/webhooks.ts";
import { createTurns } from "./staging.ts";

/** Empty tables: those of the schema. Each noun has its rows in its own `memory.ts`. */
const createTables = () => ({
  runs: new Map<RunId, RunRow>(),
  /** Runs by tenant and request id. */
  requests: new Map<string, RunId>(),
  /** By tenant and key. */
  inputKeys: new Map<string, KeptInput>(),
  /** The metadata of runs as JSON text. */
  metadata: new Map<RunId, string>(),
  /** Runs that repair finished ones. */
  repairs: new Map<RunId, NewRepair>(),
  /** By tenant and id. */
  assistants: new Map<string, AssistantRow>(),
  /** By tenant and id. */
  threads: new Map<string, ThreadRow>(),
  /** The runs of threads. */
  threadRuns: new Map<RunId, TurnedRun>(),
  approvals: new Map<ApprovalId, ApprovalRow>(),
  /** Waits for signals by run, node and iteration. */
  waits: new Map<string, WaitRow>(),
  /** Daily budgets by tenant, workflow and day. */
  days: new Map<string, DayRow>(),
  deadLetters: new Map<string, DeadLetterRow>(),
  log: new MemoryLog(),
  snapshots: new Map<RunId, Snapshot>(),
  leases: new Map<string, LeaseRow>(),
  /** Values outside of the log, and which runs refer to them. */
  stored: createValueTables(),
  effects: new Map<string, EffectRow>(),
  jobs: new MemoryJobs(),
  slots: new MemorySlots(),
  executors: new Map<ExecutorId, ExecutorRow>(),
  nodeTypes: new Map<string, NodeTypeRecord>(),
  definitions: new Map<DefinitionId, StoredDefinition>(),
  /** Each workflow's current definition. */
  workflows: new Map<string, DefinitionId>(),
  /** Kept filters by tenant and name. */
  filters: new Map<string, KeptFilter>(),
  /** By tenant and id. */
  schedules: new Map<string, StoredSchedule>(),
  /** By scope, tenant and name. */
  pauses: new Map<string, PauseRow>(),
  /** Receivers of webhooks by tenant and id. */
  webhookEndpoints: new Map<string, EndpointRow>(),
  /** The receivers of events of single runs. */
  runWebhooks: new Map<RunId, readonly NewRunWebhook[]>(),
  /** The outbox by delivery id, and its calls. */
  deliveries: new Map<string, DeliveryRow>(),
  webhookAttempts: new Map<string, readonly DeliveryAttempt[]>(),
  pauseEpoch: { value: 1 },
});
export type Tables = Readonly<ReturnType<typeof createTables>>;

interface MemoryStoreOptions {
  /** The store's clock in milliseconds. By default the system's. */
  readonly now?: () => number;
  /** Called after each commit with the runs that have new events. */
  readonly onWake?: (runs: readonly News[]) => void;
}

export type MemoryStore = ReturnType<typeof createMemoryStore>;

/** An empty store. */
export function createMemoryStore(options: MemoryStoreOptions = {}) {
  const { now = Date.now, onWake = () => {} } = options;
  const tables = createTables();
  const inTurn = createTurns();
  return {
    journal: createMemoryJournal(tables, { now, onWake, inTurn }),
    recovery: createMemoryRecovery(tables, now, inTurn),
    deadLetters: createMemoryDeadLetters(tables, now),
    executors: createMemoryExecutors(tables, now),
    workflows: createMemoryWorkflows(tables, now),
    filters: createMemoryRunFilters(tables, now),
    schedules: createMemorySchedules(tables, now),
    nodeTypes: createMemoryNodeTypes(tables, now),
    assistants: createMemoryAssistants(tables, now, inTurn),
    threads: createMemoryThreads(tables, now, inTurn),
    pauses: createMemoryPauses(tables, now, inTurn),
    webhooks: createMemoryWebhooks(tables, now),
    valueRows: createMemoryValues(tables, now, inTurn),
    /** Committed rows, for readers and for checks. */
    view: {
      run: (runId: RunId) => tables.runs.get(runId),
      runs: () => [...tables.runs.values()],
      /** Every event of a run in order of seq, streamed ones too. */
      events: (runId: RunId) => tables.log.of(runId),
      leases: () => [...tables.leases.values()],
      effects: () => [...tables.effects.values()],
      metadata: (runId: RunId) => tables.metadata.get(runId),
      repairs: () => [...tables.repairs.values()],
      jobs: () => tables.jobs.all(),
      slots: () => tables.slots.rows,
      slotWaits: (runId: RunId, asked: readonly SlotQuestion[]) =>
        readMemorySlotWaits(tables.slots, now(), runId, asked),
      executors: () => [...tables.executors.values()],
    },
  };
}
