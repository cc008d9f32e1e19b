// The store without a database: for a single process, for tests and for simulation with a clock of its own. The suites of
// test/conformance hold it equal to Postgres.

import type { SlotQuestion, SlotWait } from "@pawl/core/explain/room";
import type { RunEvent } from "@pawl/core/log/event";
import type { RunId } from "@pawl/core/name/ids";
import type { WaitingJob } from "../../queue/memory-jobs.ts";
import type { DeadLetters } from "../dead-letters/dead-letters.ts";
import { createMemoryDeadLetters } from "../dead-letters/memory.ts";
import type { EffectRow } from "../effects/memory.ts";
import type { Executors } from "../leases/leases.ts";
import { createMemoryExecutors, type ExecutorRow, type LeaseRow } from "../leases/memory.ts";
import { createMemoryPauses } from "../pauses/memory.ts";
import type { Pauses } from "../pauses/pauses.ts";
import { createMemoryRecovery } from "../recovery/memory.ts";
import type { Recovery } from "../recovery/recovery.ts";
import type { RunRow } from "../runs/memory.ts";
import { createMemorySchedules } from "../schedules/memory.ts";
import type { Schedules } from "../schedules/schedules.ts";
import { readMemorySlotWaits, type SlotRow } from "../slots/memory.ts";
import type { Journal, News } from "../tick/journal.ts";
import { createMemoryJournal } from "../tick/memory.ts";
import { createMemoryWorkflows } from "../workflows/memory.ts";
import type { Workflows } from "../workflows/workflows.ts";
import { createTables } from "./tables.ts";
import { createTurns } from "./staging.ts";

export interface MemoryStoreOptions {
  /** The store's clock in milliseconds; the system's unless given. */
  readonly now?: () => number;
  /** Called after each commit with the runs that have new events. */
  readonly onWake?: (runs: readonly News[]) => void;
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
