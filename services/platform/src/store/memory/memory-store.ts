// The store without a database: for a single process, for tests and for simulation with a clock of its own. What it promises
// is held equal to Postgres by the suites of test/conformance.

import type { SlotQuestion, SlotWait } from "@pawl/core/explain/room";
import type { RunEvent } from "@pawl/core/log/event";
import type { RunId } from "@pawl/core/name/ids";
import type { DeadLetters } from "../dead-letters/dead-letters.ts";
import type { Executors } from "../leases/leases.ts";
import type { Journal } from "../journal.ts";
import type { Pauses } from "../pauses/pauses.ts";
import type { Recovery } from "../recovery/recovery.ts";
import type { Schedules } from "../schedules/schedules.ts";
import type { Workflows } from "../workflows/workflows.ts";
import { createMemoryDeadLetters } from "../dead-letters/memory.ts";
import { createMemoryExecutors } from "../leases/memory.ts";
import type { WaitingJob } from "./jobs.ts";
import { createMemoryJournal } from "./journal.ts";
import { createMemoryPauses } from "../pauses/memory.ts";
import { createMemoryRecovery } from "../recovery/memory.ts";
import { createTurns } from "./turns.ts";
import { readMemorySlotWaits } from "../slots/memory.ts";
import type { SlotRow } from "../slots/memory.ts";
import { createMemorySchedules } from "../schedules/memory.ts";
import {
  createTables,
  type EffectRow,
  type ExecutorRow,
  type LeaseRow,
  type RunRow,
} from "./tables.ts";
import type { Wakes } from "./transaction.ts";
import { createMemoryWorkflows } from "../workflows/memory.ts";

export interface MemoryStoreOptions {
  /** The store's clock in milliseconds; the system's unless told. */
  readonly now?: () => number;
  /** Told after each commit which runs have news. */
  readonly onWake?: (runs: Wakes) => void;
}

/** Committed rows, for readers and for checks. */
export interface MemoryView {
  run(runId: RunId): RunRow | undefined;
  runs(): RunRow[];
  /** Every event of a run in order of seq, streamed ones too. */
  events(runId: RunId): readonly RunEvent[];
  leases(): LeaseRow[];
  effects(): EffectRow[];
  jobs(): WaitingJob[];
  slots(): readonly SlotRow[];
  slotWaits(runId: RunId, asked: readonly SlotQuestion[]): SlotWait[];
  executors(): ExecutorRow[];
}

export interface MemoryStore {
  readonly journal: Journal;
  readonly executors: Executors;
  readonly workflows: Workflows;
  readonly recovery: Recovery;
  readonly deadLetters: DeadLetters;
  readonly schedules: Schedules;
  readonly pauses: Pauses;
  readonly view: MemoryView;
}

/** An empty store. */
export function createMemoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const { now = Date.now, onWake = () => {} } = options;
  const tables = createTables();
  const takeTurn = createTurns();
  return {
    journal: createMemoryJournal(tables, { now, onWake, takeTurn }),
    recovery: createMemoryRecovery(tables, { now, takeTurn }),
    deadLetters: createMemoryDeadLetters(tables, now),
    executors: createMemoryExecutors(tables, now),
    workflows: createMemoryWorkflows(tables, now),
    schedules: createMemorySchedules(tables, now),
    pauses: createMemoryPauses(tables, { now, takeTurn }),
    view: {
      run: (runId) => tables.runs.get(runId),
      runs: () => [...tables.runs.values()],
      events: (runId) => tables.log.of(runId),
      leases: () => [...tables.leases.values()],
      effects: () => [...tables.effects.values()],
      jobs: () => tables.jobs.all(),
      slots: () => tables.slots.rows,
      slotWaits: (runId, asked) => readMemorySlotWaits(tables.slots, now(), runId, asked),
      executors: () => [...tables.executors.values()],
    },
  };
}
